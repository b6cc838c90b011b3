"""Who wants, who runs and what is promised, for the planner; six queries."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from django.db.models import QuerySet

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.cycle.needs import claim_of
from pool.cycle.supply import Row
from pool.cycle.turns import in_turn
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.roles import QuotaKind as BookKind
from pool.lifecycle.roles import QuotaUnit
from pool.lifecycle.workloads import WorkloadState
from pool.models.placements import Placement, Promise
from pool.models.quotas import Quota as QuotaRow
from pool.models.workloads import Workload
from pool.rules.needs import from_mapping
from pool.rules.problems import Problems
from pool.scheduling import claims
from pool.scheduling.model import (
    PriorityClass,
    Quota,
    QuotaKind,
    Running,
    SliceState,
    Topology,
    Unit,
    Waiting,
)
from pool.scheduling.model import Promise as Kept
from pool.services.levels import HOST_UNITS, level_tenant

UNITS = {
    QuotaUnit.CARDS_MICRO: Unit.CARD_MICRO,
    QuotaUnit.CPU_MILLI: Unit.CPU_MILLI,
    QuotaUnit.RAM_MIB: Unit.MEMORY_MIB,
    QuotaUnit.DISK_MIB: Unit.DISK_MIB,
}
"""Units that the planner counts; the others are judged when a placement is opened."""

UNREADABLE = "its need cannot be read"
LEAVING = frozenset({WorkloadState.STOPPING, WorkloadState.PREEMPTING})
ONE_NODE = frozenset({Topology.NODE, Topology.LINKED, Topology.WHOLE_NODES})


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
        .select_related("template_version", "lease")
        .prefetch_related("partitions")
        .order_by("queued_at", "pk")
    )


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


def claim(row: Workload) -> claims.Need:
    """The claim of one workload; its own columns say CPU, RAM and disk for all parts together.

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
        cpu_milli=row.cpu_milli,
        host_memory_mib=row.ram_mib,
        disk_mib=row.disk_mib,
        topology=need.topology if need.topology in ONE_NODE else Topology.NODE,
    )


def waiting_of(row: Workload, held_back: str = "") -> Waiting:
    """One queued workload in the planner's words; an unreadable need holds back only itself."""
    at = row.queued_at or row.submitted_at
    try:
        need = claim(row)
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
        held_back=held_back,
        not_before_s=row.not_before.timestamp() if row.not_before else 0.0,
        preemptible=row.preemptible,
        attempts=row.attempts_made,
    )


def running(
    slices: Iterable[SliceState], hosts: Iterable[Row]
) -> tuple[tuple[Running, ...], Counter[int]]:
    """Everything with an open placement; and how many of them each lease carries."""
    held: dict[int, list[int]] = defaultdict(list)
    for one in slices:
        if one.held_by is not None:
            held[one.held_by].append(one.id)
    shares: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    for workload, node, cpu, ram, disk, _ in hosts:
        shares[workload].append((node, cpu, ram, disk))
    rows = Placement.objects.filter(state=PlacementState.OPEN).select_related(
        "attempt__workload__project", "attempt__workload__template_version"
    )
    leases: Counter[int] = Counter()
    found: list[Running] = []
    for row in rows:
        work = row.attempt.workload
        if work.lease_id is not None:
            leases[work.lease_id] += 1
        found.append(_running(row, held[work.pk], shares[work.pk]))
    return tuple(found), leases


def _running(
    row: Placement, slices: Sequence[int], hosts: Sequence[tuple[int, int, int, int]]
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
        card_micro=0,
        ends_s=started.timestamp() + work.expected_seconds,
        lost_since_s=checkpoint.timestamp(),
        checkpointed=attempt.checkpoint_step is not None,
        preemptible=work.preemptible,
        borrowed=not row.entitled,
        leaving=work.state in LEAVING,
    )


def quotas() -> tuple[Quota, ...]:
    """Rows that gate a start; an allowance is a limit of those who work on it.

    Entitlement rows count leases and what is pending, not what runs: they gate no start.
    """
    rows = QuotaRow.objects.filter(unit__in=list(UNITS)).exclude(kind=BookKind.ENTITLEMENT)
    return tuple(_quota(row) for row in rows)


def _quota(row: QuotaRow) -> Quota:
    tenant = level_tenant(row)
    if row.kind == BookKind.ALLOWANCE:
        tenant = allowance_key(row.project_id, cards=row.unit not in HOST_UNITS)
    return Quota(
        id=row.pk,
        tenant=tenant,
        kind=QuotaKind.LIMIT,
        unit=UNITS[QuotaUnit(row.unit)],
        limit=row.limit_value,
        held=row.held,
        partition=row.partition_id,
        label=row.card_model or None,
    )


def promises(at: datetime) -> tuple[Kept, ...]:
    """Cards on which room is being made for one workload each."""
    rows = Promise.objects.filter(until__gt=at, workload__state=WorkloadState.QUEUED)
    return tuple(
        Kept(
            workload=row.workload_id,
            cards=frozenset({row.card_id}),
            nodes=frozenset(),
            until_s=row.until.timestamp(),
        )
        for row in rows
    )
