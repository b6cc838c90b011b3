"""Words of idleness: verdicts on a notebook, and what is done about one that is left alone."""

from enum import StrEnum


class Verdict(StrEnum):
    """What a notebook is judged to be. `holding` is idle with card memory held."""

    ACTIVE = "active"
    HOLDING = "holding"
    IDLE = "idle"
    UNKNOWN = "unknown"


class IdleAction(StrEnum):
    """What happens at the end of the time: it is reclaimed, or people are only told."""

    RECLAIM = "reclaim"
    WARN = "warn"


class NightAnswer(StrEnum):
    """What was said to the wish that a notebook be left alone for a night."""

    GRANTED = "granted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


IDLE_SECONDS = 7200
WARN_MINUTES = (30, 10, 2)
KEEPS = 3
"""What holds where no rule says otherwise (requirement N1)."""
