"""What the words of a request may look like; nothing about cards."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pool.lifecycle.leases import LeaseKind
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.workloads import comment_problem, is_text, seconds_problem

MOST_TITLE = 120
MOST_COPIES = 1024
MOST_AHEAD = timedelta(days=366)


def request_problems(
    *,
    title: Any,
    purpose: Any,
    copies: Any,
    seconds: Any,
    most_seconds: int,
    lease_kind: Any,
    starts_at: Any,
    now: datetime,
    weights: Any,
) -> dict[str, Problem]:
    """Everything wrong with the words of a request, by field."""
    found = {
        "title": _title(title),
        "purpose": comment_problem(purpose),
        "copies": _copies(copies),
        "duration_seconds": seconds_problem(seconds, most_seconds),
        "lease_kind": _kind(lease_kind),
        "starts_at": _start(starts_at, now),
        "weights": _weights(weights),
    }
    return {field: wrong for field, wrong in found.items() if wrong is not None}


def _title(title: Any) -> Problem | None:
    if is_text(title) and len(title) <= MOST_TITLE and (not title or title.isprintable()):
        return None
    return Problem(_("A line of at most %(most)s characters is possible."), {"most": MOST_TITLE})


def _copies(copies: Any) -> Problem | None:
    if isinstance(copies, int) and not isinstance(copies, bool) and 1 <= copies <= MOST_COPIES:
        return None
    return Problem(_("A whole number from 1 to %(most)s is needed."), {"most": MOST_COPIES})


def _kind(kind: Any) -> Problem | None:
    known = [one.value for one in LeaseKind]
    return (
        None
        if kind in known
        else Problem(_("Choose from: %(known)s."), {"known": ", ".join(known)})
    )


def _start(starts_at: Any, now: datetime) -> Problem | None:
    if starts_at is None:
        return None
    if not isinstance(starts_at, datetime) or starts_at.tzinfo is None:
        return Problem(_("A time with its zone is needed."))
    if starts_at > now + MOST_AHEAD:
        return Problem(_("The start lies more than a year ahead."))
    return None


def _weights(weights: Any) -> Problem | None:
    fine = isinstance(weights, Mapping) and all(
        isinstance(name, str)
        and isinstance(weight, (int, float))
        and not isinstance(weight, bool)
        and abs(weight) < 1e18
        for name, weight in weights.items()
    )
    return None if fine else Problem(_("Weights are numbers with names."))
