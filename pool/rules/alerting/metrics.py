"""Pure: the metrics that rules may judge, with unit, source, and what can be asked of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pool.rules.alerting.terms import Aggregate, Scope
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rule asks of a metric; times in seconds."""

    metric: str
    scope: str
    aggregate: str
    window_s: int
    side: str
    threshold: float
    clear: float | None = None


def problems(asked: Asked) -> dict[str, Problem]:
    """What is wrong with such a rule, by field."""
    known = METRICS.get(asked.metric)
    if known is None:
        return {"metric": _one_of(METRICS)}
    found = {}
    if asked.scope not in known.scopes:
        found["scope"] = _one_of(known.scopes)
    if asked.aggregate not in known.aggregates:
        found["aggregate"] = _one_of(known.aggregates)
    longest = RAW_LONGEST_S if asked.metric in RAW_ONLY else LONGEST_S
    if known.source is Source.SAMPLES and not SHORTEST_S <= asked.window_s <= longest:
        span = {"least": SHORTEST_S, "most": longest}
        found["window_seconds"] = Problem(_("From %(least)s to %(most)s seconds."), span)
    if not 0 <= asked.threshold <= known.most:
        held = {"most": f"{known.most:g}", "unit": known.unit}
        found["threshold"] = Problem(_("From 0 to %(most)s %(unit)s."), held)
    if asked.clear is not None and _wrong_side(asked, asked.clear):
        found["clear_threshold"] = Problem(_("Well again lies on the other side of the threshold."))
    return found


def _wrong_side(asked: Asked, clear: float) -> bool:
    return clear > asked.threshold if asked.side == "above" else clear < asked.threshold


def _one_of(known: Iterable[str]) -> Problem:
    return Problem(_("Choose from: %(known)s."), {"known": ", ".join(sorted(known))})


def every_s(window_s: int) -> int:
    """How often a rule is looked at, in seconds: the longer its window, the seldomer."""
    return max(5, min(3600, window_s // 60))
