"""Somebody leaves: login and tokens end at once, work winds down, what stays gets an heir."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.errors import Invalid
from pool.events import SYSTEM, Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.requests import RequestState
from pool.lifecycle.roles import Role
from pool.lifecycle.schedules import ScheduleState
from pool.lifecycle.workloads import HOLDING, WAITING, WorkloadState
from pool.models.approvals.delegations import Delegation
from pool.models.approvals.notices import NoticeHook
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.people import WIND_DOWN, wind_down_problem
from pool.selectors.memberships import standing
from pool.selectors.people.living import UNDECIDED, leases_of, work_open
from pool.services.approvals.delegations import delegation_end
from pool.services.approvals.given import need_left
from pool.services.memberships import keep_an_admin, membership_remove
from pool.services.people.belongings import belongings_hand_over
from pool.services.people.told import tell_of_leaver, tell_of_lost
from pool.services.refusals import refuse
from pool.services.requests import request_close, request_locked
from pool.services.series.arrays import array_no_more
from pool.services.series.handed import personal_forgotten
from pool.services.series.schedules import schedule_locked, schedule_pause
from pool.services.workloads import workload_stop
from pool.sweeps import each

LEFT = "its owner has left"


@transaction.atomic
def user_leave(
    *,
    user: User,
    actor: Actor,
    heir: User | None = None,
    seconds: int = int(WIND_DOWN.total_seconds()),
) -> User:
    """Let a person go for good; twice changes nothing.

    In this transaction: no login, no token, no role, no deputy, no receiver. Right after it, one
    thing at a time (`leaver_tidied`), waiting work is cancelled; running work may go on for
    `seconds`, then it is stopped gracefully. Files, resting notebooks, leases, schedules and
    pending requests go to the heir where the heir may work in their project; without one pending
    requests are withdrawn and schedules pause.

    Raises:
        Invalid: the heir is the person, no longer here, or works in none of the projects; the time
            is over seven days; or nobody would be left to administer the platform.
    """
    refuse({"wind_down_seconds": wind_down_problem(seconds)})
    row = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if row.left_at is not None:
        return row
    _heir_may(row, heir)
    if row.memberships.filter(role=Role.PLATFORM_ADMIN).exists():
        keep_an_admin(leaving=row)
    at = now()
    row.is_active, row.left_at, row.heir = False, at, heir
    row.winds_down_at = at + timedelta(seconds=seconds)
    row.save(update_fields=["is_active", "left_at", "heir", "winds_down_at"])
    told: dict[str, Any] = {"heir": heir.uid if heir else "", "wind_down_seconds": seconds}
    record(EventKind.USER_LEFT, row, actor=actor, username=row.username, **told)
    tell_of_leaver(user=row, heir=heir)
    for membership in row.memberships.order_by("pk"):
        membership_remove(membership=membership, actor=actor)
    for lent in Delegation.objects.filter(Q(person=row) | Q(deputy=row), ended_at=None):
        delegation_end(delegation=lent, actor=actor)
    NoticeHook.objects.filter(user=row).delete()
    transaction.on_commit(partial(leaver_tidied, key=row.pk, actor=actor), robust=True)
    return row


def leaver_tidied(*, key: int, actor: Actor) -> None:
    """End and hand on what somebody who left still has; safe to repeat, what fails waits its turn.

    Each thing in a transaction of its own: together they would take rows of quotas, work and nodes
    in an order that a round or a node's report takes the other way round.
    """
    row = User.objects.select_related("heir").get(pk=key)
    if row.winds_down_at is None:
        return
    if row.heir is not None:
        belongings_hand_over(user=row, heir=row.heir, actor=actor)
        each(leases_of(row), partial(_lease_given, row, actor), of="leaver.lease")
    requests = Request.objects.filter(requester=row, state__in=UNDECIDED).order_by("pk")
    each(requests, partial(_request_tidied, row, actor), of="leaver.request")
    schedules = Schedule.objects.filter(owner=row).exclude(state=ScheduleState.ENDED)
    each(schedules.order_by("pk"), partial(_schedule_tidied, row, actor), of="leaver.schedule")
    open_work = work_open(Q(owner=row))
    if row.winds_down_at <= now():
        states = sorted(HOLDING | WAITING | {WorkloadState.ACTIVE})
        ending = open_work.filter(state__in=states, stop_reason="")
    else:
        whole = Q(array_size=None) | Q(state=WorkloadState.AWAITING_APPROVAL)
        ending = open_work.filter(whole, state__in=sorted(WAITING), attempts=None)
        arrays = open_work.filter(
            array_size__gte=1, children__state__in=sorted(WAITING), children__attempts=None
        )
        each(list(arrays.distinct()), partial(_no_more, row, actor), of="leaver.array")
    each(list(ending), partial(_stopped, row, actor), of="leaver.work")


def leavers_due() -> int:
    """Tidy after people who left; stop what still runs when their time is up; how many are done.

    A person is done when nothing of theirs is open any more.
    """
    rows = User.objects.filter(left_at__isnull=False, winds_down_at__isnull=False)
    return each(rows.order_by("pk").values_list("pk", flat=True), _wound_down, of="leaver")


def _wound_down(key: int) -> bool:
    leaver_tidied(key=key, actor=SYSTEM)
    with transaction.atomic():
        row = User.objects.select_for_update(no_key=True).get(pk=key)
        pending = Request.objects.filter(requester=row, state__in=UNDECIDED)
        if row.winds_down_at is None or work_open(Q(owner=row)).exists() or pending.exists():
            return False
        row.winds_down_at = None
        row.save(update_fields=["winds_down_at"])
        record(EventKind.USER_WOUND_DOWN, row, actor=SYSTEM, username=row.username)
        return True


def _leaves(user: User) -> bool:
    """Whether the person still winds down: they may have been taken back since the sweep began."""
    return User.objects.filter(pk=user.pk, winds_down_at__isnull=False).exists()


@transaction.atomic
def _no_more(user: User, actor: Actor, work: Workload) -> None:
    if _leaves(user):
        array_no_more(array=work, actor=actor, message=LEFT)


@transaction.atomic
def _stopped(user: User, actor: Actor, work: Workload) -> None:
    if not _leaves(user):
        return
    workload_stop(workload=work, actor=actor, reason=ExitReason.CANCELLED, message=LEFT)


@transaction.atomic
def _request_tidied(user: User, actor: Actor, request: Request) -> None:
    heir, fresh = user.heir, request_locked(request=request)
    if fresh.state not in UNDECIDED or fresh.requester_id != user.pk or not _leaves(user):
        return
    if heir is not None and _takes(heir, fresh.project):
        lost = personal_forgotten(row=fresh, owner=heir)
        if lost:
            fresh.need = need_left(request=fresh)
            fresh.save(update_fields=["given", "need"])
        event = _give(fresh, "requester", heir, actor)
        if lost:
            tell_of_lost(row=fresh, heir=heir, count=lost, event=event)
    else:
        request_close(request=fresh, then=RequestState.WITHDRAWN, actor=actor, reason=LEFT)


@transaction.atomic
def _schedule_tidied(user: User, actor: Actor, schedule: Schedule) -> None:
    heir, fresh = user.heir, schedule_locked(schedule)
    if fresh.owner_id != user.pk or not _leaves(user):
        return
    if heir is not None and _takes(heir, fresh.project):
        lost = personal_forgotten(row=fresh, owner=heir)
        if lost:
            fresh.save(update_fields=["given"])
        event = _give(fresh, "owner", heir, actor)
        if lost:
            tell_of_lost(row=fresh, heir=heir, count=lost, event=event)
    elif fresh.state == ScheduleState.ACTIVE:
        schedule_pause(schedule=fresh, actor=actor, reason=LEFT)


@transaction.atomic
def _lease_given(user: User, actor: Actor, lease: Lease) -> None:
    heir, asked = user.heir, request_locked(request=lease.request)
    if heir is None or asked.requester_id != user.pk or not _leaves(user):
        return
    if asked.decided_by_id != heir.pk and _takes(heir, lease.project):
        _give(asked, "requester", heir, actor)


def _give(row: Request | Schedule, column: str, heir: User, actor: Actor) -> int:
    before = getattr(row, column).uid
    setattr(row, column, heir)
    row.save(update_fields=[column])
    told = {"before": before, "after": heir.uid}
    return record(EventKind.OWNER_CHANGED, row, actor=actor, project=row.project, **told)


def _takes(heir: User, project: Project) -> bool:
    return heir.is_active and standing(user=heir).works_in(project)


def _heir_may(row: User, heir: User | None) -> None:
    if heir is None:
        return
    if heir.pk == row.pk or not heir.is_active or heir.service_account:
        raise Invalid(heir=gettext("Choose another person who is still here."))
    shared = standing(user=heir)
    homes = Project.objects.filter(memberships__user=row)
    if homes.exists() and not any(shared.works_in(one) for one in homes):
        raise Invalid(heir=gettext("The heir works in none of this person's projects."))
