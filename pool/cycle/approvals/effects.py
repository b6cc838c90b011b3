"""Look and compare: what would become of the queue if this were asked for now; nothing is kept."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.cycle.accuracy import ratio_of
from pool.cycle.needs import claim_of
from pool.cycle.waiting import Look
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.needs import Need
from pool.scheduling.model import Plan, PriorityClass, Snapshot, Waiting
from pool.scheduling.outlook.expected import expect
from pool.scheduling.plan import plan
from pool.selectors.offers import host_of, options_for

MOST_COPIES = 16
"""More copies are planned as so many: the picture stays true for the first ones."""

MOVED_S = 60.0
"""A start that moves by less is not spoken of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Work that nobody has submitted yet, so many copies of it at once, for so many seconds."""

    project: Project
    owner: User
    version: TemplateVersion
    need: Need
    partitions: Sequence[Partition]
    seconds: int
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Displaced:
    """Running work that would be told to leave for it, and the card-hours lost so."""

    workload: Workload
    lost_card_hours: float


@dataclass(frozen=True, slots=True)
class Later:
    """Waiting work whose expected start would move, in seconds; None where no time can be told."""

    workload: Workload
    before_s: float | None
    after_s: float | None

    @property
    def by_s(self) -> float | None:
        """How much longer it would wait; None where one of the times cannot be told."""
        if self.before_s is None or self.after_s is None:
            return None
        return self.after_s - self.before_s


@dataclass(frozen=True, slots=True)
class Effects:
    """The plan's own answer with and without it: its wait in seconds (half, and nine tenths of the
    cases; 0 when it starts at once, None when nobody can tell), who leaves and who waits longer.

    `why` is the planner's reason where not all copies start at once.
    """

    starts: int
    copies: int
    half_s: float | None
    most_s: float | None
    why: str
    displaced: tuple[Displaced, ...]
    later: tuple[Later, ...]


def effects_of(look: Look, sought: Sought) -> Effects:
    """Plan the same look with it in the queue, behind what waits already, and compare."""
    copies = _copies(look.snapshot, sought)
    snapshot = replace(look.snapshot, waiting=(*look.snapshot.waiting, *copies))
    made = expect(snapshot, plan(snapshot))
    told = [made.waits[one.id] for one in copies if one.id in made.waits]
    waits = [
        (one.starts_p50_s or one.starts_s, one.starts_p90_s or one.starts_p50_s or one.starts_s)
        for one in told
    ]
    half = _longest([at for at, _ in waits], look.snapshot.now_s)
    most = _longest([at for _, at in waits], look.snapshot.now_s)
    return Effects(
        starts=len(copies) - len(told),
        copies=len(copies),
        half_s=half,
        most_s=most,
        why=str(told[0].reason) if told else "",
        displaced=_displaced(look.made, made),
        later=_later(look, made),
    )


def _longest(times: Sequence[float | None], now_s: float) -> float | None:
    """The wait of the last copy; 0 where all start at once."""
    known = [at for at in times if at is not None]
    if len(known) < len(times):
        return None
    return max(0.0, max(known, default=now_s) - now_s)


def _copies(snapshot: Snapshot, sought: Sought) -> list[Waiting]:
    options = options_for(
        need=sought.need,
        partitions=sought.partitions,
        trust=sought.project.trust_group_id,
        version=sought.version,
        unlimited_modes=sought.version.unlimited_modes,
    )
    cpu, ram, disk = host_of(
        need=sought.need, options=[one for one in options if one.holds(sought.need)]
    )
    claim = claim_of(
        sought.need,
        unlimited_modes=sought.version.unlimited_modes,
        default_cpu_milli=cpu,
        default_ram_mib=ram,
        default_disk_mib=disk,
    )
    project, owner = sought.project, sought.owner
    one = Waiting(
        id=-1,
        uid="",
        tenants=(
            f"org:{project.organization_id}",
            f"project:{project.pk}",
            f"member:{project.pk}.{owner.pk}",
        ),
        trust=str(project.trust_group_id),
        need=claim,
        partitions=tuple(one.pk for one in sought.partitions),
        submitted_s=snapshot.now_s,
        kind=WorkloadKind.JOB,
        purpose=sought.version.work_class,
        priority_class=PriorityClass.NORMAL,
        declared_s=float(sought.seconds),
        p90_ratio=ratio_of(owner),
        preemptible=False,
    )
    count = max(1, min(sought.copies, MOST_COPIES))
    return [replace(one, id=-n, uid=f"asked-{n}") for n in range(1, count + 1)]


def _displaced(before: Plan, after: Plan) -> tuple[Displaced, ...]:
    """Victims of the plan with it that are none without it."""
    known = {one.victim for one in before.evictions}
    lost = {one.victim: one.lost_card_s for one in after.evictions if one.victim not in known}
    rows = _rows(lost)
    return tuple(Displaced(rows[key], lost[key] / 3600) for key in sorted(lost) if key in rows)


def _later(look: Look, made: Plan) -> tuple[Later, ...]:
    """Work that waited already and would wait longer, the most first."""
    now_s, moved = look.snapshot.now_s, []
    for work in look.snapshot.waiting:
        was, becomes = _wait(look.made, work.id, now_s), _wait(made, work.id, now_s)
        if was is None or becomes == was:
            continue
        if becomes is None or becomes - was >= MOVED_S:
            moved.append((work.id, was, becomes))
    rows = _rows([key for key, _, _ in moved])
    found = [Later(rows[key], was, becomes) for key, was, becomes in moved if key in rows]
    return tuple(sorted(found, key=lambda one: -(one.by_s or float("inf"))))


def _wait(made: Plan, workload: int, now_s: float) -> float | None:
    told = made.waits.get(workload)
    if told is None:
        return 0.0
    at = told.starts_s if told.starts_p50_s is None else told.starts_p50_s
    return None if at is None else max(0.0, at - now_s)


def _rows(keys: Iterable[int]) -> dict[int, Workload]:
    rows = Workload.objects.filter(pk__in=list(keys))
    return {row.pk: row for row in rows.select_related("project", "owner")}
