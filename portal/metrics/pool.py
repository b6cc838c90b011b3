"""The pool for Prometheus: nodes, cards with their readings, slices, work, who holds how much."""

from collections.abc import Iterable, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pool.selectors.telemetry.latest import (
    CardNow,
    card_states,
    cards_now,
    held_micro,
    node_states,
    slice_states,
    work_states,
)

MOST_CARDS = 2000
"""Of so many cards single readings are told; a larger pool asks its exporters."""

MOST_PROJECTS = 200
"""Of so many projects, those that hold most; the rest are told as one."""

GAUGES = {
    "util": ("gpupool_card_utilization_ratio", "GPU utilization of the last ten seconds.", 100),
    "sm": ("gpupool_card_sm_active_ratio", "Share of time in which SMs worked.", 100),
    "occupancy": ("gpupool_card_sm_occupancy_ratio", "SM occupancy.", 100),
    "bandwidth": ("gpupool_card_memory_bandwidth_ratio", "Memory bandwidth in use.", 100),
    "memory_mib": ("gpupool_card_memory_used_bytes", "Card memory in use.", 1 / 2**20),
    "power_w": ("gpupool_card_power_watts", "Power drawn.", 1),
    "temperature_c": ("gpupool_card_temperature_celsius", "Highest temperature.", 1),
    "pcie_width": ("gpupool_card_pcie_lanes", "Lanes of the PCIe link in use.", 1),
    "pcie_generation": ("gpupool_card_pcie_generation", "Generation of the PCIe link in use.", 1),
}
ERRORS = {
    "ecc_corrected": ("gpupool_card_ecc_corrected", "ECC errors that were corrected."),
    "ecc_uncorrected": ("gpupool_card_ecc_uncorrected", "ECC errors that were not corrected."),
}
LABELS = ("node", "card", "uuid", "model")


class Pool(Collector):
    """Six queries a scrape, whatever the size of the pool. What is unknown is left out."""

    def collect(self) -> Iterable[Metric]:
        """Every family, in a fixed order."""
        yield _counted("gpupool_nodes", "Nodes by state.", ("state",), node_states())
        yield _counted("gpupool_cards", "Cards.", ("model", "state"), card_states())
        yield _counted("gpupool_slices", "Slices.", ("mode", "state"), slice_states())
        yield _counted("gpupool_workloads", "Work by state.", ("kind", "state"), work_states())
        yield _held()
        yield from _cards(cards_now(most=MOST_CARDS))


def _counted(
    name: str, words: str, labels: Sequence[str], rows: Iterable[Sequence[object]]
) -> Metric:
    family = GaugeMetricFamily(name, words, labels=labels)
    for *values, count in rows:
        family.add_metric([str(value) for value in values], float(str(count)))
    return family


def _held() -> Metric:
    family = GaugeMetricFamily(
        "gpupool_project_held_cards",
        "Card equivalents held now.",
        labels=["organization", "project"],
    )
    rows = held_micro(most=10 * MOST_PROJECTS)
    for organization, project, micro in rows[:MOST_PROJECTS]:
        family.add_metric([organization, project], micro / 1e6)
    if rows[MOST_PROJECTS:]:
        family.add_metric(["", ""], sum(row[2] for row in rows[MOST_PROJECTS:]) / 1e6)
    return family


def _cards(cards: Sequence[CardNow]) -> Iterable[Metric]:
    size = GaugeMetricFamily(
        "gpupool_card_memory_total_bytes", "Card memory that can be used.", labels=LABELS
    )
    for card in cards:
        size.add_metric(_labels(card), card.memory_mib * 2.0**20)
    yield size
    for name, (metric, words, divisor) in GAUGES.items():
        gauge = GaugeMetricFamily(metric, words, labels=LABELS)
        for card in cards:
            if name in card.values:
                gauge.add_metric(_labels(card), card.values[name] / divisor)
        yield gauge
    for name, (metric, words) in ERRORS.items():
        counter = CounterMetricFamily(metric, words, labels=LABELS)
        for card in cards:
            if name in card.values:
                counter.add_metric(_labels(card), card.values[name])
        yield counter


def _labels(card: CardNow) -> list[str]:
    return [card.node, str(card.index), card.uuid, card.model]
