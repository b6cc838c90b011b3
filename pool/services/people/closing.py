"""A project closes, or moves to another organization: only once nothing of it lives any more."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.errors import Invalid, StillLiving
from pool.events import SYSTEM, Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.schedules import ScheduleState
from pool.models.leases import Lease
from pool.models.people.invitations import Invitation
from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.selectors.people.living import UNDECIDED, Living, project_living, work_open
from pool.services.leases import lease_end_now, lease_give_back
from pool.services.people.places import project_locked
from pool.services.requests import request_close, request_locked
from pool.services.series.schedules import schedule_pause
from pool.services.tenants import own_group
from pool.services.workloads import workload_stop
from pool.sweeps import each
from pool.wake import round_wanted

CLOSING = "the project is being closed"


def project_archive(*, project: Project, actor: Actor, wind_down: bool = False) -> Project:
    """Put a project away. Twice changes nothing.

    With `wind_down` its requests are withdrawn, its leases end, its work is stopped gracefully, and
    it is archived as soon as nothing is left: until then `closing_since` is set. That happens right
    after the transaction, one thing at a time, and again in each sweep (`closings_due`).

    Raises:
        StillLiving: something of it lives, and it is not to be wound down.
    """
    with transaction.atomic():
        row = project_locked(project)
        if row.archived_at is None:
            _close(row, None, actor, wind_down)
    return _as_it_is(row)


def project_move(
    *, project: Project, organization: Organization, actor: Actor, wind_down: bool = False
) -> Project:
    """Give a project to another organization, once nothing of it lives; see `project_archive`.

    Its members, quotas and history stay with it. A trust group that it shared stays behind.

    Raises:
        Invalid: it is there already, or one of the two is archived.
        StillLiving: something of it lives, and it is not to be wound down.
    """
    with transaction.atomic():
        row = project_locked(project)
        if row.organization_id == organization.pk:
            raise Invalid(organization=gettext("It belongs there already."))
        if row.archived_at is not None or organization.archived_at is not None:
            raise Invalid(organization=gettext("What is archived does not move."))
        _close(row, organization, actor, wind_down)
    return _as_it_is(row)


@transaction.atomic
def project_reopen(*, project: Project, actor: Actor) -> Project:
    """Take back an archived project, or one that is closing; what was ended stays ended."""
    row = project_locked(project)
    if row.archived_at is None and row.closing_since is None:
        return row
    if row.organization.archived_at is not None:
        raise Invalid(organization=gettext("Its organization is archived."))
    free: dict[str, Any] = {"archived_at": None, "closing_since": None, "moving_to": None}
    _set(row, **free, suspended=False, suspended_reason="")
    record(EventKind.PROJECT_REOPENED, row, actor=actor, project=row)
    round_wanted()
    return row


def closings_due() -> int:
    """Projects that have wound down are archived, or arrive where they move; how many did."""
    keys = list(Project.objects.filter(closing_since__isnull=False).values_list("pk", flat=True))
    return each(keys, _closed_if_due, of="closing")


def _closed_if_due(key: int) -> bool:
    """Whether it closed. What came meanwhile is ended too: a gang that restarted, a late answer."""
    _wind_down(key, SYSTEM)
    return _finished(key, SYSTEM)


@transaction.atomic
def _finished(key: int, actor: Actor) -> bool:
    row = project_locked(Project(pk=key))
    if row.closing_since is None or not project_living(project=row).nothing:
        return False
    _finish(row, actor)
    return True


def _close(row: Project, there: Organization | None, actor: Actor, wind_down: bool) -> None:
    living = project_living(project=row)
    if not living.nothing and not wind_down:
        raise StillLiving(project=row.name, **_counts(living))
    moving = {"to": there.slug} if there is not None else {}
    _set(row, closing_since=now(), moving_to=there, suspended=True, suspended_reason=CLOSING)
    if living.nothing:
        _finish(row, actor)
        return
    record(EventKind.PROJECT_CLOSING, row, actor=actor, project=row, **_counts(living), **moving)
    transaction.on_commit(partial(_closed_at_once, row.pk, actor), robust=True)


def _closed_at_once(key: int, actor: Actor) -> None:
    _wind_down(key, actor)
    _finished(key, actor)


def _as_it_is(row: Project) -> Project:
    row.refresh_from_db()
    return row


def _wind_down(key: int, actor: Actor) -> None:
    """End what lives: requests first, so that nothing is approved, then leases, then work.

    Each in a transaction of its own: together they would take rows of quotas, work and nodes in an
    order that a round or a node's report takes the other way round. What fails waits for the sweep.
    """
    if not Project.objects.filter(pk=key, closing_since__isnull=False).exists():
        return
    requests = Request.objects.filter(project=key, state__in=UNDECIDED).order_by("pk")
    each(requests, partial(_closing, key, _withdrawn, actor), of="closing.request")
    schedules = Schedule.objects.filter(project=key, state=ScheduleState.ACTIVE).order_by("pk")
    each(schedules, partial(_closing, key, _paused, actor), of="closing.schedule")
    leases = Lease.objects.filter(project=key).exclude(state=LeaseState.ENDED).order_by("pk")
    each(leases, partial(_closing, key, _lease_over, actor), of="closing.lease")
    each(work_open(Q(project=key)), partial(_closing, key, _stopped, actor), of="closing.work")


def _closing(key: int, act: Callable[[Actor, Any], None], actor: Actor, thing: Any) -> None:
    """Act while the project still closes: it may have been reopened since the sweep began."""
    if Project.objects.filter(pk=key, closing_since__isnull=False).exists():
        act(actor, thing)


@transaction.atomic
def _withdrawn(actor: Actor, request: Request) -> None:
    fresh = request_locked(request=request)
    if fresh.state in UNDECIDED:
        request_close(request=fresh, then=RequestState.WITHDRAWN, actor=actor, reason=CLOSING)


def _paused(actor: Actor, schedule: Schedule) -> None:
    schedule_pause(schedule=schedule, actor=actor, reason=CLOSING)


def _lease_over(actor: Actor, lease: Lease) -> None:
    """Given back and without a day of grace, each in a transaction of its own."""
    given = lease_give_back(lease=lease, actor=actor)
    if given.state == LeaseState.ENDING:
        lease_end_now(lease=given, actor=actor, reason=CLOSING)


def _stopped(actor: Actor, work: Workload) -> None:
    workload_stop(workload=work, actor=actor, reason=ExitReason.CANCELLED, message=CLOSING)


def _finish(row: Project, actor: Actor) -> None:
    if row.moving_to is not None:
        _arrive(row, row.moving_to, actor)
        return
    _set(row, closing_since=None, archived_at=now())
    for account in User.objects.filter(service_project=row, is_active=True):
        account.is_active = False
        account.save(update_fields=["is_active"])
        record(EventKind.USER_DISABLED, account, actor=actor, username=account.username)
    open_ones = Invitation.objects.filter(project=row, accepted_at=None, revoked_at=None)
    open_ones.update(revoked_at=now())
    record(EventKind.PROJECT_ARCHIVED, row, actor=actor, project=row)


def _arrive(row: Project, there: Organization, actor: Actor) -> Project:
    """The event is told in both organizations: each one's admins read their own log."""
    old = row.organization
    words = {"from": old.slug, "to": there.slug}
    record(EventKind.PROJECT_ARRIVED, row, actor=actor, project=row, **words)
    group = row.trust_group
    if group.projects.exclude(pk=row.pk).exists():
        group = own_group(row.slug)
    fresh = {"organization": there, "trust_group": group, "moving_to": None, "closing_since": None}
    _set(row, **fresh, suspended=False, suspended_reason="")
    record(EventKind.PROJECT_ARRIVED, row, actor=actor, project=row, **words)
    round_wanted()
    return row


def _counts(living: Living) -> dict[str, int]:
    names = ("workloads", "leases", "requests", "holding")
    return {name: getattr(living, name) for name in names}


def _set(row: Project, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))
