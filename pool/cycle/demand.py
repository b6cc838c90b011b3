"""Who wants, who runs and what is promised, for the planner; six queries."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.cycle.accuracy import ratio_of
from pool.cycle.carried.memory import Memory
from pool.cycle.carried.placements import CONTENT as CONTENT
from pool.cycle.carried.placements import placement_rows
from pool.cycle.carried.rows import Made
from pool.cycle.needs import claim_of
from pool.cycle.standing import Spent
from pool.cycle.supply import Row
from pool.cycle.turns import in_turn
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.roles import QuotaKind as BookKind
from pool.lifecycle.roles import QuotaUnit
from pool.lifecycle.workloads import WorkloadState
from pool.models.placements import Promise
from pool.models.quotas import Quota as QuotaRow
from pool.models.workloads import Attempt, Workload
from pool.rules.gangs import GANG_TOPOLOGIES
from pool.rules.needs import from_mapping
from pool.rules.problems import Problems
from pool.rules.yielding import serves
from pool.scheduling import claims
from pool.scheduling.model import (
    PriorityClass,
    Quota,
    QuotaKind,
    Running,
    SliceState,
    Unit,
    Waiting,
)
from pool.scheduling.model import Promise as Kept
from pool.selectors.telemetry.bandwidth import learned_heavy
from pool.services.levels import HOST_UNITS, level_tenant, outer_tenants
from pool.services.yielding.interrupted import interrupted_order

UNITS = {
    QuotaUnit.CARDS_MICRO: Unit.CARD_MICRO,
    QuotaUnit.CPU_MILLI: Unit.CPU_MILLI,
    QuotaUnit.RAM_MIB: Unit.MEMORY_MIB,
    QuotaUnit.DISK_MIB: Unit.DISK_MIB,
}
"""Units that the planner counts; the others are judged when a placement is opened."""

UNREADABLE = "its need cannot be read"
LEAVING = frozenset({WorkloadState.STOPPING, WorkloadState.PREEMPTING})


def waiting(rows: Iterable[Workload], open_leases: Mapping[int, int]) -> tuple[Waiting, ...]:
    """Queued work, oldest first; what a lease has no copy left for is held back."""
    given: Counter[int] = Counter(open_leases)
    found: list[Waiting] = []
    for row in rows:
        back = _held_back(row, given)
        if row.lease_id is not None and not back:
            given[row.lease_id] += 1
        found.append(waiting_of(row, back))
    return tuple(found)


def queued() -> QuerySet[Workload]:
    """Work in the queue whose turn it is, oldest first, with all its claim is read from; two
    queries.
    """
    return (
        Workload.objects.filter(in_turn(), state=WorkloadState.QUEUED)
        .select_related("project__fair_use", "project__organization__fair_use")
        .select_related("template_version", "lease", "owner__accuracy")
        .prefetch_related("partitions")
        .defer(*CONTENT)
        .annotate(interrupted=interrupted_order(), checkpointed=checkpoint_seen())
        .annotate(learned_heavy=learned_heavy())
        .order_by("queued_at", "pk")
    )


def checkpoint_seen() -> Exists:
    """For workloads: has some attempt written a checkpoint?"""
    return Exists(Attempt.objects.filter(workload=OuterRef("pk"), checkpoint_step__isnull=False))


def _held_back(row: Workload, given: Mapping[int, int]) -> str:
    """Why it may not start now whatever room there is; empty when it may."""
    if row.project.suspended:
        return f"project suspended: {row.project.suspended_reason}"
    if row.project.queue_held:
        return f"project held: {row.project.queue_held_reason}"
    lease = row.lease
    if lease is None:
        return ""
    if lease.state == LeaseState.ENDED:
        return "lease ended"
    if given.get(lease.pk, 0) >= lease.copies:
        return "lease in use"
    return ""


def tenants_of(row: Workload) -> tuple[str, ...]:
    """From the organization inwards; work on the project's allowance counts there as well."""
    keys = (
        f"org:{row.project.organization_id}",
        f"project:{row.project_id}",
        f"member:{row.project_id}.{row.owner_id}",
    )
    if row.entitlement != "allowance":
        return keys
    return (*keys, allowance_key(row.project_id, cards=bool(row.need.get("parts", 1))))


def allowance_key(project_id: int | None, *, cards: bool) -> str:
    """The tenant as whom the work on a project's allowance is counted, with cards or without."""
    return f"allowance:{project_id}.{'cards' if cards else 'host'}"


def claim(row: Workload, *, learned_heavy: bool) -> claims.Need:
    """The claim of one workload; its own columns say CPU, RAM and disk for all parts together.

    `learned_heavy` is what finished runs showed; it counts where the template leaves the class of
    bandwidth to be measured.

    Raises:
        Problems: the row holds a need that cannot be read.
    """
    need = claim_of(
        from_mapping(row.need),
        unlimited_modes=row.template_version.unlimited_modes,
        runner=row.runner,
    )
    return replace(
        need,
        heavy_bandwidth=need.heavy_bandwidth or _heavy(row, learned_heavy),
        cpu_milli=row.cpu_milli,
        host_memory_mib=row.ram_mib,
        disk_mib=row.disk_mib,
        runner=claims.gang_runner(row.runner) if need.topology in GANG_TOPOLOGIES else row.runner,
    )


def _heavy(row: Workload, learned: bool) -> bool:
    """Whether its template says so, or leaves it to be measured and its finished runs say so."""
    said = row.template_version.bandwidth
    return said == "heavy" or (said == "measured" and learned)


def waiting_of(row: Workload, held_back: str = "") -> Waiting:
    """One queued workload in the planner's words; an unreadable need holds back only itself.

    The row was read with `learned_heavy`: read without it, all would count as light.
    """
    at = row.queued_at or row.submitted_at
    try:
        need = claim(row, learned_heavy=attrgetter("learned_heavy")(row))
    except Problems:
        need, held_back = claims.Need(parts=0), UNREADABLE
    return Waiting(
        id=row.pk,
        uid=row.uid,
        tenants=tenants_of(row),
        trust=str(row.project.trust_group_id),
        need=need,
        partitions=tuple(one.pk for one in row.partitions.all()),
        submitted_s=at.timestamp(),
        kind=WorkloadKind(row.kind),
        purpose=row.template_version.work_class,
        priority_class=PriorityClass(row.priority),
        declared_s=float(row.expected_seconds),
        p90_ratio=ratio_of(row.owner),
        held_back=held_back,
        not_before_s=row.not_before.timestamp() if row.not_before else 0.0,
        preemptible=row.preemptible,
        interrupted=getattr(row, "interrupted", False),
        checkpointed=getattr(row, "checkpointed", False),
        attempts=row.attempts_made,
        endpoint=endpoint_of(row),
    )


@dataclass(frozen=True, slots=True)
class Held:
    """What holds something now, how many of it each lease carries, and by workload how much of
    each kind of card it holds, in millionths of a card."""

    running: tuple[Running, ...]
    leases: Counter[int]
    cards: Mapping[int, Mapping[str, int]]


def running(
    slices: Iterable[SliceState], hosts: Iterable[Row], memory: Memory | None = None
) -> Held:
    """Everything with an open placement; one query, with a memory two."""
    keep = memory.running if memory is not None else Made[Running]()
    held: dict[int, list[int]] = defaultdict(list)
    for one in slices:
        if one.held_by is not None:
            held[one.held_by].append(one.id)
    shares: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    for workload, node, cpu, ram, disk, _ in hosts:
        shares[workload].append((node, cpu, ram, disk))
    leases: Counter[int] = Counter()
    cards: dict[int, Counter[str]] = {}
    found: list[Running] = []
    for version, row in placement_rows(memory):
        work = row.attempt.workload
        if work.lease_id is not None:
            leases[work.lease_id] += 1
        cards[work.pk] = Counter()
        for label, micro in zip(row.labels, row.micros, strict=True):
            cards[work.pk][label] += micro
        pieces, places = held[work.pk], shares[work.pk]
        key = (version, tuple(pieces), tuple(places))
        found.append(keep.of(row.pk, key, partial(_running, row, pieces, places)))
    return Held(_with_spare(found), leases, cards)


def endpoint_of(row: Workload) -> str:
    """What serves together: the pieces of one array of serving work; empty for all other work."""
    if row.parent_id is None or not serves(row.template_version.work_class, row.kind):
        return ""
    return f"array:{row.parent_id}"


def _with_spare(found: Iterable[Running]) -> tuple[Running, ...]:
    """The same, with how many replicas of each endpoint may leave: one goes on serving."""
    rows = tuple(found)
    replicas = [one for one in rows if one.endpoint and one.kind is WorkloadKind.REPLICA]
    stay = Counter(one.endpoint for one in replicas if not one.leaving)
    spare = {one.id: max(0, stay[one.endpoint] - 1) for one in replicas}
    return tuple(replace(one, spare=spare[one.id]) if one.id in spare else one for one in rows)


def _running(
    row: Any, slices: Sequence[int], hosts: Sequence[tuple[int, int, int, int]]
) -> Running:
    attempt, work = row.attempt, row.attempt.workload
    started = attempt.started_at or row.opened_at
    checkpoint = attempt.checkpoint_at or started
    return Running(
        id=work.pk,
        uid=work.uid,
        tenants=tenants_of(work),
        trust=str(work.project.trust_group_id),
        purpose=work.template_version.work_class,
        priority_class=PriorityClass(work.priority),
        started_s=started.timestamp(),
        slices=tuple(sorted(slices)),
        hosts=tuple(sorted(hosts)),
        kind=WorkloadKind(work.kind),
        partition=row.partition_id or 0,
        card_micro=sum(row.micros),
        ends_s=started.timestamp() + work.expected_seconds,
        p90_ratio=ratio_of(work.owner),
        lost_since_s=checkpoint.timestamp(),
        protected_until_s=started.timestamp() + work.template_version.min_run_seconds,
        checkpointed=attempt.checkpoint_step is not None,
        preemptible=work.preemptible,
        borrowed=not row.entitled,
        leaving=work.state in LEAVING,
        interrupted=row.interrupted,
        endpoint=endpoint_of(work),
        notice_s=float(work.grace_seconds),
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """The rows the planner counts, where a tenant stands at a limit that it does not, and
    guarantees that are lent in part.
    """

    rows: tuple[Quota, ...]
    spent: tuple[Spent, ...]
    lent: tuple[QuotaRow, ...] = ()


def limits() -> Limits:
    """Rows that gate a start, in one query; an allowance is a limit of those who work on it.

    Entitlement rows count leases and what is pending, not what runs: they gate no start. Their
    limit is the tenant's guarantee; what stands on it is judged from what runs. A row of one kind
    of card stops no work that may run on another; it is judged when a placement is opened.
    """
    found = QuotaRow.objects.exclude(unit=QuotaUnit.CARDS_EACH).select_related("period", "project")
    rows = list(found)
    full = (
        row
        for row in rows
        if row.unit not in UNITS
        and row.kind != BookKind.ENTITLEMENT
        and not row.card_model
        and _taken(row) >= row.limit_value
    )
    return Limits(
        rows=tuple(_quota(row) for row in rows if row.unit in UNITS),
        spent=tuple(
            Spent(_tenant(row), row.partition_id, QuotaUnit(row.unit), row.limit_value, _taken(row))
            for row in full
        ),
        lent=tuple(
            row for row in rows if row.lend_limit is not None and row.unit == QuotaUnit.CARDS_MICRO
        ),
    )


def _taken(row: QuotaRow) -> int:
    """What is held of it; of card-hours, what the month has used and what runs has yet to."""
    if row.unit != QuotaUnit.CARD_SECONDS:
        return row.held
    return row.period.used + row.period.promised if hasattr(row, "period") else 0


def _tenant(row: QuotaRow) -> str:
    """As whom the planner counts the work that the row binds."""
    if row.kind == BookKind.ALLOWANCE:
        return allowance_key(row.project_id, cards=row.unit not in HOST_UNITS)
    return level_tenant(row)


def _quota(row: QuotaRow) -> Quota:
    guarantee = row.kind == BookKind.ENTITLEMENT
    return Quota(
        id=row.pk,
        tenant=_tenant(row),
        kind=QuotaKind.ENTITLEMENT if guarantee else QuotaKind.LIMIT,
        unit=UNITS[QuotaUnit(row.unit)],
        limit=row.limit_value,
        held=0 if guarantee else row.held,
        partition=row.partition_id,
        label=row.card_model or None,
        only=row.kind == BookKind.ALLOWANCE,
        within=outer_tenants(row) if guarantee else (),
    )


def promises(at: datetime) -> tuple[Kept, ...]:
    """Cards on which room is being made for one workload each."""
    rows = Promise.objects.filter(until__gt=at, workload__state=WorkloadState.QUEUED)
    return tuple(
        Kept(
            workload=row.workload_id,
            cards=frozenset() if row.card_id is None else frozenset({row.card_id}),
            nodes=frozenset() if row.node_id is None else frozenset({row.node_id}),
            until_s=row.until.timestamp(),
        )
        for row in rows
    )
