"""Pure: a node's own count of how long it held something, beside the span in the books."""

import math
from dataclasses import dataclass

SLACK_S = 5.0
"""So much the two may differ without anybody's clock having been stepped."""

MOST_STEP_S = 14 * 3600.0
"""No clock is stepped by more than time zones differ; a count that says so is not believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One hold by the clock of the books, in its seconds: when it was opened and closed there,
    and when its work began and was clean on the node, as far as the books were told."""

    opened: float
    closed: float
    began: float | None = None
    clean: float | None = None


def bounds_s(span: Span) -> tuple[float, float]:
    """The least and most that the node can have counted if no clock was stepped.

    It starts to count when it hears of the work, after the books opened the hold and before the
    work began; it stops when it is clean, before the books closed the hold. A wake that was lost,
    or a report that came late, widens the bounds and so is no reason for a correction.
    """
    end = span.closed if span.clean is None else span.clean
    began = end if span.began is None else span.began
    least = end - began if span.clean is not None else 0.0
    return max(least, 0.0), max(end - span.opened, 0.0)


def count_is_right(*, count_s: float, span: Span) -> bool:
    """Whether the node's count has to stand for the span: the clock of the books was stepped.

    Counts that no clock can explain (negative, endless, half a day beyond the bounds) never do.
    """
    least, most = bounds_s(span)
    if not math.isfinite(count_s) or count_s < 0 or count_s > most + MOST_STEP_S:
        return False
    return not least - SLACK_S <= count_s <= most + SLACK_S
