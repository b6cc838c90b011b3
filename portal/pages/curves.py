"""Measured series of one attempt, as a chart and a small table want them."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _

from pool.clock import now
from pool.models.placements import Hold
from pool.models.workloads import Attempt, Workload
from pool.selectors.samples import attempt_series

WINDOW = timedelta(hours=24)


def usage_series(attempt: Attempt, workload: Workload, holds: Iterable[Hold]) -> dict[str, Any]:
    """The last day of the attempt; what was not measured is None, and the line has a gap there."""
    since = max(attempt.started_at or attempt.created_at, now() - WINDOW)
    rows = attempt_series(attempt=attempt, since=since)
    slices = [hold.slice for hold in holds if hold.slice]
    busy = [values[0] for _at, values, _seconds in rows]
    memory = [values[1] for _at, values, _seconds in rows]
    ran = ((attempt.ended_at or now()) - since).total_seconds()
    known = sum(seconds for _at, values, seconds in rows if values[0] is not None)
    return {
        "from": since.isoformat(),
        "until": (attempt.ended_at or now()).isoformat(),
        "known_milli": min(1000, round(1000 * known / ran)) if ran > 0 else None,
        "points": [[at.isoformat(), values[0], values[1]] for at, values, _seconds in rows],
        "memory_cap": sum(one.memory_mib for one in slices) or None,
        "compute_cap": sum(one.compute_milli for one in slices) or None,
        "memory_mean": _mean(memory),
        "memory_peak": _peak(values[2] for _at, values, _seconds in rows),
        "sm_mean": _mean(busy),
        "sm_peak": _peak(busy),
        "busy": _("Compute busy"),
        "memory": _("Memory"),
        "limit": _("Memory limit"),
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _peak(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
