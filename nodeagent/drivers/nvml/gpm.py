"""Counters that Hopper and later sample by themselves, for a card or one of its instances."""

from typing import Any

import pynvml

from nodeagent.drivers.nvml.read import known

SM, OCCUPANCY, BANDWIDTH = 2, 3, 10
PCIE = (20, 21)
NVLINK = (60, 61)
WANTED = (SM, OCCUPANCY, BANDWIDTH, *PCIE, *NVLINK)


class Gpm:
    """Keeps the last sample of each card and instance: a figure needs two of them."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, int | None], Any] = {}
        self._able: dict[str, bool] = {}

    def able(self, uuid: str, handle: Any) -> bool:
        """Can this card with this driver do it at all?"""
        if uuid not in self._able:
            support = known(lambda: pynvml.nvmlGpmQueryDeviceSupport(handle))
            self._able[uuid] = support is not None and bool(support.isSupportedDevice)
        return self._able[uuid]

    def read(self, uuid: str, handle: Any, instance: int | None) -> dict[int, float]:
        """Figures since the last call by their number; what is not told is absent."""
        if not self.able(uuid, handle):
            return {}
        sample = known(lambda: _sample(handle, instance))
        if sample is None:
            return {}
        before = self._last.get((uuid, instance))
        self._last[uuid, instance] = sample
        if before is None:
            return {}
        figures = known(lambda: _between(before, sample)) or {}
        known(lambda: pynvml.nvmlGpmSampleFree(before))
        return figures


def _sample(handle: Any, instance: int | None) -> Any:
    sample = pynvml.nvmlGpmSampleAlloc()
    if instance is None:
        return pynvml.nvmlGpmSampleGet(handle, sample)
    return pynvml.nvmlGpmMigSampleGet(handle, instance, sample)


def _between(first: Any, second: Any) -> dict[int, float]:
    asked = pynvml.c_nvmlGpmMetricsGet_t()
    asked.version = pynvml.NVML_GPM_METRICS_GET_VERSION
    asked.numMetrics = len(WANTED)
    asked.sample1, asked.sample2 = first, second
    for place, number in enumerate(WANTED):
        asked.metrics[place].metricId = number
    pynvml.nvmlGpmMetricsGet(asked)
    rows = asked.metrics[: len(WANTED)]
    return {one.metricId: one.value for one in rows if one.nvmlReturn == pynvml.NVML_SUCCESS}


def both(figures: dict[int, float], pair: tuple[int, int]) -> float | None:
    """Sent and received together; None when neither is told."""
    known_ones = [figures[number] for number in pair if number in figures]
    return sum(known_ones) if known_ones else None
