"""Slices and work for Prometheus, so many at most: a pool of any size gives a bounded answer."""

from collections.abc import Iterable, Sequence

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pool.selectors.telemetry.latest import SliceNow, WorkNow, slices_now, work_now

MOST_SLICES = 2000
"""Of so many slices single readings are told, by node and card."""

MOST_WORK = 1000
"""Of so many running workloads, those that hold the most memory."""

MIB = 2.0**20


class Work(Collector):
    """Two queries a scrape. What is unknown is left out."""

    def collect(self) -> Iterable[Metric]:
        """Every family, in a fixed order."""
        yield from _slices(slices_now(most=MOST_SLICES))
        yield from _work(work_now(most=MOST_WORK))


def _slices(rows: Sequence[SliceNow]) -> Iterable[Metric]:
    labels = ("node", "card", "slice", "mode")
    sm = GaugeMetricFamily(
        "gpupool_slice_sm_active_ratio", "SM activity of a slice.", labels=labels
    )
    memory = GaugeMetricFamily(
        "gpupool_slice_memory_used_bytes", "Card memory in use in a slice.", labels=labels
    )
    for row in rows:
        named = [row.node, str(row.index), row.uid, row.mode]
        if row.sm is not None:
            sm.add_metric(named, row.sm / 100)
        if row.memory_mib is not None:
            memory.add_metric(named, row.memory_mib * MIB)
    yield sm
    yield memory


def _work(rows: Sequence[WorkNow]) -> Iterable[Metric]:
    labels = ("organization", "project", "workload", "kind")
    sm = GaugeMetricFamily(
        "gpupool_workload_sm_active_ratio", "SM activity of running work.", labels=labels
    )
    used = GaugeMetricFamily(
        "gpupool_workload_memory_used_bytes", "Card memory that work uses.", labels=labels
    )
    held = GaugeMetricFamily(
        "gpupool_workload_memory_held_bytes", "Card memory of its slices.", labels=labels
    )
    for row in rows:
        named = [row.organization, row.project, row.uid, row.kind]
        held.add_metric(named, row.held_mib * MIB)
        if row.sm is not None:
            sm.add_metric(named, row.sm / 100)
        if row.memory_mib is not None:
            used.add_metric(named, row.memory_mib * MIB)
    yield sm
    yield used
    yield held
