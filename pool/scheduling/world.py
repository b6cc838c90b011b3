"""What the pool has at one instant: nodes, cards, slices, and the partitions they belong to."""

from dataclasses import dataclass
from enum import StrEnum

from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import Mode, Vendor


class SliceStage(StrEnum):
    """What the planner may do with a slice, whatever the books call its state.

    READY and COMING (planned, creating, cleaning) may be given to work when nobody holds them;
    READY may be removed when idle; GOING (deleting) and BROKEN (failed, lost) only take up their
    place.
    """

    READY = "ready"
    COMING = "coming"
    GOING = "going"
    BROKEN = "broken"


class Policy(StrEnum):
    """How a partition fills its cards: fewest fragments, fullest first, or emptiest first."""

    FRAGMENTATION = "fragmentation"
    BINPACK = "binpack"
    SPREAD = "spread"


class CeilingScope(StrEnum):
    """What a class ceiling bounds (requirement P7)."""

    CARD_SUM = "card_sum"
    PER_WORKLOAD = "per_workload"
    CARD_SPLIT = "card_split"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """One machine. Cores in thousandths, memory and disk in MiB; *free* may fall below zero.

    `trust` is the trust group of the work on it now; it binds newcomers only while the node lacks
    `identity` or `fence`. `offered` is false when cordoned, draining, silent, observed or lost.
    """

    id: int
    name: str
    cpu_milli: int
    memory_mib: int
    disk_mib: int
    cpu_free_milli: int
    memory_free_mib: int
    disk_free_mib: int
    partition: int | None = None
    rack: str = ""
    network: str = ""
    arch: str = ""
    labels: frozenset[str] = frozenset()
    storage: frozenset[str] = frozenset()
    runners: frozenset[str] = frozenset({"process"})
    identity: bool = True
    fence: bool = True
    trust: str | None = None
    offered: bool = True

    @property
    def shared_by_one_group(self) -> bool:
        """Whether all work on the node must belong to one trust group."""
        return not (self.identity and self.fence)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardState:
    """One accelerator. `label` is the name that needs and quotas use; sizes are usable MiB.

    `modes` are those that both the card can do and its partition offers now. `mode` is the mode
    of its slices, or the one its hardware was left in; None means whole. `trust` is the trust
    group of its holders now, None when nobody holds it. `links` pairs a peer card's id with its
    score (plus 100 per NVLink). `nvenc` and `nvdec` count its video engines. `offered` is false
    when the card is cordoned, contested, lost, silent or retired.
    """

    id: int
    uuid: str
    node: int
    partition: int
    label: str
    vendor: Vendor
    memory_mib: int
    nominal_gb: int
    modes: frozenset[Mode]
    index: int = 0
    model: str = ""
    architecture: str = ""
    compute_capability: str = ""
    driver: str = ""
    geometries: tuple[Geometry, ...] = ()
    mode: Mode | None = None
    trust: str | None = None
    strength: int = 0
    domain: str = ""
    numa: int | None = None
    links: tuple[tuple[int, int], ...] = ()
    nvenc: int = 0
    nvdec: int = 0
    graphics: bool = False
    offered: bool = True
    mixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceState:
    """One slice that exists, a whole card counted as one.

    `start` and `size` count the geometry's places and are None in soft modes. `compute_milli` is
    in thousandths of the card, rounded down. `held_by` is the workload with an open hold on it,
    `trust`, `purpose` and `heavy_bandwidth` are that workload's. `encoder_units` and
    `decoder_units` are what a soft share takes of the card's video engines: whole cards and MIG
    slices bring their own.
    """

    id: int
    card: int
    mode: Mode
    profile: str
    memory_mib: int
    compute_milli: int
    stage: SliceStage
    start: int | None = None
    size: int | None = None
    held_by: int | None = None
    trust: str | None = None
    purpose: str = ""
    heavy_bandwidth: bool = False
    encoder_units: int = 0
    decoder_units: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """At most so much of a card for work of these purposes; the strictest that applies wins."""

    scope: CeilingScope
    purposes: frozenset[str]
    compute_milli: int = 1000
    memory_milli: int = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionState:
    """One partition's switches. `open_to` names the tenants that may use it; None means all.

    `policies` are those of single purposes, where it is not `policy`. `trusts` names the trust
    groups that may share its cards without hardware isolation; None means any one at a time.
    `tolerance_milli` is how far short compute may fall here, where it is not the rule's.
    """

    id: int
    name: str
    policy: Policy = Policy.FRAGMENTATION
    policies: tuple[tuple[str, Policy], ...] = ()
    open_to: frozenset[str] | None = None
    trusts: frozenset[str] | None = None
    preemption: bool = True
    lending: bool = True
    ceilings: tuple[Ceiling, ...] = ()
    return_within_s: int = 300
    tolerance_milli: int | None = None

    def policy_for(self, purpose: str) -> Policy:
        """How work of that purpose is placed here."""
        return dict(self.policies).get(purpose, self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seats:
    """Licence seats of one mode: so many holders at a time (requirement P9).

    Of one tenant or partition, or (None) of them all. `used` counts what is held now.
    """

    mode: Mode
    total: int
    used: int
    id: int = 0
    tenant: str | None = None
    partition: int | None = None
