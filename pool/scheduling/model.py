"""The scheduler's own small world: a snapshot goes in, a plan comes out."""

from dataclasses import dataclass, field

from pool.scheduling.claims import (
    Demand,
    Need,
    PriorityClass,
    Promise,
    Quota,
    QuotaKind,
    Reservation,
    Running,
    TenantShare,
    Topology,
    Unit,
    Waiting,
    Window,
)
from pool.scheduling.outcome import (
    CarveMove,
    Eviction,
    Explanation,
    HostPart,
    Level,
    NewSlice,
    Part,
    Placed,
    Plan,
    PlannedStart,
    Reason,
    Shortage,
)
from pool.scheduling.world import (
    CardState,
    Ceiling,
    CeilingScope,
    NodeState,
    PartitionState,
    Policy,
    Seats,
    SliceStage,
    SliceState,
)

__all__ = [
    "CardState",
    "CarveMove",
    "Ceiling",
    "CeilingScope",
    "Demand",
    "Eviction",
    "Explanation",
    "HostPart",
    "Level",
    "Need",
    "NewSlice",
    "NodeState",
    "Part",
    "PartitionState",
    "Placed",
    "Plan",
    "PlannedStart",
    "Policy",
    "PriorityClass",
    "Promise",
    "Quota",
    "QuotaKind",
    "Reason",
    "Reservation",
    "Rules",
    "Running",
    "Seats",
    "Shortage",
    "SliceStage",
    "SliceState",
    "Snapshot",
    "TenantShare",
    "Topology",
    "Unit",
    "Waiting",
    "Window",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Numbers an administrator may edit. Shares in thousandths, times in seconds.

    `compute_tolerance_milli` is how far short a slice's compute may fall (requirement P10);
    `heavy_gb` is where heavy work begins; `preempt_share_milli` the cap of requirement S5;
    `age_full_s` the wait after which age weighs as much as one step of priority. Work counts as
    if it had come later by its forecast, by `length_most_s` at the most; `heads` planned starts
    are held in each partition. `slip_age_s` is the wait that halves a forecast when work slips in
    `shortest_first` (else it does by arrival). `preemption` is for callers that carry evictions
    out: a winner counts on the room that its victims leave; then so many thousandths of each kind
    of card, `headroom_milli`, stay free for urgent work. Victims have `notice_s` (or their own
    time), those that serve `inference_notice_s`; work may be chosen `overrun_s` after its declared
    end.
    """

    compute_tolerance_milli: int = 20
    heavy_gb: int = 40
    preempt_share_milli: int = 200
    checkpoint_every_s: float = 1800.0
    age_full_s: float = 86_400.0
    length_most_s: float = 100_000.0
    heads: int = 4
    slip_age_s: float = 604_800.0
    backfill: bool = True
    shortest_first: bool = True
    preemption: bool = False
    headroom_milli: int = 5
    notice_s: float = 60.0
    inference_notice_s: float = 300.0
    overrun_s: float = 300.0
    placements_per_round: int = 200
    unknown_duration_s: float = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The pool at one instant. The order inside the tuples never changes the plan.

    `demand` is the recent mix of needs; empty means that what waits and runs now stands for it.
    """

    now_s: float
    nodes: tuple[NodeState, ...] = ()
    cards: tuple[CardState, ...] = ()
    slices: tuple[SliceState, ...] = ()
    partitions: tuple[PartitionState, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    running: tuple[Running, ...] = ()
    quotas: tuple[Quota, ...] = ()
    shares: tuple[TenantShare, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    windows: tuple[Window, ...] = ()
    promises: tuple[Promise, ...] = ()
    seats: tuple[Seats, ...] = ()
    demand: tuple[Demand, ...] = ()
    rules: Rules = field(default_factory=Rules)
