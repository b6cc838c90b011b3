"""Numbers for Prometheus, read from the books at every scrape: any process gives the same answer.

Nothing is counted in memory: several web processes stand behind one address, and a counter of one
of them would jump.
"""

from collections.abc import Iterable

from django.db.models import Q
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from pool.clock import now
from pool.models.rounds import BUCKETS_MS, Round, RoundTotal
from pool.selectors.queue import NEW, queue_length, queue_oldest, queue_reasons
from pool.selectors.rounds import rounds_last, rounds_total

DECIDED = {
    "placed": "Starts that rounds decided.",
    "carving": "Cards on which rounds began to make room.",
    "preempted": "Work that rounds told to leave.",
    "stale": "Decisions of rounds that something had overtaken.",
}
STEPS = (("take", "taken_us"), ("plan", "planned_us"), ("commit", "committed_us"))


class Rounds(Collector):
    """The scheduler's rounds and the queue; six small queries a scrape."""

    def collect(self) -> Iterable[Metric]:
        """Every family, in a fixed order."""
        total, last = rounds_total(), rounds_last(most=1)
        yield _durations(total)
        steps = CounterMetricFamily(
            "gpupool_round_step_seconds", "Time spent in each step of rounds.", labels=["step"]
        )
        for name, column in STEPS:
            steps.add_metric([name], getattr(total, column) / 1e6)
        yield steps
        for name, words in DECIDED.items():
            yield CounterMetricFamily(f"gpupool_round_{name}", words, value=getattr(total, name))
        if last:
            yield from _newest(last[0])
        yield from _queue()


def _durations(total: RoundTotal) -> HistogramMetricFamily:
    """The durations of all rounds, in seconds; the buckets of the format are cumulative."""
    counts = total.buckets or [0] * (len(BUCKETS_MS) + 1)
    ends = [*(str(end / 1000) for end in BUCKETS_MS), "+Inf"]
    running, buckets = 0, []
    for end, count in zip(ends, counts, strict=True):
        running += count
        buckets.append((end, float(running)))
    spent = sum(getattr(total, column) for _name, column in STEPS) / 1e6
    return HistogramMetricFamily(
        "gpupool_round_duration_seconds",
        "Duration of whole rounds.",
        buckets=buckets,
        sum_value=spent,
    )


def _newest(last: Round) -> Iterable[Metric]:
    """Size and time of the newest round that was kept."""
    yield GaugeMetricFamily(
        "gpupool_round_last_seconds", "Duration of the newest round.", value=last.took_us / 1e6
    )
    yield GaugeMetricFamily("gpupool_round_cards", "Cards it looked at.", value=last.cards)
    yield GaugeMetricFamily("gpupool_round_waiting", "Work it looked at.", value=last.waiting)


def _queue() -> Iterable[Metric]:
    """What waits now, by reason, and for how long."""
    waiting = GaugeMetricFamily(
        "gpupool_queue_waiting", "Work that waits, by the reason.", labels=["reason"]
    )
    for reason, count in queue_reasons(wanted=Q()):
        waiting.add_metric([reason or NEW], count)
    yield waiting
    yield GaugeMetricFamily("gpupool_queue_length", "All that waits.", value=queue_length())
    oldest = queue_oldest()
    age = 0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds())
    yield GaugeMetricFamily("gpupool_queue_oldest_seconds", "The longest wait now.", value=age)
