"""Steer the queue by hand: raise or lower work, hold a project's queue, set a target for waits."""

from typing import Any

from django.db import transaction

from pool.errors import IllegalMove, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Priority
from pool.lifecycle.workloads import WAITING, WORKLOAD, WorkloadState
from pool.models.installation import Installation
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import title_problem
from pool.services.moves import locked
from pool.services.refusals import refuse
from pool.wake import round_wanted

LONGEST_TARGET_S = 30 * 86400


@transaction.atomic
def workload_rank(*, workload: Workload, priority: str, reason: str, actor: Actor) -> Workload:
    """Give work that waits another priority class; the same class again changes nothing.

    The waiting pieces of an array follow it. Whether the caller may grant `critical` is the
    door's business.

    Raises:
        Invalid: no such class, no reason, or one over 200 characters.
        IllegalMove: it does not wait.
    """
    known = Problem(_("Choose from: %(known)s."), {"known": ", ".join(Priority)})
    refuse(
        {
            "priority": None if priority in set(Priority) else known,
            "reason": _reason_problem(reason),
        }
    )
    found = locked(Workload.objects.filter(pk=workload.pk).select_related("project"))
    if not found:
        raise NotYours
    row = found[0]
    array = row.array_size is not None
    if row.state not in WAITING and not (array and row.state == WorkloadState.ACTIVE):
        raise IllegalMove(noun=WORKLOAD.name, state=row.state, then=priority)
    if row.priority == priority:
        return row
    before, row.priority = row.priority, priority
    row.save(update_fields=["priority"])
    if array:
        waiting = Workload.objects.filter(parent=row, state__in=sorted(WAITING))
        waiting.update(priority=priority)
    words: dict[str, Any] = {"before": before, "after": priority, "reason": reason.strip()}
    record(EventKind.WORKLOAD_RANKED, row, actor=actor, **words)
    round_wanted()
    return row


@transaction.atomic
def project_queue_hold(*, project: Project, reason: str, actor: Actor) -> Project:
    """Let nothing of the project start; it may go on submitting, and what runs goes on.

    Twice changes nothing.

    Raises:
        Invalid: no reason, or one over 200 characters.
    """
    refuse({"reason": _reason_problem(reason)})
    row = _locked(project)
    if row.queue_held:
        return row
    row.queue_held, row.queue_held_reason = True, reason.strip()
    row.save(update_fields=["queue_held", "queue_held_reason"])
    record(EventKind.PROJECT_QUEUE_HELD, row, actor=actor, project=row, reason=reason.strip())
    round_wanted()
    return row


@transaction.atomic
def project_queue_release(*, project: Project, actor: Actor) -> Project:
    """Let the project's work start again; twice changes nothing."""
    row = _locked(project)
    if not row.queue_held:
        return row
    row.queue_held, row.queue_held_reason = False, ""
    row.save(update_fields=["queue_held", "queue_held_reason"])
    record(EventKind.PROJECT_QUEUE_RELEASED, row, actor=actor, project=row)
    round_wanted()
    return row


@transaction.atomic
def wait_target_set(*, seconds: int, actor: Actor) -> int:
    """How long work should wait at most, nineteen times out of twenty.

    Raises:
        Invalid: less than a minute, or more than 30 days.
    """
    fine = 60 <= seconds <= LONGEST_TARGET_S
    refuse({"seconds": None if fine else Problem(_("From one minute to 30 days."))})
    row = Installation.objects.select_for_update().get(pk=1)
    if row.wait_target_s != seconds:
        before, row.wait_target_s = row.wait_target_s, seconds
        row.save(update_fields=["wait_target_s"])
        record(EventKind.QUEUE_TARGET_CHANGED, row, actor=actor, before=before, after=seconds)
    return seconds


def _reason_problem(reason: str) -> Problem | None:
    """Those whom it touches read it, so there has to be one."""
    if title_problem(reason, 200) is None:
        return None
    return Problem(_("Say why, in one line of at most %(most)s characters."), {"most": 200})


def _locked(project: Project) -> Project:
    rows = Project.objects.select_for_update(no_key=True, of=("self",))
    found = rows.select_related("organization").filter(pk=project.pk).first()
    if found is None:
        raise NotYours
    return found
