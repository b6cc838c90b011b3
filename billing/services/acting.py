"""What a used-up budget makes the pool do, and how that is taken back."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from billing.models.budgets import Budget
from billing.rating.budgets import Action
from nodeagent.protocol.vocabulary import ExitReason, WorkloadKind
from pool.errors import IllegalMove
from pool.events import SYSTEM
from pool.lifecycle.roles import Priority
from pool.lifecycle.workloads import HOLDING, WorkloadState
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.services.tenants import project_resume, project_suspend
from pool.services.workloads import workload_hold, workload_release, workload_stop

T = TypeVar("T")

SPENT = "The budget is used up"
"""How the reason begins with which the pool keeps things from starting; it is let go by it."""

REASONS = {
    Action.APPROVAL: f"{SPENT}: an overdraft must be approved",
    Action.BLOCK: SPENT,
    Action.STOP: f"{SPENT}: what gives way was stopped",
}


def act(budget: Budget) -> None:
    """Let nothing new of it start; with `stop_preemptible`, stop what may be interrupted, too.

    A person's budget keeps that person's waiting work back, any other the projects it is over. Each
    in a transaction of its own: several pieces of work are never locked together, and what went its
    way meanwhile is left alone. Twice changes nothing.
    """
    reason = REASONS[Action(budget.action)]
    if budget.user_id is not None:
        _each(
            _waiting(budget),
            lambda row: workload_hold(workload=row, actor=SYSTEM, reason=reason, strict=True),
        )
    else:
        _each(
            _projects(budget).filter(suspended=False),
            lambda row: project_suspend(project=row, reason=reason, actor=SYSTEM),
        )
    if budget.action == Action.STOP:
        _each(
            _yielding(budget),
            lambda row: workload_stop(
                workload=row, actor=SYSTEM, reason=ExitReason.STOPPED, message=reason
            ),
        )


def let_go(*, without: Budget | None = None) -> int:
    """Take back what budgets did wherever none that acts covers it any more; how many were freed.

    `without` counts no more already. Also what moved to another organization meanwhile is found.
    """
    acting = Budget.objects.filter(removed_at=None, acting_since__isnull=False)
    if without is not None:
        acting = acting.exclude(pk=without.pk)
    held = Workload.objects.filter(
        ~Exists(
            acting.filter(
                Q(project=OuterRef("project"))
                | Q(project=None, organization=OuterRef("project__organization")),
                user=OuterRef("owner"),
            )
        ),
        state=WorkloadState.ON_HOLD,
        hold_reason__startswith=SPENT,
        hold_strict=True,
    )
    projects = Project.objects.filter(
        ~Exists(
            acting.filter(
                Q(project=OuterRef("pk")) | Q(project=None, organization=OuterRef("organization")),
                user=None,
            )
        ),
        archived_at=None,
        closing_since=None,
        suspended=True,
        suspended_reason__startswith=SPENT,
    )
    freed = _each(
        held.order_by("pk"),
        lambda row: workload_release(workload=row, actor=SYSTEM, strict=True),
    )
    return freed + _each(
        projects.order_by("pk"), lambda row: project_resume(project=row, actor=SYSTEM)
    )


def _each(rows: Iterable[T], move: Callable[[T], object]) -> int:
    """Move them one by one; one that cannot be moved so any more is passed over."""
    done = 0
    for row in rows:
        with suppress(IllegalMove), transaction.atomic():
            move(row)
            done += 1
    return done


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
