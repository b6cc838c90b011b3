"""Leases: opened by an approval, given back early, ended by the clock with a day of grace."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import IllegalMove, Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.roles import Priority
from pool.lifecycle.workloads import HOLDING, WAITING, WorkloadState
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.notices import NoticeKind
from pool.rules.problems import marked as _
from pool.services.approvals.told import tell_of_lease
from pool.services.calendar.reservations import reservation_close
from pool.services.entitlements import entitlement_give_back
from pool.services.levels import Taken
from pool.services.moves import locked, move
from pool.services.queue import (
    workload_on_allowance,
    workloads_carried_over,
    workloads_withdrawn,
)
from pool.sweeps import each
from pool.wake import round_wanted

GRACE = timedelta(hours=24)
"""How long running work may go on after its lease, as low, preemptible and charged."""

OVER = "its lease has ended, and the allowance has no room for it"


def lease_open(
    *, request: Request, taken: list[Taken], actor: Actor, until: datetime | None = None
) -> Lease:
    """The right a request was approved for, from its start (or now) for its whole duration.

    `taken` is what stands in the entitlement rows for it; `until` an end that is given already.
    Call it inside the approval.
    """
    start = max(now(), request.starts_at) if request.starts_at else now()
    end = until or start + timedelta(seconds=request.duration_seconds)
    lease = Lease.objects.create(
        request=request,
        project=request.project,
        template_version=request.template_version,
        need=request.need,
        copies=request.copies,
        kind=request.lease_kind,
        valid=DateTimeTZRange(start, end),
        entitled=taken,
    )
    lease.partitions.set(request.partitions.all())
    record(
        EventKind.LEASE_OPENED,
        lease,
        actor=actor,
        request=request.uid,
        copies=lease.copies,
        until=lease.valid.upper.isoformat(),
    )
    return lease


def lease_lengthen(*, lease: Lease, seconds: int, request: Request, actor: Actor) -> Lease:
    """The same lease, so many seconds longer. Call it inside the approval.

    Raises:
        IllegalMove: it is not in force any more.
    """
    lease = _locked(lease)
    if lease.state != LeaseState.ACTIVE:
        raise IllegalMove(noun="lease", state=lease.state, then="longer")
    end = lease.valid.upper + timedelta(seconds=seconds)
    lease.valid = DateTimeTZRange(lease.valid.lower, end)
    lease.notices_sent, lease.recalled_at, lease.recall_reason = [], None, ""
    lease.save(update_fields=["valid", "notices_sent", "recalled_at", "recall_reason"])
    record(
        EventKind.LEASE_EXTENDED,
        lease,
        actor=actor,
        request=request.uid,
        until=end.isoformat(),
    )
    return lease


def lease_replace(*, lease: Lease, actor: Actor) -> None:
    """Another lease came in its place: work goes over to it, as far as that carries it."""
    lease = _locked(lease)
    if lease.state == LeaseState.ACTIVE:
        _ending(lease, actor=actor, reason="replaced by another size")


@transaction.atomic
def lease_recall(*, lease: Lease, ends_at: datetime, reason: str, actor: Actor) -> Lease:
    """Bring the end forward to `ends_at`, with notice and a reason; work ends as at any end.

    A later end than the lease has changes nothing but is refused, as is one that is over.

    Raises:
        Invalid: no reason, or the end lies not between now and the lease's own end.
        IllegalMove: it is not in force.
    """
    lease = _locked(lease)
    if lease.state != LeaseState.ACTIVE:
        raise IllegalMove(noun="lease", state=lease.state, then="recalled")
    if not reason.strip():
        raise Invalid(reason=gettext("Say why, in a word the requester can use."))
    if not now() <= ends_at < lease.valid.upper or ends_at <= lease.valid.lower:
        raise Invalid(ends_at=gettext("The new end lies between now and the lease's own end."))
    lease.valid = DateTimeTZRange(lease.valid.lower, ends_at)
    lease.recalled_at, lease.recall_reason = now(), reason.strip()[:200]
    lease.notices_sent = []
    lease.save(update_fields=["valid", "recalled_at", "recall_reason", "notices_sent"])
    record(
        EventKind.LEASE_RECALLED,
        lease,
        actor=actor,
        until=ends_at.isoformat(),
        reason=lease.recall_reason,
    )
    tell_of_lease(
        lease=lease,
        kind=NoticeKind.RECALL,
        text=_(
            "Your lease %(title)s is recalled: it ends at %(until_at)s. %(reason)s"
            " What runs then goes on for at most 24 h, as low priority."
        ),
        key=f"recall:{ends_at.isoformat()}",
        until_at=ends_at.isoformat(),
        reason=lease.recall_reason,
    )
    return lease


@transaction.atomic
def lease_give_back(*, lease: Lease, actor: Actor) -> Lease:
    """End a lease before its time; doing it twice changes nothing.

    What waits under it is cancelled, what runs goes on for at most a day as low and preemptible.

    Raises:
        NotYours: it does not exist any more.
    """
    lease = _locked(lease)
    if lease.state != LeaseState.ACTIVE:
        return lease
    _ending(lease, actor=actor, reason="given back")
    return lease


@transaction.atomic
def lease_end_now(*, lease: Lease, actor: Actor, reason: str) -> Lease:
    """The end of the grace: the lease is over, and its entitlement goes back.

    Raises:
        IllegalMove: it is not ending.
    """
    lease = _locked(lease)
    if lease.state != LeaseState.ENDING:
        raise IllegalMove(noun="lease", state=lease.state, then=str(LeaseState.ENDED))
    workloads_carried_over(rows=_work_of(lease), lease=lease, actor=actor)
    move(lease, LeaseState.ENDED, actor=actor, reason=reason)
    return lease


def leases_ending_due(*, actor: Actor) -> int:
    """Leases whose time is up begin to end, each in a transaction of its own; how many did."""
    due = Lease.objects.filter(state=LeaseState.ACTIVE, valid__endswith__lte=now())
    keys = due.values_list("pk", flat=True)
    return each(keys, lambda key: _ending_if_due(key, now(), actor), of="lease.ending")


def leases_ended_due(*, actor: Actor) -> list[Workload]:
    """Leases whose grace is over end; returns the work that still runs under them, to be stopped.

    The caller stops it: a lease knows nothing of nodes.
    """
    due = Lease.objects.filter(state=LeaseState.ENDING, deadline__lte=now())
    found = list(due.order_by("pk"))
    each(
        found,
        lambda one: bool(
            lease_end_now(lease=one, actor=actor, reason="the day of grace is over").pk
        ),
        of="lease.end",
    )
    rows = Workload.objects.filter(
        lease__in=found, lease__state=LeaseState.ENDED, state__in=sorted(HOLDING)
    )
    return list(rows.order_by("pk"))


def leases_left_waiting(*, actor: Actor) -> int:
    """Work that waits under a lease that has ended gets an answer; how many did.

    It came back to the queue, or was held back, within the day of grace. It goes on inside the
    project's allowance when it fits there now, else it expires. Each in its own transaction.
    """
    rows = Workload.objects.filter(
        lease__state=LeaseState.ENDED, state__in=sorted(WAITING), array_size=None
    )
    keys = list(rows.order_by("pk").values_list("pk", "project"))
    return each(keys, lambda one: _answered(one[0], one[1], actor), of="lease.waiting")


@transaction.atomic
def _answered(key: int, project: int, actor: Actor) -> bool:
    _project_locked(project)
    rows = Workload.objects.filter(pk=key, lease__state=LeaseState.ENDED, state__in=sorted(WAITING))
    for workload in locked(rows.select_related("project", "template_version")):
        if workload_on_allowance(workload=workload, actor=actor):
            continue
        if workload.state == WorkloadState.ON_HOLD:
            move(workload, WorkloadState.QUEUED, actor=actor, reason=OVER)
        changes = {"ended_at": now(), "message": OVER}
        move(workload, WorkloadState.EXPIRED, actor=actor, reason=OVER, changes=changes)
    return True


@transaction.atomic
def _ending_if_due(key: int, at: datetime, actor: Actor) -> bool:
    lease = _locked(Lease(pk=key))
    if lease.state != LeaseState.ACTIVE or lease.valid.upper > at:
        return False
    _ending(lease, actor=actor, reason="its time is over")
    return True


def _ending(lease: Lease, *, actor: Actor, reason: str) -> None:
    """No new work starts; what runs becomes low and preemptible; the entitlement goes back.

    First what another lease of the project can carry goes over to it: so an extension extends.
    """
    entitlement_give_back(project=lease.project, taken=lease.entitled)
    reservation_close(lease=lease, actor=actor, reason=reason)
    workloads_carried_over(rows=_work_of(lease), lease=lease, actor=actor)
    work = Workload.objects.filter(lease=lease, array_size=None)
    workloads_withdrawn(
        rows=locked(work.filter(state__in=sorted(WAITING))), actor=actor, reason=reason
    )
    work.filter(state__in=sorted(HOLDING)).update(priority=Priority.LOW, preemptible=True)
    move(
        lease,
        LeaseState.ENDING,
        actor=actor,
        reason=reason,
        deadline=now() + GRACE,
        changes={"entitled": []},
    )
    round_wanted()


def _work_of(lease: Lease) -> list[Workload]:
    """Its living work, locked: first what holds something, then what waits."""
    work = Workload.objects.filter(
        lease=lease, state__in=sorted(HOLDING | WAITING), array_size=None
    )
    found = locked(work.select_related("project", "template_version"))
    return sorted(found, key=lambda one: one.state in WAITING)


def _project_locked(key: int) -> None:
    """No submission of the project meanwhile, so that no copy of a lease is given twice."""
    Project.objects.select_for_update(no_key=True).get(pk=key)


def _locked(lease: Lease) -> Lease:
    """The lease as it is now; its project's row is locked first, as a submission does it."""
    project = Lease.objects.filter(pk=lease.pk).values_list("project", flat=True).first()
    if project is None:
        raise NotYours
    _project_locked(project)
    rows = Lease.objects.select_related(
        "project", "request__requester", "request__template_version__template"
    ).filter(pk=lease.pk)
    found = locked(rows)
    if not found:
        raise NotYours
    return found[0]
