"""Somebody leaves: login and tokens end at once, work winds down, what stays gets an heir."""

from datetime import timedelta
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
from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.people import WIND_DOWN, wind_down_problem
from pool.selectors.memberships import standing
from pool.selectors.people.living import UNDECIDED, leases_of, work_open
from pool.services.memberships import keep_an_admin, membership_remove
from pool.services.people.belongings import belongings_hand_over
from pool.services.refusals import refuse
from pool.services.requests import request_close, request_locked
from pool.services.series.schedules import schedule_pause
from pool.services.workloads import workload_stop

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

    At once: no login, no token, no role. Waiting work is cancelled; running work may go on for
    `seconds`, then it is stopped gracefully. Files, resting notebooks, leases, schedules and
    pending requests go to the heir where the heir may work in their project; without one pending
    requests are withdrawn and schedules pause.

    Raises:
        Invalid: the heir is the person, no longer here, or works in none of the projects; the time
            is over seven days; or nobody would be left to administer the platform.
    """
    refuse({"wind_down_seconds": wind_down_problem(seconds)})
    row = User.objects.select_for_update().get(pk=user.pk)
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
    _hand_over(row, heir, actor)
    for membership in row.memberships.order_by("pk"):
        membership_remove(membership=membership, actor=actor)
    for work in work_open(Q(owner=row)).filter(state__in=sorted(WAITING | {WorkloadState.ACTIVE})):
        _stop(work, actor)
    if seconds == 0:
        _stop_all(row, actor)
    return row


def leavers_due() -> int:
    """Stop what still runs of people whose time is up, and hand on what rests; how many are done.

    Each in a transaction of its own. A person is done when nothing of theirs is open any more.
    """
    rows = User.objects.filter(left_at__isnull=False, winds_down_at__isnull=False)
    return sum(_wound_down(key) for key in rows.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _wound_down(key: int) -> bool:
    row = User.objects.select_for_update(of=("self",)).select_related("heir").get(pk=key)
    if row.winds_down_at is None:
        return False
    if row.winds_down_at <= now():
        _stop_all(row, SYSTEM)
    if work_open(Q(owner=row)).exists():
        return False
    if row.heir is not None:
        belongings_hand_over(user=row, heir=row.heir, actor=SYSTEM)
    row.winds_down_at = None
    row.save(update_fields=["winds_down_at"])
    record(EventKind.USER_WOUND_DOWN, row, actor=SYSTEM, username=row.username)
    return True


def _stop_all(row: User, actor: Actor) -> None:
    states = sorted(HOLDING | WAITING | {WorkloadState.ACTIVE})
    for work in work_open(Q(owner=row)).filter(state__in=states, stop_reason=""):
        _stop(work, actor)


def _stop(work: Workload, actor: Actor) -> None:
    workload_stop(workload=work, actor=actor, reason=ExitReason.CANCELLED, message=LEFT)


def _hand_over(row: User, heir: User | None, actor: Actor) -> None:
    """Pending requests and schedules first: both may bring about work meanwhile."""
    for request in Request.objects.filter(requester=row, state__in=UNDECIDED).order_by("pk"):
        fresh = request_locked(request=request)
        if _takes(heir, fresh.project):
            _give(fresh, "requester", heir, actor)
        else:
            request_close(request=fresh, then=RequestState.WITHDRAWN, actor=actor, reason=LEFT)
    for schedule in Schedule.objects.filter(owner=row).exclude(state=ScheduleState.ENDED):
        if _takes(heir, schedule.project):
            _give(schedule, "owner", heir, actor)
        elif schedule.state == ScheduleState.ACTIVE:
            schedule_pause(schedule=schedule, actor=actor, reason=LEFT)
    if heir is not None:
        _hand_on(row, heir, actor)


def _hand_on(row: User, heir: User, actor: Actor) -> None:
    for lease in leases_of(row):
        if lease.request.decided_by_id != heir.pk and _takes(heir, lease.project):
            _give(lease.request, "requester", heir, actor)
    belongings_hand_over(user=row, heir=heir, actor=actor)


def _give(row: Request | Schedule, column: str, heir: User | None, actor: Actor) -> None:
    assert heir is not None
    before = getattr(row, column).uid
    setattr(row, column, heir)
    row.save(update_fields=[column])
    told = {"before": before, "after": heir.uid}
    record(EventKind.OWNER_CHANGED, row, actor=actor, project=row.project, **told)


def _takes(heir: User | None, project: Project) -> bool:
    return heir is not None and standing(user=heir).works_in(project)


def _heir_may(row: User, heir: User | None) -> None:
    if heir is None:
        return
    if heir.pk == row.pk or not heir.is_active or heir.service_account:
        raise Invalid(heir=gettext("Choose another person who is still here."))
    shared = standing(user=heir)
    homes = Project.objects.filter(memberships__user=row)
    if homes.exists() and not any(shared.works_in(one) for one in homes):
        raise Invalid(heir=gettext("The heir works in none of this person's projects."))
