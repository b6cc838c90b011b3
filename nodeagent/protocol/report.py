"""What a node found, and how each step went."""

from msgspec import Struct

from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.notebooks import NotebookSeen
from nodeagent.protocol.places import Place
from nodeagent.protocol.vocabulary import (
    ExitReason,
    Mode,
    SliceFound,
    StepKind,
    WorkFound,
    WorkloadKind,
)


class FoundSlice(Struct, frozen=True, kw_only=True):
    """A slice on the card. `uid` is None when the books never named it."""

    uid: str | None
    card: str
    mode: Mode
    profile: str
    state: SliceFound
    memory_mib: int
    start: int | None = None
    size: int | None = None
    device: str = ""
    reason: str = ""


class Origin(Struct, frozen=True, kw_only=True):
    """As what an attempt was once wanted here; memory and disk in MiB.

    Told of work that the wish in force does not know, so that a person can take it into the books.
    """

    kind: WorkloadKind
    number: int
    project: str
    account: str
    command: tuple[str, ...] = ()
    slices: tuple[WantedSlice, ...] = ()
    cpu_milli: int = 0
    memory_mib: int = 0
    disk_mib: int = 0
    grace_s: int = 30
    runner: str = "process"
    image: str = ""
    size: int = 1


class FoundWork(Struct, frozen=True, kw_only=True):
    """An attempt on the node.

    `clean` is true once its processes are gone, memory is back and its slices are clean: only
    then do the books end the placement. `held_s` counts CLOCK_BOOTTIME from the moment the wish
    first listed the attempt to `clean_at`, however late the report comes. Exit code after a signal
    is minus the signal's number. `rank` is its place in a gang; rank 0 tells the `port` that it
    chose for all to meet. `peak_memory_mib` is the most card memory that all its processes had at
    once. `unclean` says why it is not clean yet, once cleaning was tried; `removed` names what was
    found of it afterwards and taken away. `origin` is told only of work that the wish in force does
    not list.
    """

    attempt: str
    workload: str
    state: WorkFound
    rank: int = 0
    port: int = 0
    pid: int | None = None
    started_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    exit_reason: ExitReason | None = None
    message: str = ""
    clean: bool = False
    held_s: float | None = None
    clean_at: float | None = None
    log_bytes: int = 0
    peak_memory_mib: int | None = None
    checkpoint_step: int | None = None
    checkpoint_at: float | None = None
    checkpoint_path: str = ""
    notice: str = ""
    noticed_at: float | None = None
    acked_at: float | None = None
    origin: Origin | None = None
    notebook: NotebookSeen | None = None
    unclean: str = ""
    removed: tuple[str, ...] = ()


class CardError(Struct, frozen=True, kw_only=True):
    """One error that a card told of. `seq` grows with each on its node, so a repeat is seen.

    `number` is the vendor's own (XID), 0 for memory errors that were counted. `asks` says what it
    asks for: warn, workload (the job alone), clean_period, or reset. `slice` is "" when unknown.
    """

    seq: int
    number: int
    asks: str
    words: str = ""
    slice: str = ""


class CardHealth(Struct, frozen=True, kw_only=True):
    """How a card does: ok, partial, lost, silent, contested, reset_needed.

    `errors` are the newest ones; they are told again and again, and count once.
    """

    uuid: str
    health: str
    reason: str = ""
    foreign: tuple[str, ...] = ()
    xids: tuple[int, ...] = ()
    errors: tuple[CardError, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True):
    """One step, tried once. A step that is only put off, as its card is busy, has none."""

    step: StepKind
    target: str
    ok: bool
    reason: str = ""
    took_s: float = 0.0


class Report(Struct, frozen=True, kw_only=True):
    """What is. `generation` is the newest one whose every step has been tried.

    `places` are the watched folders; None while the node has not looked.
    """

    epoch: int
    generation: int
    boot_id: str
    sent_at: float
    slices: tuple[FoundSlice, ...] = ()
    work: tuple[FoundWork, ...] = ()
    cards: tuple[CardHealth, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    places: tuple[Place, ...] | None = None


class Taken(Struct, frozen=True, kw_only=True):
    """The portal's receipt: the ends that the books have taken in; the agent may forget them.

    `hello` asks the node to introduce itself again: the books have given it up. `generation` is the
    number of the newest wish, so that nobody has to ask apart; an older portal does not tell it.
    """

    epoch: int
    closed: tuple[str, ...] = ()
    wake: bool = False
    hello: bool = False
    generation: int | None = None
