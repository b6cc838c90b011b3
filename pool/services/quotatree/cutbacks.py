"""Leases that stand unused are told so, and cut back when they still do at the notice's end."""

from datetime import datetime, timedelta

from django.db import connection, transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseKind, LeaseState
from pool.lifecycle.roles import Role
from pool.lifecycle.targets import CutbackState
from pool.models.leases import Lease
from pool.models.policies import PolicyVersion
from pool.models.quotatree.cutbacks import Cutback
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.notices import NoticeKind
from pool.rules.policies import numbers_in_force
from pool.rules.problems import marked
from pool.rules.quotatree.cutbacks import Judged, judge
from pool.selectors.series.arrays import in_use_of
from pool.services.entitlements import entitlement_give_back
from pool.services.leases import lease_give_back
from pool.services.levels import Taken
from pool.services.moves import locked, move
from pool.services.notices.send import notice_send
from pool.sweeps import each
from pool.wake import round_wanted

_USED = """
SELECT coalesce(sum(extract(epoch FROM
    least(coalesce(p.closed_at, %(at)s), %(at)s) - greatest(p.opened_at, %(since)s))), 0)::float8
FROM pool_placement p
JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
WHERE w.lease_id = %(lease)s AND p.opened_at < %(at)s
  AND (p.closed_at IS NULL OR p.closed_at > %(since)s)
"""


def cutbacks_due(*, actor: Actor) -> int:
    """Tell new ones, carry out or withdraw old ones; how many were touched. Safe to repeat."""
    newest = PolicyVersion.objects.filter(partition=None).order_by("-number").first()
    numbers = numbers_in_force(newest.values if newest else {})
    open_ones = Cutback.objects.filter(state=CutbackState.NOTICED).values_list("pk", flat=True)
    touched = each(open_ones, lambda key: _settled(key, numbers, actor), of="cutback")
    if not numbers["cut_back"]:
        return touched
    old_enough = now() - timedelta(seconds=numbers["cut_back_over_s"])
    rows = Lease.objects.filter(state=LeaseState.ACTIVE, valid__startswith__lte=old_enough)
    fresh = rows.exclude(cutbacks__state=CutbackState.NOTICED).values_list("pk", flat=True)
    act = each(fresh.order_by("pk"), lambda key: _noticed(key, numbers, actor), of="cutback.notice")
    return touched + act


@transaction.atomic
def _noticed(key: int, numbers: dict[str, int | bool], actor: Actor) -> bool:
    lease = _locked(key)
    if lease is None or lease.state != LeaseState.ACTIVE:
        return False
    found = _judged(lease, numbers)
    notice = timedelta(seconds=numbers["cut_back_notice_s"])
    if found is None or now() + notice >= lease.valid.upper:
        return False
    row = Cutback.objects.create(
        lease=lease,
        used_milli=found.used_milli,
        copies=lease.copies,
        keeps=_keeps(lease, found),
        due_at=now() + notice,
    )
    record(
        EventKind.CUTBACK_NOTICED,
        row,
        actor=actor,
        project=lease.project,
        lease=lease.uid,
        request=lease.request.uid,
        used_milli=row.used_milli,
        copies=row.copies,
        keeps=row.keeps,
        due_at=row.due_at.isoformat(),
    )
    _told(row, lease)
    return True


def _told(row: Cutback, lease: Lease) -> None:
    """The requester and the project's leads hear of it in time to use the lease or give it back."""
    leads = User.objects.filter(memberships__project=lease.project, memberships__role=Role.LEAD)
    notice_send(
        kind=NoticeKind.RECALL,
        to=[lease.request.requester, *leads],
        about=lease.request,
        text=marked(
            "The lease “%(lease)s” is used by %(used)s %% only. Unless it is used more it keeps "
            "%(keeps)s of %(copies)s from %(due_at)s."
        ),
        key=f"cutback:{row.uid}",
        lease=str(lease.request),
        used=row.used_milli // 10,
        keeps=row.keeps,
        copies=row.copies,
        due_at=row.due_at.isoformat(),
    )


@transaction.atomic
def _settled(key: int, numbers: dict[str, int | bool], actor: Actor) -> bool:
    """Withdraw a notice whose lease is used again or over; carry it out when its time is up."""
    told = Cutback.objects.get(pk=key)
    lease = _locked(told.lease_id)
    rows = locked(Cutback.objects.filter(pk=key, state=CutbackState.NOTICED))
    if not rows or lease is None:
        return False
    row = rows[0]
    if lease.state != LeaseState.ACTIVE:
        _withdraw(row, lease, gettext("the lease has ended"), actor)
        return True
    found = _judged(lease, numbers)
    if found is None or not numbers["cut_back"]:
        _withdraw(row, lease, gettext("enough of it is used again"), actor)
        return True
    if row.due_at > now():
        return False
    keeps = max(_keeps(lease, found), min(in_use_of(lease=lease), lease.copies))
    if keeps >= lease.copies:
        _withdraw(row, lease, gettext("all of it is in use now"), actor)
        return True
    _cut(lease, keeps, actor)
    move(
        row,
        CutbackState.CUT,
        actor=actor,
        project=lease.project,
        changes={"keeps": keeps, "used_milli": found.used_milli},
        told={"lease": lease.uid, "copies": row.copies, "keeps": keeps},
    )
    return True


@transaction.atomic
def cutback_withdraw(*, cutback: Cutback, actor: Actor, reason: str) -> Cutback:
    """Let a lease be, by a person's word; it is looked at again as if nothing had been said.

    Raises:
        NotYours: it does not exist any more.
        IllegalMove: it was carried out or withdrawn already.
    """
    lease = _locked(cutback.lease_id)
    rows = locked(Cutback.objects.filter(pk=cutback.pk))
    if lease is None or not rows:
        raise NotYours
    _withdraw(rows[0], lease, reason, actor)
    return rows[0]


def _withdraw(row: Cutback, lease: Lease, reason: str, actor: Actor) -> None:
    told = {"lease": lease.uid}
    move(row, CutbackState.WITHDRAWN, actor=actor, reason=reason, project=lease.project, told=told)


def _cut(lease: Lease, keeps: int, actor: Actor) -> None:
    """Fewer copies, and their part of the entitlement goes back; with none left the lease ends."""
    if keeps == 0:
        lease_give_back(lease=lease, actor=actor)
        return
    kept: list[Taken] = []
    back: list[Taken] = []
    for one in lease.entitled:
        amount = one["amount"] * keeps // lease.copies
        kept.append({"quota": one["quota"], "amount": amount})
        back.append({"quota": one["quota"], "amount": one["amount"] - amount})
    entitlement_give_back(project=lease.project, taken=back)
    before = lease.copies
    Lease.objects.filter(pk=lease.pk).update(copies=keeps, entitled=kept)
    record(EventKind.LEASE_CHANGED, lease, actor=actor, before=before, copies=keeps)
    round_wanted()


def _keeps(lease: Lease, found: Judged) -> int:
    """A reserved lease stands or ends as a whole: its cards are kept together."""
    return 0 if lease.kind == LeaseKind.RESERVED else found.keeps


def _judged(lease: Lease, numbers: dict[str, int | bool]) -> Judged | None:
    at = now()
    since = max(lease.valid.lower, at - timedelta(seconds=numbers["cut_back_over_s"]))
    return judge(
        copies=lease.copies,
        used_copy_s=_used_s(lease, since, at),
        over_s=(at - since).total_seconds(),
        share_milli=int(numbers["cut_back_share_milli"]),
    )


def _used_s(lease: Lease, since: datetime, at: datetime) -> float:
    with connection.cursor() as cursor:
        cursor.execute(_USED, {"lease": lease.pk, "since": since, "at": at})
        return float(cursor.fetchone()[0])


def _locked(key: int) -> Lease | None:
    """The lease as it is now, its project's row first: nobody submits under it meanwhile."""
    project = Lease.objects.filter(pk=key).values_list("project", flat=True).first()
    if project is None:
        return None
    Project.objects.select_for_update(no_key=True).get(pk=project)
    found = locked(Lease.objects.select_related("project", "request__requester").filter(pk=key))
    return found[0] if found else None
