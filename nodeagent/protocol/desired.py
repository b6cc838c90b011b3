"""What the portal wants of one node, numbered by (epoch, generation)."""

from msgspec import Struct

from nodeagent.protocol.places import Mount, Watched
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


class Launch(Struct, frozen=True, kw_only=True):
    """What one rank of a gang must know of the others; one rank a node.

    `hosts` (addresses) and `slots` (cards or slices) stand in the order of the ranks. `port` is on
    the first host: 0 while its agent has not told which one it chose, and until then no other
    rank starts. `timeout_s` is how long the ranks may wait for each other.
    """

    rank: int
    size: int
    hosts: tuple[str, ...]
    slots: tuple[int, ...]
    port: int = 0
    timeout_s: int = 600


class Notice(Struct, frozen=True, kw_only=True):
    """Running work shall give way. `seconds` were left when the wish was written.

    The deadline (the portal's clock) belongs to the order: it is stopped then at the latest.
    """

    order: str
    kind: str
    seconds: float
    deadline: float
    reason: str = ""


class WantedWork(Struct, frozen=True, kw_only=True):
    """An attempt that shall run, or shall stop. Times in seconds, memory and disk in MiB.

    `notice` tells it to leave; `draining` takes it out of routing. `resume_step` and `resume_path`
    are the newest checkpoint of its earlier attempts. `home` names the folder
    that a notebook's person keeps between runs. `secret_env` and `secret_files` are told only
    until it has started, and are never kept; `missing` names what it should be given and is gone,
    so that it is refused. `folder` holds its programs, in a subfolder bin. `group` is
    the number of the Unix group of all work of its project, 0 for none.
    """

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
    min_driver: str = ""
    notice: Notice | None = None
    draining: bool = False
    resume_step: int | None = None
    resume_path: str = ""
    launch: Launch | None = None
    home: str = ""
    mounts: tuple[Mount, ...] = ()
    secret_env: dict[str, str] = {}
    secret_files: dict[str, str] = {}
    missing: tuple[str, ...] = ()
    folder: str = ""
    group: int = 0


class Desired(Struct, frozen=True, kw_only=True):
    """The whole wish for one node. `closed` names attempts whose end the books have taken in."""

    epoch: int
    generation: int
    slices: tuple[WantedSlice, ...] = ()
    work: tuple[WantedWork, ...] = ()
    closed: tuple[str, ...] = ()
    observe: bool = False
    drain: bool = False
    watched: tuple[Watched, ...] = ()
