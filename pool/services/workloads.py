"""Workloads: submitted, stopped, held back, released, resumed."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason, Silence, WorkloadKind
from pool.clock import now
from pool.errors import IllegalMove, Invalid, NotYours, TooMany
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import ENDED, WAITING, WORKLOAD, WorkloadState
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.needs import to_mapping
from pool.rules.workloads import MOST_LIVE, work_problems
from pool.selectors.allowances import LIVE
from pool.selectors.offers import host_of
from pool.services.attempts import attempt_stop
from pool.services.moves import locked, move
from pool.services.refusals import refuse
from pool.services.rights import Weights, lease_in_force, right_to_start
from pool.services.wishes import (
    project_open,
    template_usable,
    wish_judged,
    wish_within_limits,
)
from pool.wake import round_wanted

RUNNABLE = frozenset({WorkloadKind.JOB})
"""Kinds that some runner can start today."""

RETURNING = frozenset({ExitReason.START_FAILED, ExitReason.PREEMPTED})
"""Stops after which work goes back to the queue, unless it is wanted no more."""


@transaction.atomic
def workload_submit(
    *,
    user: User,
    project: Project,
    template_version: TemplateVersion,
    command: Any,
    actor: Actor,
    name: str = "",
    comment: str = "",
    env: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    need: Mapping[str, Any] | None = None,
    expected_seconds: int | None = None,
    partitions: Iterable[Partition] = (),
    lease: Lease | None = None,
    priority: str = "",
    runs: int = 0,
    silence: str = Silence.KEEP,
    when_full: str = "",
    weights: Weights | None = None,
) -> Workload:
    """Queue work, or let it wait for the approval it needs; nothing is written when it is refused.

    What lets it start: the lease given, else the project's allowance, else its active lease of the
    template that holds it and ends last, else a request is opened for it. `when_full` says "wait"
    or "ask" for work that fits the allowance but not beside what lives in it now.

    Raises:
        Invalid: a word is wrong, the template is not offered, or the lease is not usable.
        Suspended: the project may start nothing new.
        TooMany: the member has 1,000 live workloads in the project.
        Impossible: no card of the partitions could ever hold it.
        QuotaExceeded: it is larger than a limit itself.
    """
    version = template_version
    seconds = version.default_seconds if expected_seconds is None else expected_seconds
    refuse(
        work_problems(
            name=name or version.template.slug,
            comment=comment,
            command=command,
            env=env or {},
            files=files or {},
            priority=priority or version.priority,
            runs=runs,
            seconds=seconds,
            most_seconds=version.max_seconds,
            silence=silence,
            when_full=when_full,
        )
    )
    project = project_open(project=project)
    _startable(version, project)
    _few_enough(project, user)
    wish = wish_judged(
        project=project, template_version=version, overrides=need or {}, partitions=partitions
    )
    wish = wish_within_limits(wish=wish, user=user)
    title = (name or version.template.slug).strip()
    right = right_to_start(
        wish=wish,
        user=user,
        lease=lease,
        seconds=seconds,
        title=title,
        when_full=when_full,
        weights={} if weights is None else weights,
        actor=actor,
    )
    cpu, ram, disk = host_of(need=wish.need, options=wish.options)
    workload = Workload.objects.create(
        project=project,
        owner=user,
        name=title,
        name_folded=title.casefold()[:80],
        comment=comment,
        kind=version.kind,
        template_version=version,
        request=right.request,
        lease=right.lease,
        entitlement=right.entitlement,
        need=to_mapping(wish.need),
        asked_micro=wish.micro,
        command=list(command),
        env=dict(env or {}),
        files=dict(files or {}),
        cpu_milli=cpu,
        ram_mib=ram,
        disk_mib=disk,
        expected_seconds=seconds,
        priority=priority or version.priority,
        preemptible=version.preemptible,
        silence=silence,
        grace_seconds=version.grace_seconds,
        runs_left=runs,
        state=WorkloadState.AWAITING_APPROVAL if right.request else WorkloadState.QUEUED,
        queued_at=None if right.request else now(),
        example=project.example,
    )
    workload.partitions.set(right.partitions)
    record(
        EventKind.WORKLOAD_SUBMITTED,
        workload,
        actor=actor,
        name=title,
        state=workload.state,
        entitlement=right.entitlement,
        request=right.request.uid if right.request else "",
        lease=right.lease.uid if right.lease else "",
    )
    if not right.request:
        round_wanted()
    return workload


@transaction.atomic
def workload_stop(
    *,
    workload: Workload,
    actor: Actor,
    reason: ExitReason = ExitReason.CANCELLED,
    message: str = "",
) -> Workload:
    """Want it no more: what waits is cancelled, what holds something is stopped gracefully.

    Work that is being stopped to go back to the queue does not go back. Doing it again, or to work
    that has ended, changes nothing.

    Raises:
        NotYours: it does not exist any more.
    """
    workload = _locked(workload)
    state = WorkloadState(workload.state)
    if state in ENDED:
        return workload
    if state is WorkloadState.STOPPING:
        return _stopping_for_good(workload, actor, reason, message)
    if state in WAITING:
        move(
            workload,
            WorkloadState.CANCELLED,
            actor=actor,
            reason=message,
            changes={"ended_at": now(), "message": message[:400]},
        )
        round_wanted()
        return workload
    move(
        workload,
        WorkloadState.STOPPING,
        actor=actor,
        reason=message,
        changes={"stop_reason": reason, "message": message[:400]},
    )
    attempt_stop(workload=workload, actor=actor)
    return workload


@transaction.atomic
def workload_hold(*, workload: Workload, actor: Actor) -> Workload:
    """Keep queued work from starting until it is released; twice changes nothing.

    Raises:
        IllegalMove: it is not in the queue.
    """
    return _between(workload, WorkloadState.ON_HOLD, actor, {})


@transaction.atomic
def workload_release(*, workload: Workload, actor: Actor) -> Workload:
    """Let held-back work start again; twice changes nothing.

    Raises:
        IllegalMove: it is not held back.
    """
    locked_one = _locked(workload)
    if locked_one.state not in (WorkloadState.ON_HOLD, WorkloadState.QUEUED):
        raise IllegalMove(
            noun=WORKLOAD.name, state=locked_one.state, then=str(WorkloadState.QUEUED)
        )
    return _between(locked_one, WorkloadState.QUEUED, actor, {})


@transaction.atomic
def workload_resume(*, workload: Workload, actor: Actor) -> Workload:
    """Stopped or reclaimed work goes back to the queue, with the same files, for a new attempt.

    Raises:
        IllegalMove: it was neither stopped nor reclaimed.
        Suspended, TooMany: as for new work.
        Invalid: the lease it ran under is over.
    """
    project = project_open(project=workload.project)
    _few_enough(project, workload.owner)
    workload = _locked(workload)
    if workload.state not in (WorkloadState.STOPPED, WorkloadState.RECLAIMED):
        raise IllegalMove(noun=WORKLOAD.name, state=workload.state, then=str(WorkloadState.QUEUED))
    if workload.lease is not None:
        lease_in_force(workload.lease, project)
    fresh = {
        "queued_at": now(),
        "ended_at": None,
        "stop_reason": "",
        "exit_code": None,
        "exit_reason": "",
        "message": "",
        "starts_left": 3,
        "waits": None,
    }
    move(workload, WorkloadState.QUEUED, actor=actor, reason="resumed", changes=fresh)
    round_wanted()
    return workload


def _stopping_for_good(
    workload: Workload, actor: Actor, reason: ExitReason, message: str
) -> Workload:
    """The stop under way leads to the queue no more: the reason that is stored decides at its end.

    The end is judged under the same lock, so it sees either none of this or all of it.
    """
    before = workload.stop_reason
    if before not in RETURNING:
        return workload
    workload.stop_reason, workload.message = reason, message[:400]
    workload.save(update_fields=["stop_reason", "message"])
    words: dict[str, Any] = {"from": workload.state, "to": workload.state, "reason": message[:200]}
    record(EventKind.WORKLOAD_MOVED, workload, actor=actor, before=before, after=reason, **words)
    attempt_stop(workload=workload, actor=actor)
    return workload


def _startable(version: TemplateVersion, project: Project) -> None:
    template_usable(template_version=version, project=project)
    if version.kind not in RUNNABLE:
        raise Invalid(template=gettext("Nothing here can run work of this kind yet."))


def _few_enough(project: Project, user: User) -> None:
    live = Workload.objects.filter(project=project, owner=user, state__in=LIVE).count()
    if live >= MOST_LIVE:
        raise TooMany(what=gettext("live workloads"), limit=MOST_LIVE)


def _between(
    workload: Workload, then: WorkloadState, actor: Actor, changes: dict[str, Any]
) -> Workload:
    workload = _locked(workload)
    if workload.state != then:
        move(workload, then, actor=actor, changes=changes)
        round_wanted()
    return workload


def _locked(workload: Workload) -> Workload:
    rows = Workload.objects.filter(pk=workload.pk)
    found = locked(rows.select_related("project", "owner", "template_version"))
    if not found:
        raise NotYours
    return found[0]
