"""Who wants what, who runs, and what is promised: the demand side of a snapshot."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor, WorkloadKind
from pool.scheduling.outcome import Shortage


class PriorityClass(StrEnum):
    """Classes that count across tenants; critical is granted and budgeted."""

    CRITICAL = "critical"
    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"
    SCAVENGER = "scavenger"


class Topology(StrEnum):
    """How the parts of one workload must lie.

    NODE keeps all on one node, LINKED inside one NVLink domain of it, NETWORK lets a gang span
    nodes of one network domain, WHOLE_NODES takes nodes with nothing else on them, SPREAD puts
    each part on another node, ANYWHERE lets a gang span any nodes.
    """

    NODE = "node"
    LINKED = "linked"
    NETWORK = "network"
    WHOLE_NODES = "whole_nodes"
    SPREAD = "spread"
    ANYWHERE = "anywhere"


class QuotaKind(StrEnum):
    """A limit gates the start; an entitlement decides whether the start is borrowed."""

    LIMIT = "limit"
    ENTITLEMENT = "entitlement"


class Unit(StrEnum):
    """What a quota row counts: card equivalents in millionths of a card, or host units."""

    CARD_MICRO = "card_micro"
    CPU_MILLI = "cpu_milli"
    MEMORY_MIB = "memory_mib"
    DISK_MIB = "disk_mib"


def gang_runner(runner: str) -> str:
    """What a node must be able to do for a rank of a gang, beside running work in that way."""
    return f"gang:{runner}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What one workload needs: `parts` equal parts, plus CPU, RAM and disk for all together.

    A part is a whole card when `whole`; else a share by `memory_gb` (nominal), `memory_mib`
    (usable, absolute), `compute_milli` (thousandths of a card), or by `profile` name.
    `share_milli` asks for the same share of both; `proportional` raises a soft share's compute to
    what its memory is in proportion. `parts` 0 means CPU only. Empty `vendors`,
    `labels`, `modes` and friends mean any; `modes` is in order of preference. `min_size_gb` is
    the template's smallest slice (nominal). `nodes` is on how many nodes a gang lies, with the
    same number of parts on each; 0 is as few as it fits on. `encoder_units` and `decoder_units`
    are video engines that each part has to itself; `encoder` alone asks for a card that has one.
    """

    parts: int = 1
    nodes: int = 0
    whole: bool = False
    memory_gb: int | None = None
    memory_mib: int | None = None
    compute_milli: int | None = None
    share_milli: int | None = None
    proportional: bool = False
    profile: str = ""
    min_size_gb: int = 0
    modes: tuple[Mode, ...] = ()
    vendors: frozenset[Vendor] = frozenset()
    labels: frozenset[str] = frozenset()
    architectures: frozenset[str] = frozenset()
    isolation: Isolation | None = None
    encoder: bool = False
    encoder_units: int = 0
    decoder_units: int = 0
    graphics: bool = False
    min_driver: str = ""
    min_compute_capability: str = ""
    topology: Topology = Topology.NODE
    cpu_milli: int = 0
    host_memory_mib: int = 0
    disk_mib: int = 0
    node_labels: frozenset[str] = frozenset()
    storage: frozenset[str] = frozenset()
    runner: str = "process"
    heavy_bandwidth: bool = False


TRAINING = frozenset({"training", "pretraining"})
"""Purposes whose work is lost without a checkpoint (requirement S6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A queued workload. Times in seconds since the epoch.

    `tenants` runs from the outermost to the innermost: organization, project, member, as keys
    that `Quota` and `TenantShare` use. `trust` is its trust group. `declared_s` is the owner's
    duration, `p90_ratio` how far past it the owner's work has run. `held_back` is a reason not
    to start it now (on hold, dependency, throttle), shown word for word. `avoid` names nodes
    that failed it. `kept` are the cards that its reserved lease keeps: it runs on no others, and
    its organization's and project's rows count them already. `checkpointed` work has written a
    checkpoint in some attempt. `spent` are limits that the planner does not count and that are
    used up, by tenant and partition: who leaves for the work must give back of them. `short` says
    what is missing when such a limit stops it in each of its partitions: it keeps no room from
    others then. Nobody leaves for `over` work: nobody runs who could give back of that limit.
    `endpoint` names those that serve together: they lie apart.
    """

    id: int
    uid: str
    tenants: tuple[str, ...]
    trust: str
    need: Need
    partitions: tuple[int, ...]
    submitted_s: float
    kind: WorkloadKind = WorkloadKind.JOB
    purpose: str = "training"
    priority_class: PriorityClass = PriorityClass.NORMAL
    priority: int = 0
    declared_s: float | None = None
    p90_ratio: float = 1.0
    held_back: str = ""
    not_before_s: float = 0.0
    avoid: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    checkpointed: bool = False
    preemptible: bool = False
    interrupted: bool = False
    over: bool = False
    spent: frozenset[tuple[str, int]] = frozenset()
    short: Shortage | None = None
    attempts: int = 0
    endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Work that holds slices or host shares now, as victim and as room to come.

    `slices` and `hosts` (node id, cpu, memory, disk) are what it holds. `ends_s` is when it is
    expected to end, None when nobody knows. `lost_since_s` is its last checkpoint, or its start.
    `p90_ratio` is how far past its declared duration its owner's work has run. `leaving` work is
    on its way out, `interrupted` when it was told to give way. `endpoint` names those that serve
    together, of which `spare` may leave; None means any number. `notice_s` is the time it has to
    leave, None for the rule's.
    """

    id: int
    uid: str
    tenants: tuple[str, ...]
    trust: str
    purpose: str
    priority_class: PriorityClass
    started_s: float
    slices: tuple[int, ...] = ()
    hosts: tuple[tuple[int, int, int, int], ...] = ()
    kind: WorkloadKind = WorkloadKind.JOB
    partition: int = 0
    card_micro: int = 0
    ends_s: float | None = None
    lost_since_s: float = 0.0
    checkpointed: bool = False
    preemptible: bool = False
    borrowed: bool = False
    leaving: bool = False
    interrupted: bool = False
    protected_until_s: float = 0.0
    p90_ratio: float = 1.0
    endpoint: str = ""
    spare: int | None = None
    notice_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One quota row. `label` None counts host units; `partition` None counts all partitions.

    An `only` row names a kind of card that its tenant may use: where there are such rows, a kind
    that none of them names is barred. `within` are the tenants that its tenant is part of, the
    innermost first; only a guarantee need name them.
    """

    id: int
    tenant: str
    kind: QuotaKind
    unit: Unit
    limit: int
    held: int
    partition: int | None = None
    label: str | None = None
    only: bool = False
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantShare:
    """One tenant in the fair-share tree. `usage` is card-seconds, decayed."""

    tenant: str
    parent: str | None = None
    weight: float = 1.0
    usage: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Cards kept for `tenants` from `starts_s` to `ends_s`; free to all outside that time.

    Where it `lends`, preemptible work may have them meanwhile: it gives way to the owner.
    """

    id: int
    cards: frozenset[int]
    tenants: frozenset[str]
    starts_s: float
    ends_s: float
    lends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Maintenance: nothing that would overlap it starts on these cards and nodes."""

    id: int
    cards: frozenset[int]
    nodes: frozenset[int]
    starts_s: float
    ends_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Freed or freeing room that only one workload may take until a deadline (no thrash)."""

    workload: int
    cards: frozenset[int]
    nodes: frozenset[int]
    until_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """One kind of need seen lately and how often, for the score that avoids fragments."""

    need: Need
    weight: float


def by_tenant(rows: Iterable[Quota]) -> dict[str, list[Quota]]:
    """The rows of each tenant, by id."""
    found: dict[str, list[Quota]] = {}
    for row in sorted(rows, key=lambda one: one.id):
        found.setdefault(row.tenant, []).append(row)
    return found
