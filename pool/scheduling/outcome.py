"""What one round decided: placements, moves of cards, victims, and why the rest waits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from nodeagent.protocol.vocabulary import Mode


class Reason(StrEnum):
    """Why a workload waits, or why a card or node was filtered out; in the order of the filters."""

    HELD_BACK = "held_back"
    ACCESS = "access"
    VENDOR = "vendor"
    MODEL = "model"
    CAPABILITY = "capability"
    HEALTH = "health"
    NODE_FAILED_IT = "node_failed_it"
    MODE = "mode"
    ISOLATION = "isolation"
    CEILING = "ceiling"
    UNPROVEN = "unproven"
    MEMORY = "memory"
    COMPUTE = "compute"
    ENCODER = "encoder"
    DECODER = "decoder"
    LAYOUT = "layout"
    HEADROOM = "headroom"
    BANDWIDTH = "bandwidth"
    CPU = "cpu"
    HOST_MEMORY = "host_memory"
    DISK = "disk"
    STORAGE = "storage"
    TOPOLOGY = "topology"
    LICENCE = "licence"
    QUOTA = "quota"
    MAINTENANCE = "maintenance"
    RESERVED = "reserved"
    BEHIND = "behind"
    ROUND_FULL = "round_full"
    IMPOSSIBLE = "impossible"


class Level(StrEnum):
    """Where the block lies: never there, there but taken, forbidden by a rule, or behind others."""

    NEVER = "never"
    BUSY = "busy"
    RULE = "rule"
    ORDER = "order"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSlice:
    """A slice to be made. `start` and `size` are None in soft modes; sizes in usable MiB.

    A soft share takes `encoder_units` and `decoder_units` of its card's video engines.
    """

    mode: Mode
    profile: str
    memory_mib: int
    compute_milli: int
    card_micro: int
    start: int | None = None
    size: int | None = None
    encoder_units: int = 0
    decoder_units: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One slice of a placement: either one that exists (`slice`) or one to be made (`new`).

    `card_micro` is its card equivalents in millionths, what quotas and bills count.
    """

    card: int
    card_micro: int
    slice: int | None = None
    new: NewSlice | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPart:
    """The share of one node's CPU, memory and disk that a placement takes."""

    node: int
    cpu_milli: int
    memory_mib: int
    disk_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CarveMove:
    """What must happen to one card before its new slices can be made, in this order.

    First `removes` (idle slices, by id), then the change to `mode` where it is not in it yet,
    with a reset when `reset`. A move touches no held slice.
    """

    card: int
    removes: tuple[int, ...] = ()
    mode: Mode | None = None
    reset: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One workload's start. `moves` must be done first and belong to this start alone.

    `borrowed` says that it goes beyond its tenant's entitlement; `backfilled` that it slips in
    before the head of the queue.
    """

    workload: int
    partition: int
    parts: tuple[Part, ...]
    hosts: tuple[HostPart, ...]
    moves: tuple[CarveMove, ...] = ()
    card_micro: int = 0
    borrowed: bool = False
    backfilled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """How much of one thing was asked and how much the best candidate had, in that unit."""

    unit: str
    needed: int
    free: int
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why one workload waits, exactly.

    `reason` is the filter that the best candidates failed at; `counts` says how many cards
    (nodes for CPU-only work) each filter removed, in filter order; `candidates` how many there
    were to begin with; `position` is its place in the queue from 1. `starts_s` is the planned
    start where one is held; `starts_p50_s` and `starts_p90_s` are when it starts in half and in
    nine tenths of cases, where that was worked out. `rank` is why it stands where it does: the
    band, the share its tenants have used, and the points of class, priority, age and length.
    """

    workload: int
    reason: Reason
    level: Level
    candidates: int = 0
    counts: tuple[tuple[Reason, int], ...] = ()
    shortage: Shortage | None = None
    position: int = 0
    starts_s: float | None = None
    starts_p50_s: float | None = None
    starts_p90_s: float | None = None
    rank: tuple[tuple[str, float], ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """Order one running workload to leave for a winner; all victims of a winner leave together.

    It has `notice_s` to do so. `hand_back` returns a borrowed card to its owner, `overrun` ends
    work that has run past its declared time.
    """

    victim: int
    winner: int
    lost_card_s: float
    hand_back: bool = False
    overrun: bool = False
    notice_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStart:
    """When the head of the queue starts at the latest, and where; backfill must not delay it.

    `placed` is the place it is to get, as far as the planner sees today.
    """

    workload: int
    at_s: float
    cards: frozenset[int]
    nodes: frozenset[int]
    placed: Placed | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Every decision of one round. Commit `placed` in its own order."""

    placed: tuple[Placed, ...] = ()
    waits: Mapping[int, Explanation] = field(default_factory=dict)
    evictions: tuple[Eviction, ...] = ()
    starts: tuple[PlannedStart, ...] = ()
