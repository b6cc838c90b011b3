"""Maintenance windows: what may be said of one, and which leases it makes longer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pool.lifecycle.windows import WithRunning
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

MOST_REASON = 200
LONGEST = timedelta(days=90)
MOST_AHEAD = timedelta(days=366)
MOST_NOTICE_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A lease as a window sees it: does its work run there, and could its work run elsewhere?

    `cards` are all that could carry it; `ends_at` is its end without this window.
    """

    lease: int
    starts_at: datetime
    ends_at: datetime
    runs_there: bool
    cards: frozenset[int]


def window_problems(
    *,
    reason: Any,
    starts_at: Any,
    ends_at: Any,
    now: datetime,
    with_running: Any,
    notice_seconds: Any,
    begun: bool = False,
) -> dict[str, Problem]:
    """Everything wrong with the words of a window; one that has `begun` keeps its start."""
    found: dict[str, Problem | None] = {
        "reason": _reason(reason),
        "with_running": _with_running(with_running),
        "notice_seconds": _notice(notice_seconds),
    }
    zoned = [isinstance(one, datetime) and one.tzinfo is not None for one in (starts_at, ends_at)]
    if not all(zoned):
        said = Problem(_("A time with its zone is needed."))
        found |= {
            name: said
            for name, fine in zip(("starts_at", "ends_at"), zoned, strict=True)
            if not fine
        }
    else:
        found |= _span(starts_at, ends_at, now, begun)
    return {name: problem for name, problem in found.items() if problem is not None}


def _reason(reason: Any) -> Problem | None:
    if not isinstance(reason, str) or not reason.strip() or not reason.isprintable():
        return Problem(_("Say why, in one line: it is shown to everybody whose work it touches."))
    if len(reason) > MOST_REASON:
        return Problem(
            _("A line of at most %(most)s characters is possible."), {"most": MOST_REASON}
        )
    return None


def _with_running(choice: Any) -> Problem | None:
    known = [one.value for one in WithRunning]
    return (
        None
        if choice in known
        else Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})
    )


def _notice(seconds: Any) -> Problem | None:
    if isinstance(seconds, int) and not isinstance(seconds, bool) and 0 <= seconds <= MOST_NOTICE_S:
        return None
    return Problem(
        _("A whole number from %(least)s to %(most)s is needed."),
        {"least": 0, "most": MOST_NOTICE_S},
    )


def _span(
    starts_at: datetime, ends_at: datetime, now: datetime, begun: bool
) -> dict[str, Problem | None]:
    if ends_at <= starts_at:
        return {"ends_at": Problem(_("The end lies before the start."))}
    if ends_at <= now:
        return {"ends_at": Problem(_("The end is over already."))}
    if starts_at > now + MOST_AHEAD:
        return {"starts_at": Problem(_("The start lies more than a year ahead."))}
    if ends_at - starts_at > LONGEST and not begun:
        return {
            "ends_at": Problem(_("At most %(days)s days are possible."), {"days": LONGEST.days})
        }
    return {}


def leases_longer(
    claims: Iterable[Claim], *, cards: frozenset[int], starts_at: datetime, ends_at: datetime
) -> Mapping[int, int]:
    """By how many seconds each lease is made longer for a window over these cards.

    A lease is, when its work runs there, or when every card that could carry its work is in the
    window: for as long as the window takes of its time.
    """
    found: dict[int, int] = {}
    for one in claims:
        shut = one.runs_there or (bool(one.cards) and one.cards <= cards)
        overlap = min(ends_at, max(ends_at, one.ends_at)) - max(starts_at, one.starts_at)
        if shut and one.ends_at > starts_at and overlap > timedelta(0):
            found[one.lease] = round(overlap.total_seconds())
    return found


def downtime_s(spans: Iterable[tuple[datetime, datetime]], *, since: datetime) -> int:
    """How many seconds from `since` on lie in at least one of the spans; overlaps count once."""
    total, reached = timedelta(), since
    for start, end in sorted(spans):
        begins = max(start, reached)
        if end > begins:
            total += end - begins
            reached = end
    return round(total.total_seconds())
