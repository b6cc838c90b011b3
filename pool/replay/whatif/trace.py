"""What was recorded: kinds of work, and each workload with its times; the pool it came to."""

from dataclasses import dataclass

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.scheduling.model import CardState, Need, PriorityClass, Snapshot, Waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What many recorded workloads have in common.

    `team` and `template` name it for people; an imported file names no template. Times in seconds:
    `checkpoint_s` between two checkpoints (None starts over), `notice_s` to leave (None for the
    rule's), `protected_s` in which it is not chosen to leave.
    """

    team: str
    tenants: tuple[str, ...]
    trust: str
    need: Need
    partitions: tuple[int, ...]
    template: str = ""
    kind: WorkloadKind = WorkloadKind.JOB
    purpose: str = "training"
    price_class: str = "standard"
    preemptible: bool = False
    checkpoint_s: float | None = None
    notice_s: float | None = None
    protected_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One recorded workload, in seconds since the epoch (or since the first line of a file).

    It joins the replay at `arrives_s`, which is later than `submit_s` for what waited or ran when
    the period began; that is replayed, but not `counted` among the waits.
    """

    number: int
    kind: int
    submit_s: float
    arrives_s: float
    duration_s: float
    declared_s: float
    priority: PriorityClass = PriorityClass.NORMAL
    p90_ratio: float = 1.0
    counted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Recorded work in the order of its arrival, and the period it belongs to."""

    since_s: float
    until_s: float
    kinds: tuple[Kind, ...]
    works: tuple[Work, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The pool without any work in it, and a pattern of each card model that could be bought.

    `places` are the partitions' ids with their names; patterns are cards with no place.
    """

    snapshot: Snapshot
    patterns: tuple[CardState, ...] = ()
    places: tuple[tuple[int, str], ...] = ()

    @property
    def names(self) -> dict[int, str]:
        """The partitions' names by their ids."""
        return dict(self.places)


def waiting_of(work: Work, kind: Kind, *, done_s: float, restart_s: float, again: bool) -> Waiting:
    """The work as the planner sees it; what it has yet to do counts as its forecast."""
    return Waiting(
        id=work.number,
        uid=str(work.number),
        tenants=kind.tenants,
        trust=kind.trust,
        need=kind.need,
        partitions=kind.partitions,
        submitted_s=work.submit_s,
        kind=kind.kind,
        purpose=kind.purpose,
        priority_class=work.priority,
        declared_s=max(0.0, work.declared_s - done_s) + restart_s,
        p90_ratio=work.p90_ratio,
        checkpointed=kind.checkpoint_s is not None and done_s > 0,
        preemptible=kind.preemptible,
        interrupted=again,
    )
