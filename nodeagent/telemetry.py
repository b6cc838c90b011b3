"""Readings every two seconds, rows of ten; batches wait while the portal is away."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from msgspec.structs import asdict, replace

from nodeagent import clock, processes
from nodeagent.backlog import Backlog
from nodeagent.drivers.base import Load
from nodeagent.limits import Use
from nodeagent.protocol.samples import Reading, SampleBatch
from nodeagent.protocol.vocabulary import Fidelity
from nodeagent.records import Record
from nodeagent.runners import inside
from nodeagent.traffic import Traffic

READ_EVERY_S = 2.0
ROW_S = 10.0
MEANS = (
    *("util_mean", "sm_mean", "occupancy_mean", "memory_mib_mean", "bandwidth_mean"),
    *("pcie_mib_s", "nvlink_mib_s", "power_w_mean", "cpu_milli_mean", "ram_mib_mean"),
    *("disk_mib_s", "net_mib_s", "encoder_mean", "decoder_mean"),
    *("samples_s", "tokens_s", "queries_s", "latency_ms"),
)
TOPS = {
    "util_max": "util_mean",
    "sm_max": "sm_mean",
    "memory_mib_max": "memory_mib_mean",
    "power_w_max": "power_w_mean",
    "temperature_c_max": "temperature_c_max",
}
MIB = 1024 * 1024
SENSIBLE = {
    **dict.fromkeys(("util_mean", "sm_mean", "occupancy_mean", "bandwidth_mean"), (0.0, 100.5)),
    **dict.fromkeys(("encoder_mean", "decoder_mean"), (0.0, 100.5)),
    "memory_mib_mean": (0.0, 4.0 * 1024 * 1024),
    "power_w_mean": (0.0, 5000.0),
    "temperature_c_max": (-50.0, 200.0),
    **dict.fromkeys(("pcie_mib_s", "nvlink_mib_s", "disk_mib_s", "net_mib_s"), (0.0, 1e7)),
    "pcie_width": (1, 64),
    "pcie_generation": (1, 9),
}
"""What a card can show at all, in the units of a reading. Anything else is unknown."""


def sensible(reading: Reading) -> Reading:
    """The reading without values that cannot be: they come from dead counters and blanks."""
    wrong = {
        name: None
        for name, (low, high) in SENSIBLE.items()
        if (value := getattr(reading, name)) is not None and not low <= value <= high
    }
    return replace(reading, **wrong) if wrong else reading


def row(readings: list[Reading]) -> Reading:
    """Several readings of one card or slice as one row. What was never known stays None."""
    last = readings[-1]
    values = asdict(last)
    for name in MEANS:
        known = [v for v in (getattr(r, name) for r in readings) if v is not None]
        values[name] = fmean(known) if known else None
    for name, source in TOPS.items():
        known = [v for v in (getattr(r, source) for r in readings) if v is not None]
        values[name] = max(known) if known else None
    values["seconds"] = READ_EVERY_S * len(readings)
    return Reading(**values)


@dataclass(frozen=True)
class Usage:
    """Cores, MiB and MiB/s of the host that one process tree uses; None is not known (yet)."""

    cpu: float | None
    ram_mib: float
    pids: frozenset[int] = frozenset()
    disk_mib_s: float | None = None
    net_mib_s: float | None = None


def loads(
    records: Iterable[Record], usage: dict[str, Usage], reserved: dict[str, int | None]
) -> tuple[Load, ...]:
    """The same, slice by slice, for the driver that has to estimate.

    Disk and network stand beside the first slice alone: over several they would be added up.
    """
    return tuple(
        Load(
            uid,
            r.attempt,
            usage[r.attempt].cpu,
            usage[r.attempt].ram_mib,
            reserved.get(r.attempt),
            usage[r.attempt].pids,
            None if place else usage[r.attempt].disk_mib_s,
            None if place else usage[r.attempt].net_mib_s,
        )
        for r in records
        if r.attempt in usage
        for place, uid in enumerate(r.slices)
    )


def uses(
    records: Sequence[Record],
    usage: dict[str, Usage],
    reserved: dict[str, int | None],
    readings: Iterable[Reading] = (),
) -> list[Use]:
    """The same beside what each attempt may use, for the limits.

    Card memory is what was measured over all its processes and slices; only where that is not
    known it is what the job itself says. The most of it so far stays in the attempt's record.
    """
    readings = list(readings)
    measured = _summed(one for one in readings if one.fidelity == Fidelity.MEASURED)
    peaks = _summed(readings)
    for r in records:
        if r.attempt in peaks:
            r.peak_memory_mib = max(r.peak_memory_mib or 0, round(peaks[r.attempt]))
    return [
        Use(
            r.attempt,
            usage[r.attempt].ram_mib,
            r.memory_mib,
            measured.get(r.attempt, reserved.get(r.attempt)),
            r.card_mib,
        )
        for r in records
        if r.attempt in usage
    ]


def _summed(readings: Iterable[Reading]) -> dict[str, float]:
    """Card memory of each attempt in MiB; absent as soon as one of its slices does not tell."""
    sums: dict[str, float | None] = {}
    for one in readings:
        if one.slice is None or one.attempt is None:
            continue
        before = sums.get(one.attempt, 0.0)
        known = before is not None and one.memory_mib_mean is not None
        sums[one.attempt] = (before or 0.0) + (one.memory_mib_mean or 0.0) if known else None
    return {attempt: size for attempt, size in sums.items() if size is not None}


class Telemetry:
    """Collects readings of one node into numbered batches."""

    def __init__(self, folder: Path | None = None) -> None:
        self._readings: dict[tuple[str, str | None, str | None], list[Reading]] = {}
        self._backlog = Backlog(folder)
        self._sequence = 0
        self._cpu: dict[str, tuple[float, int]] = {}
        self._traffic = Traffic()

    def take(self, readings: Iterable[Reading]) -> None:
        """Add one look at the cards."""
        for reading in map(sensible, readings):
            key = (reading.card, reading.slice, reading.attempt)
            self._readings.setdefault(key, []).append(reading)

    def pack(self, boot_id: str) -> None:
        """Turn the readings since the last time into one batch, even an empty one."""
        rows = tuple(row(readings) for readings in self._readings.values())
        self._readings.clear()
        # Grows over restarts of the agent too: a number that was seen is not taken again.
        self._sequence = max(self._sequence + 1, int(clock.boottime() * 1000))
        self._backlog.put(
            SampleBatch(
                boot_id=boot_id, sequence=self._sequence, sent_at=clock.wall(), readings=rows
            )
        )

    def oldest(self) -> SampleBatch | None:
        """The batch that is next to be handed in."""
        return self._backlog.oldest()

    def handed_in(self, batch: SampleBatch) -> None:
        """The portal has it."""
        self._backlog.taken(batch)

    def close(self) -> None:
        """Keep what was not handed in for the next agent."""
        self._backlog.save()

    def usage(self, records: Iterable[Record]) -> dict[str, Usage]:
        """What the process tree of each running attempt uses of the host; of one in a container
        what runs inside, wherever the engine hung it.
        """
        running = [r for r in records if r.ended_at is None and r.shim_pid]
        if not running:
            self._cpu.clear()
            self._traffic.keep(())
            return {}
        seen = processes.snapshot()
        boxes = {
            r.attempt: inside.number_in(r.folder / inside.FILE) for r in running if r.container
        }
        within = inside.members(seen, frozenset(filter(None, boxes.values())))
        found: dict[str, Usage] = {}
        for record in running:
            tree = processes.below(record.shim_pid, seen)
            known = {process.pid for process in tree}
            more = within.get(boxes.get(record.attempt, ""), set()) - known
            tree += [seen[pid] for pid in sorted(more)]
            cpu = self._cores(record.attempt, sum(p.cpu_ticks for p in tree))
            ram = sum(p.rss_bytes for p in tree) / MIB
            pids = frozenset(process.pid for process in tree)
            disk, net = self._traffic.rates(record.attempt, pids)
            found[record.attempt] = Usage(cpu, ram, pids, disk, net)
        self._traffic.keep(found)
        return found

    def _cores(self, attempt: str, ticks: int) -> float | None:
        """Cores in use since the last look; None at the first."""
        at = clock.boottime()
        before = self._cpu.get(attempt)
        self._cpu[attempt] = (at, ticks)
        if before is None or at <= before[0]:
            return None
        return max(ticks - before[1], 0) / processes.TICKS_PER_S / (at - before[0])
