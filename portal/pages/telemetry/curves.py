"""Measured series of one attempt or card, as a stack of charts, a small table and a file."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Sum
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from pool.clock import now
from pool.models.cards import Card
from pool.models.placements import Hold
from pool.models.telemetry.rollups import HOUR_S, METRICS, MINUTE_S
from pool.models.workloads import Attempt, Workload
from pool.selectors.telemetry.series import Series, series_of

SPANS = {
    "hour": (gettext_lazy("1 hour"), timedelta(hours=1)),
    "day": (gettext_lazy("24 hours"), timedelta(days=1)),
    "week": (gettext_lazy("7 days"), timedelta(days=7)),
    "month": (gettext_lazy("30 days"), timedelta(days=30)),
}
"""What can be chosen; a span that begins before the attempt begins with it."""

OF_POOL = {
    "hour": (MINUTE_S, 60),
    "day": (HOUR_S, 300),
    "week": (HOUR_S, 600),
    "month": (HOUR_S, 3600),
}
"""How finely all cards together are read, and for how many seconds that is kept."""

POOL_SHOWN = ("sm", "util", "occupancy", "memory_mib", "bandwidth", "power_w", "temperature_c")

SHOWN = (
    "sm",
    "util",
    "occupancy",
    "memory_mib",
    "bandwidth",
    "power_w",
    "temperature_c",
    "nvlink_mib_s",
    "pcie_mib_s",
    "samples_s",
    "tokens_s",
    "queries_s",
    "latency_ms",
    "cpu_milli",
    "ram_mib",
    "disk_mib_s",
    "net_mib_s",
)


def usage_series(
    attempt: Attempt, workload: Workload, holds: Iterable[Hold], span: str = ""
) -> dict[str, Any]:
    """The attempt over the span (24 hours, or up to its end); what is unknown leaves a gap."""
    until = attempt.ended_at or now()
    chosen = span if span in SPANS else "day"
    since = max(attempt.started_at or attempt.created_at, until - SPANS[chosen][1])
    found = series_of(since=since, until=until, metrics=SHOWN, attempts=[attempt.pk])
    slices = [hold.slice for hold in holds if hold.slice]
    cap = sum(one.memory_mib for one in slices) or None
    return _stack(found, chosen, cap) | {
        "memory_cap": cap,
        "compute_cap": sum(one.compute_milli for one in slices) or None,
    }


def card_series(card: int, span: str = "") -> dict[str, Any]:
    """One whole card over the span that ends now."""
    until, chosen = now(), span if span in SPANS else "day"
    found = series_of(since=until - SPANS[chosen][1], until=until, metrics=SHOWN, card=card)
    return _stack(found, chosen, None)


def pool_series(span: str = "") -> dict[str, Any]:
    """All cards together over the span that ends now: shares are means, the rest is summed.

    It is made once for all who look: the longer the span, the longer it is kept.
    """
    chosen = span if span in SPANS else "day"
    key = f"pool-series-{chosen}-{get_language()}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        until, (step, kept_s) = now(), OF_POOL[chosen]
        since = until - SPANS[chosen][1]
        series = series_of(since=since, until=until, metrics=POOL_SHOWN, pool=True, step=step)
        memory = Card.objects.exclude(state="retired").aggregate(sum=Sum("memory_mib"))["sum"]
        padded = _padded(series)
        found = _stack(padded, chosen, memory)
        cache.set(key, found, kept_s)
    return found


def _padded(found: Series) -> Series:
    """The same with the metrics that were not asked for, unknown."""
    none = (None,) * (len(SHOWN) - len(found.metrics))
    metrics = (*found.metrics, *(name for name in SHOWN if name not in found.metrics))
    points = [(at, (*means, *none), (*peaks, *none)) for at, means, peaks in found.points]
    return replace(found, metrics=metrics, points=points)


def series_csv(found: Series) -> str:
    """One row a moment, mean and peak of each metric; what is unknown is empty."""
    out = io.StringIO()
    writer = csv.writer(out)
    names = [f"{name}_{what}" for what in ("mean", "peak") for name in found.metrics]
    writer.writerow(["at", "seconds", *names])
    for at, means, peaks in found.points:
        writer.writerow([at.isoformat(), found.step, *means, *peaks])
    return out.getvalue()


def attempt_csv(attempt: Attempt) -> str:
    """Everything that was measured of an attempt, by the step that suits its length."""
    since = attempt.started_at or attempt.created_at
    until = attempt.ended_at or now()
    return series_csv(series_of(since=since, until=until, metrics=METRICS, attempts=[attempt.pk]))


def _stack(found: Series, chosen: str, memory_cap: int | None) -> dict[str, Any]:
    known = found.known["sm"] or found.known["util"]
    return {
        "from": found.since.isoformat(),
        "until": found.until.isoformat(),
        "span": chosen,
        "spans": [(name, str(label), name == chosen) for name, (label, _length) in SPANS.items()],
        "points": len(found.points),
        "panels": [panel for panel in _panels(found, memory_cap) if panel["lines"]],
        "known_milli": round(1000 * known),
        "memory_mean": _mean(_values(found, "memory_mib")),
        "memory_peak": _peak(_values(found, "memory_mib", peak=True)),
        "sm_mean": _mean(_values(found, "sm")),
        "sm_peak": _peak(_values(found, "sm", peak=True)),
        "step": found.step,
    }


def _panels(found: Series, memory_cap: int | None) -> list[dict[str, Any]]:
    """From what decides most to what explains it; a line is drawn only where something is known."""

    def panel(title: str, unit: str, *lines: tuple[str, str, str], **more: Any) -> dict[str, Any]:
        drawn = [
            {"name": name, "tone": tone, "data": _line(found, metric, tone == "soft")}
            for name, metric, tone in lines
            if any(value is not None for value in _values(found, metric))
        ]
        return {"title": title, "unit": unit, "lines": drawn, **more}

    busy = [(_("SM"), "sm", "first"), (_("Occupancy"), "occupancy", "second")]
    if not any(value is not None for value in _values(found, "sm")):
        busy[0] = (_("GPU busy"), "util", "first")
    return [
        panel(_("Compute busy"), "%", *busy, most=100),
        panel(
            _("Memory"),
            "MiB",
            (_("Mean"), "memory_mib", "first"),
            (_("Peak"), "memory_mib", "soft"),
            cap=memory_cap,
            cap_name=_("Memory limit"),
        ),
        panel(_("Memory bandwidth"), "%", (_("Bandwidth"), "bandwidth", "first"), most=100),
        panel(
            _("Links"),
            "MiB/s",
            (_("NVLink"), "nvlink_mib_s", "first"),
            (_("PCIe"), "pcie_mib_s", "second"),
        ),
        panel(_("Power"), "W", (_("Power"), "power_w", "first")),
        panel(_("Temperature"), "°C", (_("Temperature"), "temperature_c", "first")),
        panel(
            _("Throughput"),
            "/s",
            (_("Samples"), "samples_s", "first"),
            (_("Tokens"), "tokens_s", "second"),
            (_("Queries"), "queries_s", "third"),
        ),
        panel(_("Latency"), "ms", (_("Latency"), "latency_ms", "first")),
        panel(_("CPU"), _("thousandths of a core"), (_("CPU"), "cpu_milli", "first")),
        panel(_("Host memory"), "MiB", (_("RAM"), "ram_mib", "first")),
        panel(
            _("Disk and network"),
            "MiB/s",
            (_("Disk"), "disk_mib_s", "first"),
            (_("Network"), "net_mib_s", "second"),
        ),
    ]


def _values(found: Series, metric: str, *, peak: bool = False) -> list[float | None]:
    at = found.metrics.index(metric)
    return [(peaks if peak else means)[at] for _moment, means, peaks in found.points]


def _line(found: Series, metric: str, peak: bool) -> list[tuple[str, float | None]]:
    """The points, with an unknown one wherever more than two steps lie between."""
    at = found.metrics.index(metric)
    drawn: list[tuple[str, float | None]] = []
    before: datetime | None = None
    for moment, means, peaks in found.points:
        if before is not None and (moment - before).total_seconds() > 2.5 * found.step:
            drawn.append(((before + timedelta(seconds=found.step)).isoformat(), None))
        value = (peaks if peak else means)[at]
        drawn.append((moment.isoformat(), None if value is None else round(value, 3)))
        before = moment
    return drawn


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _peak(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
