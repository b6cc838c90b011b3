"""What a used-up budget makes the pool do, and how that is taken back."""

from django.db.models import Q, QuerySet

from billing.models.budgets import Budget
from billing.rating.budgets import Action
from nodeagent.protocol.vocabulary import ExitReason, WorkloadKind
from pool.events import SYSTEM
from pool.lifecycle.roles import Priority
from pool.lifecycle.workloads import HOLDING, WorkloadState
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.services.tenants import project_resume, project_suspend
from pool.services.workloads import workload_hold, workload_release, workload_stop

SPENT = "The budget is used up"
"""How the reason begins with which the pool keeps things from starting; it is let go by it."""

REASONS = {
    Action.APPROVAL: f"{SPENT}: an overdraft must be approved",
    Action.BLOCK: SPENT,
    Action.STOP: f"{SPENT}: what gives way was stopped",
}


def act(budget: Budget) -> None:
    """Let nothing new of it start; with `stop_preemptible`, stop what may be interrupted, too.

    A person's budget keeps that person's waiting work back, any other the projects it is over.
    Twice changes nothing.
    """
    reason = REASONS[Action(budget.action)]
    if budget.user_id is not None:
        for row in _waiting(budget):
            workload_hold(workload=row, actor=SYSTEM, reason=reason, strict=True)
    else:
        for project in _projects(budget).filter(suspended=False):
            project_suspend(project=project, reason=reason, actor=SYSTEM)
    if budget.action == Action.STOP:
        for row in _yielding(budget):
            workload_stop(
                workload=row, actor=SYSTEM, reason=ExitReason.STOPPED, message=REASONS[Action.STOP]
            )


def let_go(budget: Budget) -> None:
    """Take back what the budget did, where no other budget that is used up wants the same."""
    others = Budget.objects.filter(
        removed_at=None, acting_since__isnull=False, organization=budget.organization_id
    ).exclude(pk=budget.pk)
    if budget.user_id is not None:
        held = Workload.objects.filter(
            owner=budget.user_id,
            project__in=_projects(budget),
            state=WorkloadState.ON_HOLD,
            hold_reason__startswith=SPENT,
        )
        if not others.filter(user=budget.user_id).exists():
            for row in held.order_by("pk"):
                workload_release(workload=row, actor=SYSTEM, strict=True)
        return
    rows = others.filter(user=None)
    for project in _projects(budget).filter(suspended=True, suspended_reason__startswith=SPENT):
        if not rows.filter(Q(project=None) | Q(project=project)).exists():
            project_resume(project=project, actor=SYSTEM)


def _projects(budget: Budget) -> QuerySet[Project]:
    rows = Project.objects.filter(
        organization=budget.organization_id, archived_at=None, closing_since=None
    ).order_by("pk")
    return rows if budget.project_id is None else rows.filter(pk=budget.project_id)


def _works(budget: Budget) -> QuerySet[Workload]:
    rows = Workload.objects.filter(project__in=_projects(budget), array_size=None)
    return rows if budget.user_id is None else rows.filter(owner=budget.user_id)


def _waiting(budget: Budget) -> QuerySet[Workload]:
    return _works(budget).filter(state=WorkloadState.QUEUED).order_by("pk")


def _yielding(budget: Budget) -> QuerySet[Workload]:
    """What may be interrupted: preemptible or of a low priority; endpoints may be spared."""
    rows = _works(budget).filter(state__in=HOLDING - {WorkloadState.STOPPING})
    rows = rows.filter(Q(preemptible=True) | Q(priority__in=[Priority.LOW, Priority.SCAVENGER]))
    if budget.spare_endpoints:
        rows = rows.exclude(kind=WorkloadKind.REPLICA)
    return rows.exclude(kind=WorkloadKind.EXTERNAL).order_by("pk")
