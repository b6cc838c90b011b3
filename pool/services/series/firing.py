"""The times of a schedule that have come: each is handled once, and leads to a run or to a why."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.cron import times_after, times_between
from pool.errors import IllegalMove, PoolError
from pool.events import SYSTEM, Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.schedules import Outcome, ScheduleState
from pool.models.leases import Lease
from pool.models.schedules import Schedule, ScheduleRun
from pool.models.workloads import Workload
from pool.rules.arrays import Array
from pool.rules.dependencies import MOST_AFTER, Rule
from pool.rules.gangs import Gang
from pool.rules.schedules import MOST_LOOKED_BACK, Act, Missed, Overlap, Turn, turns
from pool.selectors.series.schedules import live_runs, orphans
from pool.services.catalogue.giving import work_submit
from pool.services.catalogue.judging import given_from
from pool.services.moves import move
from pool.services.series.dependencies import After
from pool.services.series.schedules import project_of_locked, schedule_locked
from pool.services.series.told import tell_of_refused
from pool.services.workloads import workload_stop

OPEN_REQUEST = (RequestState.DRAFT, RequestState.SUBMITTED, RequestState.RETURNED)


class _WouldAsk(Exception):
    """A run would open a request of its own: it is taken back."""


@transaction.atomic
def schedule_fire(*, schedule_id: int) -> int:
    """Handle the times of one schedule that have come; how many were.

    Two sweeps at once: the second passes by, and finds nothing due when it comes again.
    """
    project_of_locked(Schedule(pk=schedule_id))
    rows = Schedule.objects.filter(pk=schedule_id, state=ScheduleState.ACTIVE, next_at__lte=now())
    row = (
        rows.select_for_update(of=("self",), skip_locked=True)
        .select_related("project__organization", "owner", "template_version__template", "request")
        .first()
    )
    if row is None or row.next_at is None:
        return 0
    if _orphaned(row):
        return 0
    at = now()
    zone = row.project.organization.zone
    began = row.next_at - timedelta(seconds=1)
    due = times_between(row.cron, began, at, zone=zone, most=MOST_LOOKED_BACK)
    busy = live_runs(schedule=row)
    said = turns(
        _unhandled(row, due),
        at=at,
        overlap=Overlap(row.overlap),
        missed=Missed(row.missed),
        busy=bool(busy),
    )
    for turn in said:
        _handle(row, turn, busy)
    if row.state == ScheduleState.ACTIVE:
        row.next_at = times_after(row.cron, at, zone=zone, count=1)[0]
        row.save(update_fields=["next_at"])
    return len(said)


@transaction.atomic
def schedule_run_now(*, schedule: Schedule, actor: Actor) -> ScheduleRun:
    """One run beside its times, by hand; overlap is met by its policy.

    Raises:
        IllegalMove: it has ended.
        PoolError: as for any submission.
    """
    project_of_locked(schedule)
    row = schedule_locked(schedule)
    if row.state == ScheduleState.ENDED:
        raise IllegalMove(noun="schedule", state=row.state, then="run")
    busy = live_runs(schedule=row)
    act = Act.RUN if not busy or row.overlap == Overlap.SKIP else Act.RUN_AFTER
    if busy and row.overlap == Overlap.REPLACE:
        act = Act.REPLACE
    return _handle(row, Turn(now(), act), busy, actor=actor)


def schedules_orphaned() -> int:
    """Pause the schedules whose owner may run nothing in the project any more; how many."""
    count = 0
    for pk in orphans().order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = schedule_locked(Schedule(pk=pk))
            count += row.state == ScheduleState.ACTIVE and _orphaned(row)
    return count


def _orphaned(row: Schedule) -> bool:
    if not orphans().filter(pk=row.pk).exists():
        return False
    _pause(row, gettext("its owner left the project"))
    return True


def _unhandled(row: Schedule, due: Sequence[datetime]) -> list[datetime]:
    """Those that were not handled before: a clock that stepped back brings a time once more."""
    known = ScheduleRun.objects.filter(schedule=row, due_at__in=list(due))
    handled = set(known.values_list("due_at", flat=True))
    return [one for one in due if one not in handled]


def _handle(
    row: Schedule, turn: Turn, busy: Sequence[Workload], actor: Actor | None = None
) -> ScheduleRun:
    """Write down what became of one time, and submit its run where it has one."""
    outcome, why, made = Outcome.MISSED, gettext("the pool was away"), None
    if turn.act is Act.SKIP:
        outcome, why = Outcome.SKIPPED, gettext("the run before still goes on")
    elif turn.act is not Act.MISS:
        outcome, why, made = _run(row, turn, busy, actor or _as(row))
    run = ScheduleRun.objects.create(
        schedule=row, due_at=turn.due, outcome=outcome, why=why[:400], workload=made
    )
    tell_of_refused(run=run)
    record(
        EventKind.SCHEDULE_RAN,
        row,
        actor=actor or SYSTEM,
        due=turn.due.isoformat(),
        outcome=str(outcome),
        why=why[:200],
        workload=made.uid if made else "",
    )
    return run


def _run(
    row: Schedule, turn: Turn, busy: Sequence[Workload], actor: Actor
) -> tuple[Outcome, str, Workload | None]:
    lease, why = _right(row)
    if why:
        return Outcome.REFUSED, why, None
    try:
        with transaction.atomic():
            if turn.act is Act.REPLACE:
                _replace(busy, actor)
            behind = busy if turn.act in (Act.RUN_AFTER, Act.REPLACE) else ()
            made = _submitted(row, lease, behind, actor)
            if made.request_id is not None:
                raise _WouldAsk
    except PoolError as refused:
        return Outcome.REFUSED, str(refused), None
    except _WouldAsk:
        why = gettext("the project's allowance does not hold it any more")
        _pause(row, why)
        return Outcome.REFUSED, why, None
    return Outcome.STARTED, "", made


def _replace(busy: Sequence[Workload], actor: Actor) -> None:
    for run in busy:
        workload_stop(
            workload=run,
            actor=actor,
            reason=ExitReason.CANCELLED,
            message=gettext("replaced by the next run of its schedule"),
        )


def _submitted(
    row: Schedule, lease: Lease | None, behind: Sequence[Workload], actor: Actor
) -> Workload:
    need: Mapping[str, Any] = row.need if lease is None else lease.need
    return work_submit(
        given=given_from(row.given),
        user=row.owner,
        project=row.project,
        template_version=row.template_version,
        command=row.command,
        actor=actor,
        name=row.name,
        comment=row.comment,
        env=row.env,
        files=row.files,
        need=need,
        expected_seconds=row.expected_seconds,
        partitions=list(row.partitions.all()) if lease is None else list(lease.partitions.all()),
        lease=lease,
        priority=row.priority,
        runs=row.runs,
        silence=row.silence,
        when_full="wait",
        array=Array(row.array_spec, row.array_throttle) if row.array_spec else None,
        after=[After(run, Rule.END) for run in behind[:MOST_AFTER]],
        gang=Gang(on_rank_death=row.on_rank_death, rendezvous_seconds=row.rendezvous_seconds),
        image=row.image,
    )


def _right(row: Schedule) -> tuple[Lease | None, str]:
    """The lease its request became, or why no run may start by right of it."""
    if row.request is None:
        return None, ""
    if row.request.state in OPEN_REQUEST:
        return None, gettext("its request is not decided yet")
    lease = Lease.objects.filter(request=row.request).first()
    if lease is None:
        why = gettext("its request was not granted")
    elif lease.state != LeaseState.ACTIVE:
        why = gettext("its lease has ended; resuming it asks for a new one")
    else:
        return lease, ""
    _pause(row, why)
    return None, why


def _pause(row: Schedule, why: str) -> None:
    if row.state != ScheduleState.ACTIVE:
        return
    paused = {"next_at": None}
    move(row, ScheduleState.PAUSED, actor=SYSTEM, reason=why, changes=paused)


def _as(row: Schedule) -> Actor:
    """Who submits a run: the schedule, in the words of its owner."""
    return Actor("system", row.uid, f"{row.name} ({row.owner})"[:160])


def due_schedules(*, at: datetime, most: int) -> list[int]:
    """Keys of the schedules whose time has come, the longest due first."""
    rows = Schedule.objects.filter(state=ScheduleState.ACTIVE, next_at__lte=at)
    return list(rows.order_by("next_at", "pk").values_list("pk", flat=True)[:most])
