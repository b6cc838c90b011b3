"""Readings every two seconds, rows of ten; batches wait in memory while the portal is away."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from msgspec.structs import asdict

from nodeagent import clock, processes
from nodeagent.drivers.base import Load
from nodeagent.limits import Use
from nodeagent.protocol.samples import Reading, SampleBatch
from nodeagent.records import Record

READ_EVERY_S = 2.0
ROW_S = 10.0
KEPT_BATCHES = 360
"""An hour of rows; older ones are dropped first, since the newest tell most."""

MEANS = (
    *("util_mean", "sm_mean", "occupancy_mean", "memory_mib_mean", "bandwidth_mean"),
    *("pcie_mib_s", "nvlink_mib_s", "power_w_mean", "cpu_milli_mean", "ram_mib_mean"),
    *("disk_mib_s", "net_mib_s", "encoder_mean", "decoder_mean"),
)
TOPS = {
    "util_max": "util_mean",
    "sm_max": "sm_mean",
    "memory_mib_max": "memory_mib_mean",
    "power_w_max": "power_w_mean",
    "temperature_c_max": "temperature_c_max",
}
MIB = 1024 * 1024


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
    """Cores and MiB of the host that one process tree uses; None is not yet known."""

    cpu: float | None
    ram_mib: float
    pids: frozenset[int] = frozenset()


def loads(
    records: Iterable[Record], usage: dict[str, Usage], reserved: dict[str, int | None]
) -> tuple[Load, ...]:
    """The same, slice by slice, for the driver that has to estimate."""
    return tuple(
        Load(
            uid,
            r.attempt,
            usage[r.attempt].cpu,
            usage[r.attempt].ram_mib,
            reserved.get(r.attempt),
            usage[r.attempt].pids,
        )
        for r in records
        if r.attempt in usage
        for uid in r.slices
    )


def uses(
    records: Iterable[Record], usage: dict[str, Usage], reserved: dict[str, int | None]
) -> list[Use]:
    """The same beside what each attempt may use, for the limits."""
    return [
        Use(
            r.attempt,
            usage[r.attempt].ram_mib,
            r.memory_mib,
            reserved.get(r.attempt),
            r.card_mib,
        )
        for r in records
        if r.attempt in usage
    ]


class Telemetry:
    """Collects readings of one node into numbered batches."""

    def __init__(self) -> None:
        self._readings: dict[tuple[str, str | None, str | None], list[Reading]] = {}
        self._batches: deque[SampleBatch] = deque(maxlen=KEPT_BATCHES)
        self._sequence = 0
        self._cpu: dict[str, tuple[float, int]] = {}

    def take(self, readings: Iterable[Reading]) -> None:
        """Add one look at the cards."""
        for reading in readings:
            key = (reading.card, reading.slice, reading.attempt)
            self._readings.setdefault(key, []).append(reading)

    def pack(self, boot_id: str) -> None:
        """Turn the readings since the last time into one batch, even an empty one."""
        rows = tuple(row(readings) for readings in self._readings.values())
        self._readings.clear()
        self._sequence += 1
        self._batches.append(
            SampleBatch(
                boot_id=boot_id, sequence=self._sequence, sent_at=clock.wall(), readings=rows
            )
        )

    def oldest(self) -> SampleBatch | None:
        """The batch that is next to be handed in."""
        return self._batches[0] if self._batches else None

    def handed_in(self, batch: SampleBatch) -> None:
        """The portal has it."""
        if self._batches and self._batches[0] is batch:
            self._batches.popleft()

    def usage(self, records: Iterable[Record]) -> dict[str, Usage]:
        """What the process tree of each running attempt uses of the host."""
        running = [r for r in records if r.ended_at is None and r.shim_pid]
        if not running:
            self._cpu.clear()
            return {}
        seen = processes.snapshot()
        found: dict[str, Usage] = {}
        for record in running:
            tree = processes.below(record.shim_pid, seen)
            cpu = self._cores(record.attempt, sum(p.cpu_ticks for p in tree))
            ram = sum(p.rss_bytes for p in tree) / MIB
            record.peak_memory_mib = max(record.peak_memory_mib or 0, int(ram))
            pids = frozenset(process.pid for process in tree)
            found[record.attempt] = Usage(cpu, ram, pids)
        return found

    def _cores(self, attempt: str, ticks: int) -> float | None:
        """Cores in use since the last look; None at the first."""
        at = clock.boottime()
        before = self._cpu.get(attempt)
        self._cpu[attempt] = (at, ticks)
        if before is None or at <= before[0]:
            return None
        return max(ticks - before[1], 0) / processes.TICKS_PER_S / (at - before[0])
