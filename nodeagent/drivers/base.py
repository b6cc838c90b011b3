"""What every driver must do, and the four ways in which a card may say no."""

from dataclasses import dataclass
from typing import Protocol

from msgspec.structs import replace

from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card, Host
from nodeagent.protocol.report import CardHealth, FoundSlice
from nodeagent.protocol.samples import Reading
from nodeagent.protocol.vocabulary import Mode, Vendor

KEPT, KEPT_BY_LISTED = 0.1, 0.15
"""Share of a whole card that its driver may keep for itself: NPUs and cards of their kind keep
gigabytes. What is clean by this is free by this as well, or nothing would ever start there.
"""


def kept(vendor: Vendor) -> float:
    """The share of such a card that may be taken though nobody uses it."""
    return KEPT_BY_LISTED if vendor in (Vendor.AMD, Vendor.ASCEND) else KEPT


class DriverError(Exception):
    """A card did not do what was asked; the text travels to the portal as the step's reason."""


class NotSupported(DriverError):
    """This card, driver or account can never do that."""


class Busy(DriverError):
    """Something uses the card or slice now; the same call may succeed later."""


class Lost(DriverError):
    """The card does not answer any more."""


class Refused(DriverError):
    """The card said no: place occupied, too many, not enough room. The same call fails again."""


@dataclass(frozen=True)
class Load:
    """What runs on one slice, as the host sees it. None is unknown.

    `cpu` is the process tree's use in CPU cores; `reserved_mib` what a workload says it reserved;
    `pids` are the processes of that tree, the rates are its traffic with disks and network.
    """

    slice: str
    attempt: str
    cpu: float | None = None
    ram_mib: float | None = None
    reserved_mib: int | None = None
    pids: frozenset[int] = frozenset()
    disk_mib_s: float | None = None
    net_mib_s: float | None = None


def beside(row: Reading, uid: str, load: Load | None) -> Reading:
    """The row of a slice, with what its holder uses of the host."""
    if load is None:
        return replace(row, slice=uid)
    return replace(
        row,
        slice=uid,
        attempt=load.attempt,
        cpu_milli_mean=None if load.cpu is None else load.cpu * 1000,
        ram_mib_mean=load.ram_mib,
        disk_mib_s=load.disk_mib_s,
        net_mib_s=load.net_mib_s,
    )


class Driver(Protocol):
    """One node's cards. Every call is safe to repeat; none may hang for ever."""

    name: str

    async def open(self) -> None:
        """Get ready; called once before anything else."""

    def boot_id(self) -> str:
        """Names this boot: when it changes, slices and processes of before are gone."""

    async def host(self) -> Host:
        """The machine round the cards."""

    async def inventory(self) -> tuple[Card, ...]:
        """The cards and how each can be cut."""

    async def modes(self) -> dict[str, Mode]:
        """The mode each card is in now; lost cards are absent."""

    async def slices(self) -> tuple[FoundSlice, ...]:
        """The slices there are, named where this driver still knows the name given at creation."""

    async def set_mode(self, card: str, mode: Mode) -> None:
        """Put an empty card into a mode; nothing to do when it already is.

        Raises:
            NotSupported, Busy, Lost, Refused
        """

    async def create_slice(self, wanted: WantedSlice) -> FoundSlice:
        """Cut a slice at exactly its place; returns the one that is there when it already is.

        Raises:
            NotSupported, Busy, Lost, Refused
        """

    async def delete_slice(self, uid: str) -> None:
        """Take a slice away; nothing to do when it is gone.

        Raises:
            Busy, Lost, Refused
        """

    async def clean_slice(self, uid: str) -> None:
        """Look once whether nothing of the last holder is left in the slice; a slice that is not
        there is clean, and a card that does not tell is believed.

        Raises:
            Busy: its memory is not back; the text says how much is missing.
            Lost: the card does not answer.
        """

    def environment(self, uid: str) -> dict[str, str]:
        """What a job on this slice must be told beside its device: where its server is, limits."""

    def start_delay_s(self) -> float:
        """Seconds that a start takes here beyond the process: 0 on real cards, else as scripted."""

    async def device_nodes(self, slices: tuple[FoundSlice, ...]) -> tuple[str, ...]:
        """Files under /dev that a holder of these slices must be able to open; no others."""

    async def free_mib(self, one: FoundSlice) -> int | None:
        """Memory that nobody uses at this moment, of a MIG slice in its own instance, else of its
        card; None when it does not tell."""

    async def health(self) -> tuple[CardHealth, ...]:
        """How each card does."""

    async def sample(self, at: float, loads: tuple[Load, ...]) -> tuple[Reading, ...]:
        """One reading per card and per slice; unknown values are None."""
