"""Pure: the metrics that rules may judge, with unit, source, and what can be asked of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pool.rules.alerting.terms import Aggregate, Scope

RAW_LONGEST_S = 900
MINUTE_LONGEST_S = 21_600
"""Windows up to these are read from readings of 10 s, from minutes; longer ones from hours."""

LONGEST_S = 28 * 86_400
SHORTEST_S = 60


class Source(StrEnum):
    """Where a metric is read: what agents measured, or the books."""

    SAMPLES = "samples"
    WAITS = "waits"
    HEALTH = "health"
    HELD = "held"


MEASURED = frozenset({Aggregate.MEAN, Aggregate.P95, Aggregate.MAX, Aggregate.MIN, Aggregate.LAST})
COUNTED = frozenset({Aggregate.INCREASE})
NOW = frozenset({Aggregate.LAST})
PLACES = frozenset({Scope.CARD, Scope.NODE, Scope.PARTITION, Scope.POOL})


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `column` is its name in readings and roll-ups; `of` divides it into a share."""

    unit: str
    source: Source
    scopes: frozenset[Scope]
    aggregates: frozenset[Aggregate]
    column: str = ""
    of: str = ""
    most: float = 100.0


def _read(column: str, unit: str = "%", of: str = "", most: float = 100.0) -> Metric:
    everywhere = frozenset(Scope)
    return Metric(unit, Source.SAMPLES, everywhere, MEASURED, column, of, most)


METRICS: Mapping[str, Metric] = {
    "util": _read("util"),
    "sm": _read("sm"),
    "occupancy": _read("occupancy"),
    "memory": _read("memory_mib", of="memory"),
    "bandwidth": _read("bandwidth"),
    "power_share": _read("power_w", of="tdp", most=200.0),
    "power": _read("power_w", "W", most=10_000.0),
    "temperature": _read("temperature_c", "°C", most=150.0),
    "nvlink": _read("nvlink_mib_s", "MiB/s", most=1e9),
    "pcie": _read("pcie_mib_s", "MiB/s", most=1e9),
    "ecc": Metric("errors", Source.SAMPLES, frozenset({Scope.CARD}), COUNTED, "ecc", "", 1e9),
    "throttle": Metric(
        "%", Source.SAMPLES, frozenset({Scope.CARD}), frozenset({Aggregate.MEAN}), "throttle"
    ),
    "queue_wait": Metric(
        "s", Source.WAITS, frozenset({Scope.PROJECT, Scope.POOL}), NOW, most=31_536_000.0
    ),
    "unhealthy": Metric(
        "%", Source.HEALTH, frozenset({Scope.NODE, Scope.PARTITION, Scope.POOL}), NOW
    ),
    "held": Metric("%", Source.HELD, frozenset({Scope.PARTITION, Scope.POOL}), NOW),
}
RAW_ONLY = frozenset({"ecc", "throttle"})
"""Not condensed: judged over short windows alone."""


def problems(
    *,
    metric: str,
    scope: str,
    aggregate: str,
    window_s: int,
    threshold: float,
    clear: float | None,
    side: str,
) -> dict[str, str]:
    """What is wrong with such a rule, by field; the texts are marks of the catalogue."""
    known = METRICS.get(metric)
    if known is None:
        return {"metric": "unknown_metric"}
    found = {}
    if scope not in known.scopes:
        found["scope"] = "scope_not_for_metric"
    if aggregate not in known.aggregates:
        found["aggregate"] = "aggregate_not_for_metric"
    longest = RAW_LONGEST_S if metric in RAW_ONLY else LONGEST_S
    if known.source is Source.SAMPLES and not SHORTEST_S <= window_s <= longest:
        found["window_seconds"] = "window_too_short_or_long"
    if not 0 <= threshold <= known.most:
        found["threshold"] = "threshold_out_of_range"
    if clear is not None and (clear > threshold if side == "above" else clear < threshold):
        found["clear_threshold"] = "clear_on_wrong_side"
    return found


def every_s(window_s: int) -> int:
    """How often a rule is looked at, in seconds: ten times a minute is enough for none."""
    return max(5, min(3600, window_s // 60))
