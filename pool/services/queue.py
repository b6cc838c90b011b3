"""Work that waits: let into the queue by a lease, or taken out of it."""

from collections.abc import Iterable

from pool.clock import now
from pool.events import Actor
from pool.lifecycle.workloads import WorkloadState
from pool.models.leases import Lease
from pool.models.workloads import Workload
from pool.services.moves import move
from pool.wake import round_wanted


def workloads_let_in(*, rows: Iterable[Workload], lease: Lease, actor: Actor) -> int:
    """Locked work that awaited approval joins the queue under the lease; how many did."""
    count = 0
    for workload in rows:
        move(
            workload,
            WorkloadState.QUEUED,
            actor=actor,
            reason="approved",
            changes={
                "lease_id": lease.pk,
                "entitlement": "lease",
                "need": lease.need,
                "queued_at": now(),
                "not_before": lease.valid.lower if lease.valid.lower > now() else None,
            },
            told={"lease": lease.uid},
        )
        workload.partitions.set(lease.partitions.all())
        count += 1
    if count:
        round_wanted()
    return count


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
