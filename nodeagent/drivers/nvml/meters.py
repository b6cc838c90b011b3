"""What NVIDIA cards and their instances measure; what one of them does not tell stays None."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pynvml

from nodeagent.drivers.base import Load, beside
from nodeagent.drivers.nvml import gpm
from nodeagent.drivers.nvml.gpm import Gpm
from nodeagent.drivers.nvml.occupants import Occupant, inside, occupants
from nodeagent.drivers.nvml.read import MIB, known
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode

CORRECTED, UNCORRECTED = 0, 1
VOLATILE = 0
KIB_TX, KIB_RX = 138, 139
"""Numbers of the fields that count what went over NVLink, in KiB since the driver was loaded."""


@dataclass(frozen=True)
class Part:
    """A slice that is to be measured; the last three are those of a MIG slice."""

    uid: str
    mode: Mode
    instance: int | None = None
    device: str = ""
    compute: int = 0


@dataclass(frozen=True)
class Process:
    """One process on a card and its SM use in per cent, None when not told."""

    row: Occupant
    sm: float | None


class Meters:
    """Reads one node's cards; counters need the reading before, so it is kept."""

    def __init__(self) -> None:
        self._gpm = Gpm()
        self._nvlink: dict[str, tuple[float, int]] = {}

    def read(
        self, at: float, uuid: str, handle: Any, parts: tuple[Part, ...], loads: tuple[Load, ...]
    ) -> list[Reading]:
        """The card's row and one for each slice.

        Raises:
            NVMLError: the card itself does not answer.
        """
        card = self._card(at, uuid, handle)
        by_slice = {load.slice: load for load in loads}
        running = _processes(handle)
        rows = [card]
        for part in parts:
            load = by_slice.get(part.uid)
            row = self._part(card, handle, part, load, running)
            rows.append(beside(row, part.uid, load))
        return rows

    def _card(self, at: float, uuid: str, handle: Any) -> Reading:
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        use = known(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle))
        power = known(lambda: pynvml.nvmlDeviceGetPowerUsage(handle))
        heat = known(lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))
        encoder = known(lambda: pynvml.nvmlDeviceGetEncoderUtilization(handle))
        decoder = known(lambda: pynvml.nvmlDeviceGetDecoderUtilization(handle))
        figures = self._gpm.read(uuid, handle, None)
        pcie = gpm.both(figures, gpm.PCIE)
        nvlink = gpm.both(figures, gpm.NVLINK)
        return Reading(
            at=at,
            card=uuid,
            util_mean=None if use is None else float(use.gpu),
            sm_mean=figures.get(gpm.SM),
            occupancy_mean=figures.get(gpm.OCCUPANCY),
            bandwidth_mean=figures.get(gpm.BANDWIDTH),
            memory_mib_mean=memory.used / MIB,
            pcie_mib_s=_pcie(handle) if pcie is None else pcie,
            nvlink_mib_s=self._over_nvlink(at, uuid, handle) if nvlink is None else nvlink,
            power_w_mean=None if power is None else power / 1000,
            temperature_c_max=None if heat is None else float(heat),
            ecc_corrected=_errors(handle, CORRECTED),
            ecc_uncorrected=_errors(handle, UNCORRECTED),
            throttle=_throttle(handle),
            encoder_mean=None if encoder is None else float(encoder[0]),
            decoder_mean=None if decoder is None else float(decoder[0]),
            pcie_width=known(lambda: int(pynvml.nvmlDeviceGetCurrPcieLinkWidth(handle))),
            pcie_generation=known(lambda: int(pynvml.nvmlDeviceGetCurrPcieLinkGeneration(handle))),
        )

    def _part(
        self,
        card: Reading,
        handle: Any,
        part: Part,
        load: Load | None,
        running: tuple[Process, ...] | None,
    ) -> Reading:
        """A slice: the card's own row where it is whole, an instance's, or its processes' sums."""
        if part.mode == Mode.WHOLE:
            return card
        if part.mode == Mode.MIG:
            return self._instance(card, handle, part, running)
        mine = _mine(load, running)
        return Reading(
            at=card.at,
            card=card.card,
            sm_mean=_sum(None if mine is None else (one.sm for one in mine)),
            memory_mib_mean=_sum(None if mine is None else (one.row.memory_mib for one in mine)),
        )

    def _instance(
        self, card: Reading, handle: Any, part: Part, running: tuple[Process, ...] | None
    ) -> Reading:
        """What the instance tells of itself, else what the processes in it use, whoever's tree
        they are in: of a container the agent may know none.
        """
        figures: dict[int, float] = {}
        if part.instance is not None:
            figures = self._gpm.read(card.card, handle, part.instance)
        memory = known(lambda: _memory(part.device)) if part.device else None
        return Reading(
            at=card.at,
            card=card.card,
            sm_mean=figures.get(gpm.SM),
            occupancy_mean=figures.get(gpm.OCCUPANCY),
            bandwidth_mean=figures.get(gpm.BANDWIDTH),
            memory_mib_mean=_within(part, running) if memory is None else memory,
            pcie_mib_s=gpm.both(figures, gpm.PCIE),
        )

    def _over_nvlink(self, at: float, uuid: str, handle: Any) -> float | None:
        fields = known(lambda: pynvml.nvmlDeviceGetFieldValues(handle, [KIB_TX, KIB_RX]))
        if fields is None or any(one.nvmlReturn != pynvml.NVML_SUCCESS for one in fields):
            return None
        kib = sum(int(one.value.ullVal) for one in fields)
        before = self._nvlink.get(uuid)
        self._nvlink[uuid] = (at, kib)
        if before is None or at <= before[0] or kib < before[1]:
            return None
        return (kib - before[1]) / 1024 / (at - before[0])


def _memory(device: str) -> float:
    part = pynvml.nvmlDeviceGetHandleByUUID(device)
    used: float = pynvml.nvmlDeviceGetMemoryInfo(part).used / MIB
    return used


def _pcie(handle: Any) -> float | None:
    sides = [
        known(lambda c=counter: pynvml.nvmlDeviceGetPcieThroughput(handle, c))  # type: ignore[misc]
        for counter in (pynvml.NVML_PCIE_UTIL_TX_BYTES, pynvml.NVML_PCIE_UTIL_RX_BYTES)
    ]
    told = [kib / 1024 for kib in sides if kib is not None]
    return sum(told) if told else None


def _errors(handle: Any, kind: int) -> int | None:
    return known(lambda: int(pynvml.nvmlDeviceGetTotalEccErrors(handle, kind, VOLATILE)))


def _throttle(handle: Any) -> int | None:
    bits = known(lambda: int(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle)))
    if bits is None:
        bits = known(lambda: int(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)))
    return bits


def _processes(handle: Any) -> tuple[Process, ...] | None:
    """Everybody's processes on the card; None when it does not tell."""
    running = known(lambda: occupants(handle))
    if running is None:
        return None
    busy = known(lambda: pynvml.nvmlDeviceGetProcessUtilization(handle, 0))
    newest: dict[int, float] = {}
    for one in sorted(busy or (), key=lambda row: row.timeStamp):
        newest[one.pid] = float(one.smUtil)
    return tuple(
        Process(one, None if busy is None else newest.get(one.pid, 0.0)) for one in running
    )


def _mine(load: Load | None, running: tuple[Process, ...] | None) -> list[Process] | None:
    """Those of the slice's own holder; a slice without one has none."""
    if running is None:
        return None
    return [one for one in running if load is not None and one.row.pid in load.pids]


def _within(part: Part, running: tuple[Process, ...] | None) -> float | None:
    """Memory of the processes in a MIG slice, by its instance and compute instance."""
    if running is None or part.instance is None:
        return None
    rows = inside((one.row for one in running), part.instance, part.compute)
    return _sum(one.memory_mib for one in rows)


def _sum(values: Iterable[float | None] | None) -> float | None:
    """The sum; None as soon as one of them is not known."""
    rows = [] if values is None else list(values)
    if values is None or any(value is None for value in rows):
        return None
    return sum(value for value in rows if value is not None)
