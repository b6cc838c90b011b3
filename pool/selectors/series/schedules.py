"""Schedules a person may read, their next times and their history."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from pool.clock import now
from pool.cron import times_after
from pool.lifecycle.roles import Role
from pool.lifecycle.schedules import ScheduleState
from pool.lifecycle.workloads import OPEN
from pool.models.schedules import Schedule, ScheduleRun
from pool.models.tenants import Membership
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing

PREVIEWED = 5


def schedule_list(*, standing: Standing) -> QuerySet[Schedule]:
    """Schedules of the projects the person may read, newest first; not those that have ended."""
    return (
        Schedule.objects.filter(standing.sees())
        .exclude(state=ScheduleState.ENDED)
        .select_related("project__organization", "owner", "template_version__template", "request")
        .order_by("-pk")
    )


def schedule_runs(*, schedule: Schedule) -> QuerySet[ScheduleRun]:
    """What became of its times, newest first, with the work they made."""
    rows = ScheduleRun.objects.filter(schedule=schedule)
    return rows.select_related("workload").order_by("-due_at", "-pk")


def next_times(*, schedule: Schedule, count: int = PREVIEWED) -> list[datetime]:
    """The times that come next; none while it is paused."""
    if schedule.state != ScheduleState.ACTIVE:
        return []
    zone = schedule.project.organization.zone
    return times_after(schedule.cron, now(), zone=zone, count=count)


def live_runs(*, schedule: Schedule) -> list[Workload]:
    """Those of its runs that still live, newest first."""
    rows = Workload.objects.filter(schedule_run__schedule=schedule, state__in=sorted(OPEN))
    return list(rows.order_by("-pk"))


def orphans() -> QuerySet[Schedule]:
    """Active schedules whose owner may run nothing in the project any more."""
    return Schedule.objects.filter(
        Q(owner__is_active=False) | ~Exists(_roles()), state=ScheduleState.ACTIVE
    )


def _roles() -> QuerySet[Membership]:
    """The roles by which the owner of a schedule may run work in its project."""
    return Membership.objects.filter(
        Q(project=OuterRef("project"), role__in=[Role.MEMBER, Role.LEAD])
        | Q(organization=OuterRef("project__organization"), role=Role.ORG_ADMIN)
        | Q(role=Role.PLATFORM_ADMIN),
        user=OuterRef("owner"),
    )
