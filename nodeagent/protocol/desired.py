"""What the portal wants of one node, numbered by (epoch, generation)."""

from msgspec import Struct

from nodeagent.protocol.vocabulary import Mode, Silence, WorkloadKind, WorkWanted


class WantedSlice(Struct, frozen=True, kw_only=True):
    """A slice that shall exist. Soft slices have no place: `start` and `size` are None.

    `compute_milli` is in thousandths of the card; memory in usable MiB.
    """

    uid: str
    card: str
    mode: Mode
    profile: str
    memory_mib: int
    compute_milli: int
    start: int | None = None
    size: int | None = None


class WantedWork(Struct, frozen=True, kw_only=True):
    """An attempt that shall run, or shall stop. Times in seconds, memory and disk in MiB."""

    attempt: str
    workload: str
    number: int
    kind: WorkloadKind
    wanted: WorkWanted
    slices: tuple[str, ...]
    account: str
    command: tuple[str, ...] = ()
    env: dict[str, str] = {}
    files: dict[str, str] = {}
    cpu_milli: int = 0
    memory_mib: int = 0
    disk_mib: int = 0
    grace_s: int = 30
    start_limit_s: int = 300
    log_limit_bytes: int = 16 * 1024 * 1024
    silence: Silence = Silence.KEEP
    stop_reason: str = ""
    runner: str = "process"
    image: str = ""


class Desired(Struct, frozen=True, kw_only=True):
    """The whole wish for one node. `closed` names attempts whose end the books have taken in."""

    epoch: int
    generation: int
    slices: tuple[WantedSlice, ...] = ()
    work: tuple[WantedWork, ...] = ()
    closed: tuple[str, ...] = ()
    observe: bool = False
    drain: bool = False
