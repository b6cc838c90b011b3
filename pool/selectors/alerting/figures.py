"""The figures of a workload or card that hints are made of; a fixed number of queries."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.lifecycle.events import EventKind
from pool.models.cards import Card
from pool.models.events import Event
from pool.models.placements import Hold
from pool.models.workloads import Attempt, Workload
from pool.models.yielding import YieldOrder
from pool.rules.alerting.diagnosis import dips, mean, spread, swings, tenth
from pool.selectors.logs import log_tail
from pool.selectors.telemetry.series import Series, series_of

LOOK = timedelta(hours=4)
"""So much of the newest run is looked at."""

CHUNKS = 16
SHOWN = ("util", "sm", "occupancy", "memory_mib", "bandwidth", "power_w", "temperature_c")
OF_WORK = (*SHOWN, "cpu_milli", "disk_mib_s", "samples_s", "tokens_s")
CUDA = re.compile(
    r"torch\.cuda\.is_available\(\)[^\n]{0,20}False|CUDA driver version is insufficient"
    r"|no CUDA-capable device|no kernel image is available",
    re.IGNORECASE,
)
FULL = re.compile(r"CUDA out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED", re.IGNORECASE)


@dataclass(slots=True)
class Looked:
    """Figures by name, None where unknown, and what they were read from."""

    since: datetime
    until: datetime
    figures: dict[str, float | None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    neighbours: list[str] = field(default_factory=list)


def figures_of_work(*, workload: Workload) -> Looked | None:
    """Of the newest run that began; None before there is one."""
    run = workload.attempts.filter(started_at__isnull=False).order_by("-number").first()
    if run is None or run.started_at is None:
        return None
    until = run.ended_at or now()
    since = max(run.started_at, until - LOOK)
    looked = Looked(since, until)
    holds = list(Hold.objects.filter(placement__attempt=run).select_related("slice", "card"))
    _curves(looked, series_of(since=since, until=until, metrics=OF_WORK, attempts=[run.pk]), holds)
    _cores(looked, holds, workload)
    _ranks(looked, run)
    _card_side(looked, [hold.card for hold in holds if hold.card is not None])
    _log(looked, run)
    _books(looked, workload, run, holds)
    return looked


def figures_of_card(*, card: Card) -> Looked:
    """Of the whole card over the last hours."""
    until = now()
    looked = Looked(until - LOOK, until)
    series = series_of(since=looked.since, until=until, metrics=SHOWN, card=card.pk)
    columns = _columns(series)
    looked.figures |= {name: mean(columns[name]) for name in ("util", "sm", "occupancy")}
    looked.figures["bandwidth"] = mean(columns["bandwidth"])
    memory = mean(columns["memory_mib"])
    looked.figures["memory"] = None if memory is None else 100.0 * memory / card.memory_mib
    _card_side(looked, [card])
    subject = f"card:{card.uid}"
    told = Event.objects.filter(subject=subject, at__gte=looked.since).order_by("-id")
    looked.events = list(told[:50])
    erred = [one for one in looked.events if one.kind == EventKind.CARD_ERRED]
    looked.figures["resets"] = float(len(erred))
    return looked


def _columns(series: Series) -> dict[str, list[float | None]]:
    return {
        name: [mean_row[place] for _at, mean_row, _peak in series.points]
        for place, name in enumerate(series.metrics)
    }


def _curves(looked: Looked, series: Series, holds: Sequence[Hold]) -> None:
    columns = _columns(series)
    seconds = (looked.until - looked.since).total_seconds()
    cap = sum(hold.slice.memory_mib for hold in holds if hold.slice is not None)
    busy = columns["util"] if any(v is not None for v in columns["util"]) else columns["sm"]
    memory = mean(columns["memory_mib"])
    drops, writing = dips(busy, columns["disk_mib_s"], seconds)
    pace = columns["samples_s"] if mean(columns["samples_s"]) else columns["tokens_s"]
    looked.figures |= {
        "util": mean(busy),
        "sm": mean(columns["sm"]),
        "occupancy": mean(columns["occupancy"]),
        "bandwidth": mean(columns["bandwidth"]),
        "memory": 100.0 * memory / cap if memory is not None and cap else None,
        "util_low": tenth(busy, 0.1),
        "util_high": tenth(busy, 0.9),
        "swings": swings(busy, seconds),
        "dips": drops,
        "dips_writing": writing,
        "jitter": spread(pace),
        "asked_mib": float(cap) if cap else None,
        "cpu_milli": mean(columns["cpu_milli"]),
    }


def _cores(looked: Looked, holds: Sequence[Hold], workload: Workload) -> None:
    """CPU in use against the cores of its host share."""
    used = looked.figures.pop("cpu_milli", None)
    asked = workload.need.get("cpu_milli") if isinstance(workload.need, dict) else None
    known = used is not None and isinstance(asked, int | float) and asked > 0
    looked.figures["cpu"] = 100.0 * used / asked if known and used is not None and asked else None


_BY_NODE = """
SELECT c.node_id, avg(coalesce(s.util_mean, s.sm_mean))
FROM pool_sample s JOIN pool_card c ON c.id = s.card_id
WHERE s.attempt_id = %s AND s.slice_id IS NOT NULL AND s.at >= %s AND s.at <= %s
GROUP BY c.id, c.node_id
"""


def _ranks(looked: Looked, run: Attempt) -> None:
    """The busiest and the idlest of several cards; unknown for one alone."""
    with connection.cursor() as cursor:
        cursor.execute(_BY_NODE, [run.pk, looked.since, looked.until])
        means = [float(value) for _node, value in cursor.fetchall() if value is not None]
    several = len(means) > 1
    looked.figures["rank_high"] = max(means) if several else None
    looked.figures["rank_low"] = min(means) if several else None


_HOT = """
SELECT max(s.temperature_c_max),
       100.0 * sum(CASE WHEN CASE WHEN c.vendor = 'nvidia' THEN s.throttle & 232 ELSE s.throttle END
                             <> 0 THEN s.seconds ELSE 0 END)
             / nullif(sum(s.seconds) FILTER (WHERE s.throttle IS NOT NULL), 0),
       avg(100.0 * s.power_w_mean / nullif(c.tdp_w, 0))
FROM pool_sample s JOIN pool_card c ON c.id = s.card_id
WHERE s.card_id = ANY(%s) AND s.slice_id IS NULL AND s.at >= %s AND s.at <= %s
"""


def _card_side(looked: Looked, cards: Sequence[Card]) -> None:
    with connection.cursor() as cursor:
        keys = sorted({card.pk for card in cards})
        cursor.execute(_HOT, [keys, looked.since, looked.until])
        row = cursor.fetchone()
    for name, value in zip(("temperature", "throttle", "power"), row, strict=True):
        looked.figures[name] = None if value is None else float(value)


def _log(looked: Looked, run: Attempt) -> None:
    """Telling lines at the end of its output."""
    text = log_tail(attempt=run, chunks=CHUNKS).text
    for name, pattern in (("cuda_missing", CUDA), ("oom", FULL)):
        hits = [line for line in text.splitlines() if pattern.search(line)]
        looked.figures[name] = float(len(hits))
        looked.lines += [line.strip()[:300] for line in hits[-3:]]
    if run.exit_reason == ExitReason.OOM_CARD:
        looked.figures["oom"] = max(1.0, looked.figures["oom"] or 0.0)
    peak = run.peak_memory_mib
    looked.figures["peak_mib"] = None if peak is None else float(peak)


def _books(looked: Looked, workload: Workload, run: Attempt, holds: Sequence[Hold]) -> None:
    """What the scheduler and the cards told of it, and who is beside it."""
    subject = f"workload:{workload.uid}"
    told = Event.objects.filter(subject=subject).order_by("-id")
    looked.events = list(told[:50])
    since = [one for one in looked.events if one.at >= (run.started_at or looked.since)]
    warned = [one for one in since if one.kind == EventKind.WORKLOAD_WARNED]
    orders = YieldOrder.objects.filter(workload=workload).count()
    others = _beside(run, holds)
    looked.neighbours = sorted(others)
    quiet = log_quiet_s(run, looked.until)
    looked.figures |= {
        "resets": float(len(warned)),
        "preempted": float(orders),
        "neighbours": float(len(others)),
        "struck": float(workload.attempts.filter(exit_reason=ExitReason.NEIGHBOUR).count()),
        "quiet": quiet,
    }


def _beside(run: Attempt, holds: Sequence[Hold]) -> list[str]:
    """The classes of work on the same cards now without a wall of hardware between."""
    cards = [hold.card_id for hold in holds if hold.card_id and hold.isolation != "hardware"]
    rows = Hold.objects.filter(card__in=cards, held__upper_inf=True, slice__isnull=False)
    named = rows.exclude(placement__attempt=run).values_list(
        "placement__attempt__workload__template_version__work_class", flat=True
    )
    return [str(one) for one in named]


def log_quiet_s(run: Attempt, until: datetime) -> float | None:
    """Seconds since its last output; None where it never wrote."""
    last = run.log_chunks.order_by("-pk").values_list("at", flat=True).first()
    return None if last is None else max(0.0, (until - last).total_seconds())
