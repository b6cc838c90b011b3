"""Measured values as series for charts; unknown stays None, gaps stay gaps."""

from collections.abc import Sequence
from datetime import datetime

from pool.models.samples import Sample
from pool.models.workloads import Attempt

SERIES = ("sm_mean", "memory_mib_mean", "memory_mib_max", "cpu_milli_mean", "power_w_mean")


def attempt_series(
    *, attempt: Attempt, since: datetime, limit: int = 2000
) -> Sequence[tuple[datetime, tuple[float | None, ...], float]]:
    """(moment, values in the order of SERIES, seconds it covers) of one attempt, oldest first."""
    rows = Sample.objects.filter(attempt_id=attempt.pk, at__gte=since).order_by("at")
    found = rows.values_list("at", "seconds", *SERIES)[:limit]
    return [(at, tuple(values), seconds) for at, seconds, *values in found]
