"""The end of an attempt: slices, host share and quota go back only when its node is clean."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.roles import RankDeath
from pool.lifecycle.slices import SliceState
from pool.lifecycle.workloads import WORKLOAD, AttemptState, WorkloadState
from pool.models.nodes import Node
from pool.models.placements import Hold, Placement
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload
from pool.rules.endings import Ended, Ending, ending
from pool.rules.holds import Span, bounds_s, count_is_right
from pool.services import levels
from pool.services.gangs.holds import gang_holds_close
from pool.services.hardware.neighbours import among_own, cards_struck
from pool.services.moves import locked, move
from pool.services.placements import node_wish
from pool.services.yielding.settle import order_settle
from pool.wake import round_wanted

_CLOSE = """
UPDATE pool_hold SET held = pool_close_span(held), agent_held_s = %s
WHERE placement_id = %s AND upper_inf(held)
RETURNING extract(epoch FROM lower(held))::float8, extract(epoch FROM upper(held))::float8
"""

_ROAD = (WorkloadState.PLACED, WorkloadState.STARTING, WorkloadState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How an attempt ended. `held_s` is the node's own count up to `clean_at`; `clean` says that
    its node is clean now. `together` are attempts that ended with it, where neighbours are blamed.

    Not clean is only the end of work on a node that is dead or fenced.
    """

    exit_code: int | None = None
    reason: ExitReason | None = None
    message: str = ""
    ended_at: datetime | None = None
    clean_at: datetime | None = None
    held_s: float | None = None
    clean: bool = True
    together: tuple[str, ...] = ()


def attempt_stop(*, workload: Workload, actor: Actor) -> None:
    """Tell the node to stop the open attempt of a workload that is stopping or preempting.

    Safe to repeat. Call it in the transaction that moved the workload.
    """
    attempt = (
        Attempt.objects.filter(workload=workload, state=AttemptState.OPEN)
        .select_related("node")
        .first()
    )
    if attempt is None:
        return
    if attempt.stop_asked_at is None:
        Attempt.objects.filter(pk=attempt.pk).update(stop_asked_at=now())
    attempt_wish(attempt=attempt)


def attempt_wish(*, attempt: Attempt) -> None:
    """What is wanted of an attempt has changed: every node that runs a part of it is told."""
    nodes = [attempt.node]
    if attempt.size > 1:
        nodes = list(Node.objects.filter(ranks__attempt=attempt).order_by("pk"))
    for node in nodes:
        node_wish(node_id=node.pk, uid=node.uid)


@transaction.atomic
def attempt_end(*, attempt_id: int, end: End, actor: Actor) -> WorkloadState | None:
    """Close the attempt with its placement, give back what it took, and move the workload on.

    Returns the workload's new state, or None when the books had taken this end in before.
    """
    seen = Placement.objects.filter(attempt=attempt_id, state=PlacementState.OPEN).first()
    if seen is None:
        return None
    levels.level_lock(taken=seen.quota_taken)
    workload_id = Attempt.objects.values_list("workload_id", flat=True).get(pk=attempt_id)
    (workload,) = locked(
        Workload.objects.filter(pk=workload_id).select_related("project", "template_version")
    )
    (attempt,) = locked(Attempt.objects.filter(pk=attempt_id).select_related("node"))
    (placement,) = locked(Placement.objects.filter(pk=seen.pk))
    if attempt.state != AttemptState.OPEN or placement.state != PlacementState.OPEN:
        return None
    if end.reason is ExitReason.NEIGHBOUR and among_own(
        placement=placement,
        workload=workload,
        told=end.together,
        ended_at=end.ended_at or now(),
    ):
        end = replace(end, reason=None)
    judged = ending(_facts(workload, attempt, end))
    _close(workload, attempt, placement, end, judged, actor)
    if judged.reason is ExitReason.NEIGHBOUR:
        cards_struck(placement=placement, workload=workload, actor=actor)
    _go_on(workload, attempt, end, judged, actor)
    why = end.reason or judged.reason
    order_settle(attempt=attempt, workload=workload, state=judged.state, reason=why, actor=actor)
    attempt_wish(attempt=attempt)
    round_wanted()
    return judged.state


def _facts(workload: Workload, attempt: Attempt, end: End) -> Ended:
    return Ended(
        exit_code=end.exit_code,
        reason=end.reason,
        started=attempt.started_at is not None or end.exit_code is not None,
        stop_reason=workload.stop_reason,
        runs_left=workload.runs_left,
        starts_left=workload.starts_left,
        failures=workload.failures,
        restarts=workload.on_rank_death == RankDeath.RESTART if attempt.size > 1 else None,
        struck=_struck(workload) if end.reason is ExitReason.NEIGHBOUR else 0,
    )


def _struck(workload: Workload) -> int:
    return workload.attempts.filter(exit_reason=ExitReason.NEIGHBOUR).count()


def _close(
    workload: Workload,
    attempt: Attempt,
    placement: Placement,
    end: End,
    judged: Ending,
    actor: Actor,
) -> None:
    """Attempt, placement and holds end; slices are ready again; quota goes back."""
    at = now()
    move(
        attempt,
        AttemptState.ENDED,
        actor=actor,
        changes={
            "ended_at": end.ended_at or attempt.ended_at or at,
            "exit_code": end.exit_code,
            "exit_reason": judged.reason,
            "message": end.message[:400],
            "billable": judged.billable,
            "clean_at": at if end.clean else None,
        },
    )
    if end.clean or attempt.size > 1:
        _slices_back(placement, attempt, actor)
    spans = _close_holds(placement, attempt, end, actor)
    levels.level_give_back(taken=placement.quota_taken)
    words = {"workload": workload.uid, "attempt": attempt.uid, "node": attempt.node.uid}
    move(
        placement,
        PlacementState.CLOSED,
        actor=actor,
        reason=judged.reason,
        changes={"closed_at": at},
        told=words,
        project=workload.project,
    )
    if end.held_s is None or not any(count_is_right(count_s=end.held_s, span=s) for s in spans):
        return
    Hold.objects.filter(placement=placement).update(corrected_s=end.held_s)
    least, most = bounds_s(spans[0])
    record(
        EventKind.HOLD_CORRECTED,
        placement,
        actor=actor,
        project=workload.project,
        agent_held_s=end.held_s,
        least_s=round(least, 3),
        most_s=round(most, 3),
        span_s=round(spans[0].closed - spans[0].opened, 3),
        **words,
    )


def _slices_back(placement: Placement, attempt: Attempt, actor: Actor) -> None:
    held = Slice.objects.filter(holds__placement=placement, state=SliceState.CLEANING)
    if attempt.size > 1:
        clean = attempt.ranks.exclude(clean_at=None)
        held = held.filter(card__node__in=clean.values("node"))
    for row in locked(held):
        move(row, SliceState.READY, actor=actor, told={"node": attempt.node.uid})


def _close_holds(placement: Placement, attempt: Attempt, end: End, actor: Actor) -> list[Span]:
    """End the spans by the database's clock; one each. Those of a gang are judged by node."""
    if attempt.size > 1:
        gang_holds_close(placement, attempt, actor)
        return []
    known = [at.timestamp() for at in (attempt.started_at, attempt.accepted_at) if at is not None]
    began = min(known, default=None)
    clean = end.clean_at.timestamp() if end.clean_at is not None else None
    with connection.cursor() as cursor:
        cursor.execute(_CLOSE, [end.held_s, placement.pk])
        rows = cursor.fetchall()
    return [Span(opened=a, closed=b, began=began, clean=clean) for a, b in rows]


def _go_on(workload: Workload, attempt: Attempt, end: End, judged: Ending, actor: Actor) -> None:
    """Move the workload to where its attempt's end leads, along the arrows of its table."""
    _walk(workload, judged.state, actor)
    changes: dict[str, Any] = {
        "exit_code": end.exit_code,
        "exit_reason": judged.reason,
        "message": end.message[:400],
    }
    if judged.state == WorkloadState.QUEUED:
        retry = judged.uses_run or judged.uses_start
        wait = timedelta(seconds=judged.wait_s)
        changes |= {
            "runs_left": workload.runs_left - judged.uses_run,
            "starts_left": workload.starts_left - judged.uses_start,
            "failures": workload.failures + retry,
            "not_before": now() + wait if judged.wait_s else None,
            "stop_reason": "",
            "started_at": None,
        }
    else:
        changes["ended_at"] = attempt.ended_at
    told = {"attempt": attempt.number, "exit_code": end.exit_code, "node": attempt.node.uid}
    move(workload, judged.state, actor=actor, reason=judged.reason, changes=changes, told=told)


def _walk(workload: Workload, then: str, actor: Actor) -> None:
    """Pass the states on the way that nobody saw: a short job starts and ends between reports."""
    while not WORKLOAD.allows(WorkloadState(workload.state), WorkloadState(then)):
        at = _ROAD.index(WorkloadState(workload.state))
        move(workload, _ROAD[at + 1], actor=actor)
