"""What still lives of a project, or of a person: the consequences of closing it or letting go."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.schedules import ScheduleState
from pool.lifecycle.workloads import HOLDING, OPEN, WAITING, WorkloadState
from pool.models.leases import Lease
from pool.models.placements import Placement
from pool.models.requests import Request
from pool.models.schedules import Schedule
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload

UNDECIDED = (RequestState.DRAFT, RequestState.SUBMITTED, RequestState.RETURNED)
RESUMABLE = (WorkloadState.STOPPED, WorkloadState.RECLAIMED)


@dataclass(frozen=True, slots=True)
class Living:
    """How many of each still live. `holding` of the workloads hold cards or a node now."""

    workloads: int
    holding: int
    leases: int
    requests: int
    schedules: int
    notebooks: int = 0

    @property
    def nothing(self) -> bool:
        """Whether a project may close: stopped notebooks and paused schedules hold nothing."""
        return not (self.workloads or self.holding or self.leases or self.requests)


def work_open(who: Q) -> QuerySet[Workload]:
    """Workloads that wait or hold something; an array is one, its pieces are not counted."""
    return Workload.objects.filter(who, state__in=sorted(OPEN), parent=None).order_by("pk")


def project_living(*, project: Project) -> Living:
    """What lives of a project; a placement still open counts as held."""
    mine = Q(project=project)
    open_ones = Placement.objects.filter(
        attempt__workload__project=project, state=PlacementState.OPEN
    )
    return Living(
        workloads=work_open(mine).count(),
        holding=open_ones.count(),
        leases=Lease.objects.filter(mine).exclude(state=LeaseState.ENDED).count(),
        requests=Request.objects.filter(mine, state__in=UNDECIDED).count(),
        schedules=Schedule.objects.filter(mine, state=ScheduleState.ACTIVE).count(),
    )


def person_living(*, user: User) -> Living:
    """What lives of a person. Leases are those that they asked for; the project keeps them."""
    mine = Q(owner=user)
    running = Workload.objects.filter(mine, state__in=sorted(HOLDING))
    return Living(
        workloads=work_open(mine)
        .filter(state__in=sorted(WAITING | {WorkloadState.ACTIVE}))
        .count(),
        holding=running.count(),
        leases=leases_of(user).count(),
        requests=Request.objects.filter(requester=user, state__in=UNDECIDED).count(),
        schedules=Schedule.objects.filter(mine).exclude(state=ScheduleState.ENDED).count(),
        notebooks=resumable_of(user).count(),
    )


def leases_of(user: User) -> QuerySet[Lease]:
    """Leases that have not ended and were asked for by this person."""
    rows = Lease.objects.filter(request__requester=user).exclude(state=LeaseState.ENDED)
    return rows.select_related("request", "project")


def resumable_of(user: User) -> QuerySet[Workload]:
    """Notebooks that rest with their files, and can be resumed by whoever owns them."""
    return Workload.objects.filter(
        owner=user, kind=WorkloadKind.NOTEBOOK, state__in=RESUMABLE
    ).order_by("pk")
