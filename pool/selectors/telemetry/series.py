"""Measured values as series for charts: raw, by the minute or by the hour; gaps stay gaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from pool.clock import now
from pool.models.cards import Card
from pool.models.telemetry.rollups import HOUR_S, METRICS, MINUTE_S, PLACE, ROLLED
from pool.rules.telemetry import RAW_S, kept, step_for
from pool.selectors.calendar.policies import numbers_now

MOST_POINTS = 3000
"""A chart never draws more; the step is chosen so that this is not reached by one card or work."""

_TABLE = {
    RAW_S: "pool_sample",
    MINUTE_S: "pool_rollup_minute",
    HOUR_S: "pool_rollup_hour",
}
_COLUMN = {name: (mean, peak) for name, mean, peak in ROLLED}
_SUMMED = frozenset(
    {"memory_mib", "power_w", "pcie_mib_s", "nvlink_mib_s", "cpu_milli", "ram_mib", "disk_mib_s"}
    | {"net_mib_s", "samples_s", "tokens_s", "queries_s"}
)
"""Of several slices or cards these add up; of the others the mean counts."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points at the end of which nothing is known between: (moment, mean and peak per metric).

    `step` is 10, 60 or 3600 s; `metrics` names the values in their order; `known` is the share of
    the span in which the metric was measured, 0 … 1.
    """

    since: datetime
    until: datetime
    step: int
    metrics: tuple[str, ...]
    points: Sequence[tuple[datetime, tuple[float | None, ...], tuple[float | None, ...]]]
    known: dict[str, float]


def series_of(
    *,
    since: datetime,
    until: datetime,
    metrics: Sequence[str] = METRICS,
    attempts: Sequence[int] = (),
    card: int | None = None,
    pool: bool = False,
    step: int | None = None,
) -> Series:
    """The series of some attempts together, of one whole card, or of all cards, in one query.

    Values of several slices or cards at one moment are summed where that makes sense, else
    averaged. Without `step` it is the finest that is still kept from `since` on.
    """
    length = max(0.0, (until - since).total_seconds())
    if step is None:
        keeps = kept(cards=Card.objects.count(), numbers=numbers_now())
        age = (now() - since).total_seconds()
        step = step_for(length_s=length, age_s=age, keeps=keeps)
    where, named = _whose(attempts=attempts, card=card, pool=pool)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT date_bin(%s::interval, at, 'epoch') AS moment, {_columns(step, metrics)} "  # noqa: S608
            f"FROM {_TABLE[step]} WHERE {where} AND at >= %s AND at < %s "
            f"GROUP BY 1 ORDER BY 1 DESC LIMIT {MOST_POINTS}",
            [f"{step} seconds", *named, since, until],
        )
        rows = cursor.fetchall()[::-1]
    width = len(metrics)
    points = [(row[0], row[1 : 1 + width], row[1 + width : 1 + 2 * width]) for row in rows]
    covered = [sum(row[1 + 2 * width + at] or 0.0 for row in rows) for at in range(width)]
    known = {
        name: min(1.0, covered[at] / length) if length else 0.0 for at, name in enumerate(metrics)
    }
    return Series(since, until, step, tuple(metrics), points, known)


def _whose(*, attempts: Sequence[int], card: int | None, pool: bool) -> tuple[str, list[list[int]]]:
    """Which rows count, and what stands in the statement for them."""
    if pool:
        return "slice_id IS NULL", []
    if card is not None:
        return "card_id = ANY(%s) AND slice_id IS NULL", [[card]]
    return "attempt_id = ANY(%s)", [list(attempts)]


def _columns(step: int, metrics: Sequence[str]) -> str:
    """Mean, peak and known seconds of each metric. Names come from METRICS alone."""
    means, peaks, known = [], [], []
    for name in metrics:
        mean, highest = _COLUMN[name]
        peak = f"greatest({highest}, {mean})"
        if step != RAW_S:
            place = PLACE[name] + 1
            mean, peak = f"mean[{place}]", f"peak[{place}]"
        together = "sum" if name in _SUMMED else "avg"
        means.append(f"{together}({mean})")
        peaks.append(f"{together}({peak})" if name in _SUMMED else f"max({peak})")
        seconds = f"known[{PLACE[name] + 1}]"
        if step == RAW_S:
            seconds = f"CASE WHEN {mean} IS NOT NULL THEN seconds END"
        known.append(f"max({seconds})")
    return ", ".join([*means, *peaks, *known])
