"""Work and its right to wait or run: let in by a lease, carried to another, taken out."""

from collections.abc import Iterable
from typing import Any

from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.leases import Lease
from pool.models.workloads import Workload
from pool.rules.needs import from_mapping
from pool.rules.quotas import Allowance
from pool.selectors.allowances import allowance_judged
from pool.selectors.leases import lease_that_holds
from pool.selectors.offers import host_of, options_for
from pool.services.moves import move
from pool.services.series.arrays import array_spread
from pool.wake import round_wanted


def workloads_let_in(*, rows: Iterable[Workload], lease: Lease, actor: Actor) -> int:
    """Locked work that awaited approval joins the queue under the lease; how many did.

    An array becomes active, and its pieces are made.
    """
    count = 0
    for workload in rows:
        changes = _resized(workload, lease) if workload.need != lease.need else {}
        move(
            workload,
            WorkloadState.ACTIVE if workload.array_size else WorkloadState.QUEUED,
            actor=actor,
            reason="approved",
            changes=changes
            | {
                "lease_id": lease.pk,
                "entitlement": "lease",
                "need": lease.need,
                "queued_at": now(),
                "not_before": lease.valid.lower if lease.valid.lower > now() else None,
            },
            told={"lease": lease.uid},
        )
        workload.partitions.set(lease.partitions.all())
        if workload.array_size:
            array_spread(array=workload)
        count += 1
    if count:
        round_wanted()
    return count


def workloads_carried_over(*, rows: Iterable[Workload], lease: Lease, actor: Actor) -> int:
    """Locked work of a lease goes over to another lease that holds it now; how much did.

    The other is of the same project and template, in force, and has a copy free. The caller holds
    the project's row, so that no copy is given twice.
    """
    count = 0
    for workload in rows:
        other = lease_that_holds(
            project=workload.project,
            template=workload.template_version.template_id,
            need=from_mapping(workload.need),
            micro=workload.asked_micro,
            host=(workload.cpu_milli, workload.ram_mib, workload.disk_mib),
            at=now(),
            instead_of=lease.pk,
        )
        if other is None:
            continue
        workload.lease = other
        workload.save(update_fields=["lease"])
        workload.partitions.set(other.partitions.all())
        words: dict[str, Any] = {
            "from": workload.state,
            "to": workload.state,
            "reason": "another lease",
        }
        record(EventKind.WORKLOAD_MOVED, workload, actor=actor, lease=other.uid, **words)
        count += 1
    return count


def workload_on_allowance(*, workload: Workload, actor: Actor) -> bool:
    """Let locked work that waits wait in its project's allowance; False when it has no room.

    The caller holds the project's row, so that no room is given twice.
    """
    need = from_mapping(workload.need)
    partitions = list(workload.partitions.all())
    judged = allowance_judged(
        project=workload.project,
        need=need,
        options=options_for(
            need=need,
            partitions=partitions,
            trust=workload.project.trust_group_id,
            version=workload.template_version,
            unlimited_modes=workload.template_version.unlimited_modes,
        ),
        partitions=partitions,
        seconds=workload.expected_seconds,
        when_full="ask",
    )
    if workload.project.suspended or judged.answer is not Allowance.FITS:
        return False
    before = workload.lease.uid if workload.lease else ""
    workload.lease, workload.entitlement = None, "allowance"
    workload.save(update_fields=["lease", "entitlement"])
    workload.partitions.set(judged.partitions)
    words: dict[str, Any] = {"from": workload.state, "to": workload.state, "reason": "allowance"}
    record(EventKind.WORKLOAD_MOVED, workload, actor=actor, lease_left=before, **words)
    round_wanted()
    return True


def workloads_withdrawn(*, rows: Iterable[Workload], actor: Actor, reason: str) -> int:
    """Locked work that waits, with whatever right, is cancelled with the reason; how many was."""
    count = 0
    for workload in rows:
        move(
            workload,
            WorkloadState.CANCELLED,
            actor=actor,
            reason=reason,
            changes={"ended_at": now(), "message": reason[:400]},
        )
        count += 1
    if count:
        round_wanted()
    return count


def _resized(workload: Workload, lease: Lease) -> dict[str, int]:
    """The work's own sizes where something else was granted than what it had asked for."""
    need = from_mapping(lease.need)
    options = options_for(
        need=need,
        partitions=lease.partitions.all(),
        trust=workload.project.trust_group_id,
        version=workload.template_version,
        unlimited_modes=workload.template_version.unlimited_modes,
    )
    holding = [one for one in options if one.holds(need)]
    cpu, ram, disk = host_of(need=need, options=holding)
    micro = min((one.micro(need) for one in holding), default=0)
    return {"cpu_milli": cpu, "ram_mib": ram, "disk_mib": disk, "asked_micro": micro}
