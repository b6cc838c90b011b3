"""What every runner must do: each verb is safe to repeat; an attempt runs at most once, ever."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from nodeagent.diskuse import DiskUse
from nodeagent.giveway.keeper import GiveWay
from nodeagent.notebooks.keeper import Notebooks
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.inventory import Host
from nodeagent.protocol.report import FoundSlice, FoundWork, Origin
from nodeagent.protocol.vocabulary import ExitReason, Vendor
from nodeagent.records import Record
from nodeagent.throughput.keeper import Throughput


class StartFailed(Exception):
    """The attempt could not be started; its end is on disk and travels in the next report."""


@dataclass(frozen=True)
class Order:
    """All that is needed to start one attempt."""

    work: WantedWork
    slices: tuple[FoundSlice, ...]
    vendor: Vendor
    fence_s: float
    lease_at: float
    devices: tuple[str, ...] = ()
    """Files under /dev that its slices are reached through."""
    numa: tuple[int, ...] = ()
    """The NUMA nodes beside its cards, where the node knows them."""
    told: dict[str, str] = field(default_factory=dict)
    """What its slices' driver wants in its environment: it wins over the job's own."""
    origin: Origin | None = None
    """As what it is wanted: remembered for books that may one day not know it."""
    delay_s: float = 0.0
    """Rehearsed slowness of the start, once it is accepted; only simulated nodes have any."""


class Runner(Protocol):
    """Starts, stops, cleans and remembers attempts of one node."""

    kinds: tuple[str, ...]
    """What it can run: processes, and containers where an engine answered."""
    own: tuple[Path, ...]
    """Folders of the agent and of all jobs: they are never given to work as storage."""
    records: dict[str, Record]
    giveway: GiveWay
    notebooks: Notebooks
    throughput: Throughput
    disk: DiskUse
    sides: tuple[GiveWay | Notebooks | Throughput | DiskUse, ...]
    """What looks after running attempts, each in a loop of its own."""
    changed: Callable[[], None]
    listed_at: Callable[[str], float]
    """Since when an attempt is wanted here (CLOCK_BOOTTIME): its time counts from there."""

    async def adopt(self) -> None:
        """Find what runs or ended before this agent started; called once."""

    async def start(self, order: Order) -> None:
        """Run the attempt unless it ever ran. Returns when its process is there.

        Raises:
            StartFailed
        """

    async def stop(self, attempt: str, reason: ExitReason, grace_s: float, rank: int = 0) -> None:
        """Ask it to end: signal, grace, kill. One that never started is ended on the spot."""

    async def clean(self, attempt: str) -> None:
        """Return when no process of it is left and its temporary folder is gone."""

    def removed(self, attempt: str, words: tuple[str, ...]) -> None:
        """Keep what was found of it after its end and taken away, for its report."""

    def refuse(self, work: WantedWork, why: str) -> None:
        """End an attempt that cannot start here, for good."""

    def cleaned(self, attempt: str) -> None:
        """Its slices are clean as well: stop the attempt's clock."""

    def forget(self, attempt: str) -> None:
        """The books have taken the end in."""

    def buried(self, attempt: str) -> FoundWork | None:
        """How an attempt ended that was forgotten since; None when it never was here."""

    def claims(self, host: Host) -> Host:
        """The host with what this runner was seen to keep apart; a simulated one says it itself."""

    def renew(self, lease_at: float) -> None:
        """The portal answered a request sent at that CLOCK_BOOTTIME."""

    def reserved(self) -> dict[str, int | None]:
        """Card memory in MiB that running attempts say they reserved; None: it says nothing."""

    def kill_everything(self) -> None:
        """The node was rebooted: nothing of before may live on. Blocks: not for the loop."""

    def close(self) -> None:
        """Let go of what is watched; everything goes on running."""
