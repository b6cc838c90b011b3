"""Pure: what of a kept card is idle, in steps within which the same part of it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from billing.rating.intervals import Span

CARD_MICRO = 1_000_000
"""A whole card, in the millionths that parts of it are counted in."""


@dataclass(frozen=True, slots=True)
class Held:
    """A part of the card, in millionths, that work of its own lease held for a while."""

    span: Span
    micro: int


@dataclass(frozen=True, slots=True)
class Step:
    """A time in which `idle_micro` millionths of the card were idle."""

    span: Span
    idle_micro: int


def idle_steps(kept: Span, held: Sequence[Held]) -> list[Step]:
    """The kept span cut wherever work of the lease came or went; steps follow without a gap.

    What is held by others, to whom the card was lent, is as idle as if nobody held it: they pay
    for what they hold, and the lease pays for the card.
    """
    edges = {edge for one in held for edge in (one.span.start_us, one.span.end_us)}
    inside = sorted(edge for edge in edges if kept.start_us < edge < kept.end_us)
    return [
        Step(Span(start, end), _idle(start, held))
        for start, end in pairwise([kept.start_us, *inside, kept.end_us])
        if end > start
    ]


def _idle(at: int, held: Sequence[Held]) -> int:
    used = sum(one.micro for one in held if one.span.start_us <= at < one.span.end_us)
    return max(0, CARD_MICRO - used)
