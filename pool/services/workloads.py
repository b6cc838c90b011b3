"""Workloads: submitted, stopped, held back, released, resumed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason, Silence
from pool.clock import now
from pool.errors import Forbidden, IllegalMove, NotYours, TooMany
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Priority
from pool.lifecycle.workloads import ENDED, WAITING, WORKLOAD, WorkloadState
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.users import User
from pool.models.workloads import Workload
from pool.rules.arrays import Array, spec_of
from pool.rules.gangs import Gang, gang_problems
from pool.rules.needs import to_mapping
from pool.rules.workloads import command_of, reason_problem, work_problems
from pool.selectors.offers import host_of
from pool.selectors.series.arrays import live_of_member, pieces_in
from pool.services.attempts import attempt_stop
from pool.services.moves import locked, move
from pool.services.notebooks.beside import none_beside
from pool.services.refusals import refuse
from pool.services.rights import Right, Weights, lease_in_force, right_to_start
from pool.services.series.arrays import (
    array_again,
    array_counted,
    array_opened_for,
    array_spread,
    array_stop,
)
from pool.services.series.dependencies import After, dependencies_open
from pool.services.surroundings.runners import kind_runnable, runner_for
from pool.services.wishes import project_open, template_usable, wish_judged, wish_within_limits
from pool.services.yielding.budgets import critical_more, critical_spend
from pool.wake import round_wanted

RETURNING = frozenset({ExitReason.START_FAILED, ExitReason.PREEMPTED, ExitReason.RANK_DIED})
"""Stops after which work goes back to the queue, unless it is wanted no more."""

FRESH: dict[str, Any] = {
    "ended_at": None,
    "stop_reason": "",
    "exit_code": None,
    "exit_reason": "",
    "message": "",
    "starts_left": 3,
    "waits": None,
}
"""What work that goes back to the queue forgets of its end."""


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
    array: Array | None = None,
    after: Sequence[After] = (),
    gang: Gang | None = None,
    image: str = "",
) -> Workload:
    """Queue work, or let it wait for the approval it needs; nothing is written when it is refused.

    An `array` is one row that stands for its pieces, and needs one request at the most. The work
    starts when all that it is to run `after` is as it should be.

    What lets it start: the lease given, else the project's allowance, else its active lease of the
    template that holds it and ends last, else a request is opened for it. `when_full` says "wait"
    or "ask" for work that fits the allowance but not beside what lives in it now. With an `image`
    it runs in a container of it.

    Raises:
        Invalid: a word is wrong, the template is not offered, the lease is not usable, or the
            organization's budget of critical work is spent.
        Suspended: the project may start nothing new.
        TooMany: the member would have more live workloads than the project allows.
        Impossible: no card of the partitions could ever hold it.
        QuotaExceeded: it is larger than a limit itself.
    """
    version = template_version
    command = command_of(version.kind, command)
    pieces, copies = array_counted(array)
    seconds = version.default_seconds if expected_seconds is None else expected_seconds
    gang = gang or Gang()
    refuse(gang_problems(gang))
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
    template_usable(template_version=version, project=project)
    kind_runnable(template_version=version)
    _few_enough(project, user, pieces)
    wish = wish_judged(
        project=project, template_version=version, overrides=need or {}, partitions=partitions
    )
    wish = wish_within_limits(wish=wish, user=user)
    runner = runner_for(image=image, partitions=wish.partitions, cards=wish.need.parts > 0)
    if (priority or version.priority) == Priority.CRITICAL:
        critical_spend(project=project, card_micro=wish.micro * pieces, seconds=seconds)
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
        pieces=pieces,
        copies=copies,
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
        runner=runner,
        image=image,
        cpu_milli=cpu,
        ram_mib=ram,
        disk_mib=disk,
        expected_seconds=seconds,
        priority=priority or version.priority,
        preemptible=version.preemptible,
        silence=silence,
        grace_seconds=version.grace_seconds,
        runs_asked=runs,
        runs_left=gang.runs(runs),
        on_rank_death=gang.on_rank_death,
        rendezvous_seconds=gang.rendezvous_seconds,
        state=_first_state(right, array),
        array_size=pieces if array else None,
        array_spec=spec_of(array.indices) if array else "",
        array_throttle=array.throttle if array else None,
        queued_at=None if right.request else now(),
        example=project.example,
    )
    workload.partitions.set(right.partitions)
    dependencies_open(workload=workload, after=after)
    if array and not right.request:
        array_spread(array=workload)
    record(
        EventKind.WORKLOAD_SUBMITTED,
        workload,
        actor=actor,
        name=title,
        state=workload.state,
        entitlement=right.entitlement,
        request=right.request.uid if right.request else "",
        lease=right.lease.uid if right.lease else "",
        pieces=pieces,
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
    that has ended, changes nothing. Of an array every piece is meant.

    Raises:
        NotYours: it does not exist any more.
    """
    workload = _locked(workload)
    state = WorkloadState(workload.state)
    if state in ENDED:
        return workload
    if workload.array_size and state is not WorkloadState.AWAITING_APPROVAL:
        return array_stop(
            array=workload, actor=actor, reason=reason, message=message, stop=workload_stop
        )
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
def workload_hold(
    *, workload: Workload, actor: Actor, reason: str = "", strict: bool = False
) -> Workload:
    """Keep waiting work from starting until it is released; twice changes only who and why.

    Of an array what runs goes on. What somebody who leads holds (`strict`), only they release.

    Raises:
        Invalid: the reason is longer than 200 characters.
        IllegalMove: it is neither in the queue nor an array that goes on.
    """
    refuse({"reason": reason_problem(reason)})
    row = _locked(workload)
    if row.hold_strict and not strict and row.state == WorkloadState.ON_HOLD:
        return row
    by = {"hold_reason": reason.strip(), "hold_by": actor.label[:160], "hold_strict": strict}
    return _between(row, WorkloadState.ON_HOLD, actor, by, reason)


@transaction.atomic
def workload_release(*, workload: Workload, actor: Actor, strict: bool = False) -> Workload:
    """Let held-back work start again; twice changes nothing. `strict` is who leads.

    Raises:
        Forbidden: somebody who leads holds it.
        IllegalMove: it is not held back.
    """
    row = _locked(workload)
    then = WorkloadState.ACTIVE if row.array_size else WorkloadState.QUEUED
    if row.state not in (WorkloadState.ON_HOLD, then):
        raise IllegalMove(noun=WORKLOAD.name, state=row.state, then=str(then))
    if row.hold_strict and not strict and row.state == WorkloadState.ON_HOLD:
        raise Forbidden
    free = {"hold_reason": "", "hold_by": "", "hold_strict": False}
    return _between(row, then, actor, free, "")


@transaction.atomic
def workload_resume(*, workload: Workload, actor: Actor) -> Workload:
    """Stopped or reclaimed work goes back to the queue, with the same files, for a new attempt.

    Of an array the pieces that were stopped do.

    Raises:
        IllegalMove: it was neither stopped nor reclaimed.
        Suspended, TooMany: as for new work.
        Invalid: the lease it ran under is over.
    """
    whence = (WorkloadState.STOPPED, WorkloadState.RECLAIMED)
    return _again(workload, whence, actor, "resumed", {})


@transaction.atomic
def workload_retry(*, workload: Workload, actor: Actor) -> Workload:
    """Failed work goes back to the queue for one more attempt; of an array its failed pieces do.

    Raises:
        IllegalMove: nothing of it has failed.
        Suspended, TooMany: as for new work.
        Invalid: the lease it ran under is over.
    """
    return _again(workload, (WorkloadState.FAILED,), actor, "retried", {"failures": 0})


def _again(
    workload: Workload,
    whence: tuple[WorkloadState, ...],
    actor: Actor,
    reason: str,
    more: dict[str, Any],
) -> Workload:
    """Back to the queue, as fresh as new work; critical work asks its budget anew."""
    project = project_open(project=workload.project)
    pieces = pieces_in(workload=workload, state=whence[0])
    critical_more(workload=workload, seconds=workload.expected_seconds, pieces=pieces)
    if workload.parent_id is None and not workload.array_size:
        _few_enough(project, workload.owner)
    array_opened_for(piece=workload, actor=actor)
    row = _locked(workload)
    if row.lease is not None:
        lease_in_force(row.lease, project)
    fresh = {"queued_at": now(), **FRESH, **more}
    if row.array_size:
        _few_enough(project, row.owner, pieces)
        return array_again(array=row, of=whence[0], actor=actor, reason=reason, fresh=fresh)
    if row.state not in whence:
        raise IllegalMove(noun=WORKLOAD.name, state=row.state, then=str(WorkloadState.QUEUED))
    none_beside(workload=row)
    move(row, WorkloadState.QUEUED, actor=actor, reason=reason, changes=fresh)
    round_wanted()
    return row


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


def _few_enough(project: Project, user: User, more: int = 1) -> None:
    live = live_of_member(project=project, user=user)
    if live + more > project.most_live:
        raise TooMany(what=gettext("live workloads"), limit=project.most_live)


def _first_state(right: Right, array: Array | None) -> WorkloadState:
    if right.request:
        return WorkloadState.AWAITING_APPROVAL
    return WorkloadState.ACTIVE if array else WorkloadState.QUEUED


def _between(
    row: Workload, then: WorkloadState, actor: Actor, changes: dict[str, Any], reason: str
) -> Workload:
    """Move locked work; work that is there already only takes the changes."""
    if row.state != then:
        move(row, then, actor=actor, reason=reason, changes=changes)
        round_wanted()
        return row
    for name, value in changes.items():
        setattr(row, name, value)
    row.save(update_fields=list(changes))
    return row


def _locked(workload: Workload) -> Workload:
    rows = Workload.objects.filter(pk=workload.pk)
    found = locked(rows.select_related("project", "owner", "template_version", "lease"))
    if not found:
        raise NotYours
    return found[0]
