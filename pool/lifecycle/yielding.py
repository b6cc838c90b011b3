"""Why running work is told to give way, and how such an order comes to its end."""

from enum import StrEnum


class YieldKind(StrEnum):
    """What lies behind an order to give way."""

    PREEMPT = "preempt"
    HAND_BACK = "hand_back"
    OVERRUN = "overrun"
    MAINTENANCE = "maintenance"
    BREAK_GLASS = "break_glass"
    PROOF = "proof"


class YieldOutcome(StrEnum):
    """How it ended: back in the queue, done by itself, ended by somebody's word, or node lost."""

    RELEASED = "released"
    FINISHED = "finished"
    ENDED = "ended"
    LOST = "lost"


CAPPED = frozenset({YieldKind.PREEMPT, YieldKind.OVERRUN})
"""Orders that count for the share of a project's work that may be interrupted (S5)."""
