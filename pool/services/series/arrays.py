"""Arrays: one row that stands for many pieces, and the turns of these."""

from collections.abc import Callable
from typing import Any

from django.db import transaction

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.errors import IllegalMove, NotYours, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import HOLDING, WAITING, WORKLOAD, WorkloadState
from pool.models.ids import new_uid
from pool.models.workloads import Workload
from pool.rules.arrays import Array, array_problem, at_once, indices_of, whole_state
from pool.selectors.series.arrays import states_of
from pool.services.moves import locked, move, move_pieces
from pool.services.refusals import refuse
from pool.wake import round_wanted

SHARED = (
    *("project_id", "owner_id", "kind", "template_version_id", "request_id", "lease_id"),
    *("entitlement", "need", "asked_micro", "runner", "image", "environment_id"),
    *("cpu_milli", "ram_mib", "disk_mib", "runs_asked"),
    *("expected_seconds", "priority", "preemptible", "silence", "grace_seconds", "runs_left"),
    *("not_before", "queued_at", "on_rank_death", "rendezvous_seconds", "example"),
)
"""Columns that every piece has from its array. Command, variables and files stay with the array."""

TURN = {
    "reason": "array",
    "level": "rule",
    "candidates": 0,
    "counts": {},
    "shortage": None,
    "position": None,
    "starts_s": None,
    "detail": "",
}
"""Why a piece waits that has no turn yet, in the words of a plan."""

BATCH = 1000
LONGEST_NAME = 54
"""Characters of an array's name that its pieces keep before their index."""


def array_counted(array: Array | None) -> tuple[int, int]:
    """How many pieces there are, and how many of them may run at a time; one of both without.

    Raises:
        Invalid: it names no pieces, or not these.
    """
    if array is None:
        return 1, 1
    refuse({"array": array_problem(array)})
    pieces = len(array.indices)
    return pieces, at_once(pieces, array.throttle)


def array_spread(*, array: Workload) -> int:
    """Make the pieces of an array that may start now; how many. The caller holds its row's lock.

    A constant number of statements for each thousand pieces.
    """
    shared = {name: getattr(array, name) for name in SHARED}
    name = array.name[:LONGEST_NAME]
    pieces = [
        Workload(
            uid=new_uid("wl"),
            parent=array,
            array_index=index,
            name=f"{name}[{index}]",
            name_folded=f"{name}[{index}]".casefold()[:80],
            state=WorkloadState.QUEUED,
            waits=TURN,
            **shared,
        )
        for index in indices_of(array.array_spec)
    ]
    made = Workload.objects.bulk_create(pieces, batch_size=BATCH)
    places = [one.pk for one in array.partitions.all()]
    through = Workload.partitions.through
    links = [
        through(workload_id=piece.pk, partition_id=place) for piece in made for place in places
    ]
    through.objects.bulk_create(links, batch_size=4 * BATCH)
    return len(made)


@transaction.atomic
def array_stop(
    *,
    array: Workload,
    actor: Actor,
    reason: ExitReason,
    message: str,
    stop: Callable[..., Workload],
) -> Workload:
    """Want no piece any more: those that wait are cancelled, `stop` ends each that holds something.

    The array itself ends when its last piece has. Doing it again changes nothing.
    """
    array = array_locked(array)
    if array.state not in (WorkloadState.ACTIVE, WorkloadState.ON_HOLD):
        return array
    array.stop_reason, array.message = reason, message[:400]
    array.save(update_fields=["stop_reason", "message"])
    if array.state == WorkloadState.ON_HOLD:
        move(array, WorkloadState.ACTIVE, actor=actor, reason=reason)
    move_pieces(
        Workload.objects.filter(parent=array, state__in=sorted(WAITING)),
        WorkloadState.CANCELLED,
        of=array,
        actor=actor,
        reason=message or str(reason),
        changes={"ended_at": now(), "message": message[:400]},
    )
    held = Workload.objects.filter(parent=array, state__in=sorted(HOLDING)).order_by("pk")
    for piece in held:
        stop(workload=piece, actor=actor, reason=reason, message=message)
    array_settled(array=array, actor=actor)
    round_wanted()
    return array


@transaction.atomic
def array_no_more(*, array: Workload, actor: Actor, message: str) -> int:
    """Cancel its pieces that never ran; what runs goes on, and comes back where it gave way.

    How many were cancelled. The array ends with the last piece that goes on.
    """
    array = array_locked(array)
    if array.state not in (WorkloadState.ACTIVE, WorkloadState.ON_HOLD):
        return 0
    count = move_pieces(
        Workload.objects.filter(parent=array, state__in=sorted(WAITING), attempts=None),
        WorkloadState.CANCELLED,
        of=array,
        actor=actor,
        reason=message,
        changes={"ended_at": now(), "message": message[:400]},
    )
    array_settled(array=array, actor=actor)
    round_wanted()
    return count


@transaction.atomic
def array_settled(*, array: Workload, actor: Actor) -> bool:
    """End an array whose every piece has ended; whether it has. Safe to repeat."""
    array = array_locked(array)
    if array.state not in (WorkloadState.ACTIVE, WorkloadState.ON_HOLD):
        return False
    states = states_of(arrays=[array.pk]).get(array.pk, {})
    then = whole_state(states, stop_reason=array.stop_reason)
    if then is None:
        return False
    if array.state == WorkloadState.ON_HOLD:
        move(array, WorkloadState.ACTIVE, actor=actor, reason="every piece has ended")
    ended = {"ended_at": now(), "exit_reason": array.stop_reason}
    told = {"pieces": {state: states[state] for state in sorted(states)}}
    move(array, then, actor=actor, reason="every piece has ended", changes=ended, told=told)
    return True


@transaction.atomic
def array_again(
    *, array: Workload, of: WorkloadState, actor: Actor, reason: str, fresh: dict[str, Any]
) -> Workload:
    """Queue the pieces in the state `of` again (stopped or failed); the array goes on.

    Raises:
        IllegalMove: no piece is in that state, or the array cannot go on.
    """
    array = array_locked(array)
    if array.state != WorkloadState.ACTIVE:
        changes = {"ended_at": None, "stop_reason": "", "exit_reason": "", "message": ""}
        if not WORKLOAD.allows(WorkloadState(array.state), WorkloadState.ACTIVE):
            raise IllegalMove(noun="array", state=array.state, then=str(WorkloadState.ACTIVE))
        move(array, WorkloadState.ACTIVE, actor=actor, reason=reason, changes=changes)
    rows = Workload.objects.filter(parent=array, state=of)
    moved = move_pieces(
        rows, WorkloadState.QUEUED, of=array, actor=actor, reason=reason, changes=fresh
    )
    if not moved:
        raise IllegalMove(noun="array", state=array.state, then=str(WorkloadState.QUEUED))
    round_wanted()
    return array


@transaction.atomic
def array_opened_for(*, piece: Workload, actor: Actor) -> None:
    """An array that has ended goes on when one of its pieces does; the piece is locked after it.

    Raises:
        IllegalMove: it was cancelled, or never began.
    """
    if piece.parent is None:
        return
    array = array_locked(piece.parent)
    if array.state in (WorkloadState.ACTIVE, WorkloadState.ON_HOLD):
        return
    changes = {"ended_at": None, "stop_reason": "", "exit_reason": "", "message": ""}
    move(array, WorkloadState.ACTIVE, actor=actor, reason="a piece goes on", changes=changes)


def turn_kept(*, seen: Workload) -> None:
    """Pass when work that is about to be placed has its turn; its array's row is locked for it.

    Call it before the work itself is locked: an array is older than its pieces.

    Raises:
        Stale: its array is on hold, being stopped, or has as many pieces running as it may.
    """
    if seen.parent_id is None:
        return
    array = array_locked(Workload(pk=seen.parent_id))
    if array.state != WorkloadState.ACTIVE or array.stop_reason:
        raise Stale(array=array.uid, state=array.state)
    if array.array_throttle is None:
        return
    held = Workload.objects.filter(parent=array, state__in=sorted(HOLDING)).count()
    if held >= array.array_throttle:
        raise Stale(array=array.uid, running=held)


@transaction.atomic
def array_throttle(*, array: Workload, throttle: int | None, actor: Actor) -> Workload:
    """Let more or fewer pieces hold something at a time; what runs goes on.

    Raises:
        IllegalMove: it is no array, or has ended.
    """
    array = array_locked(array)
    open_states = (
        WorkloadState.AWAITING_APPROVAL,
        WorkloadState.ACTIVE,
        WorkloadState.ON_HOLD,
    )
    if array.array_size is None or array.state not in open_states:
        raise IllegalMove(noun="array", state=array.state, then="throttled")
    before, array.array_throttle = array.array_throttle, throttle
    array.save(update_fields=["array_throttle"])
    record(EventKind.WORKLOAD_CHANGED, array, actor=actor, throttle=throttle, before=before)
    round_wanted()
    return array


def array_locked(array: Workload) -> Workload:
    """The array as it is now, locked.

    Raises:
        NotYours: it does not exist any more.
    """
    found = locked(Workload.objects.filter(pk=array.pk).select_related("project", "owner"))
    if not found:
        raise NotYours
    return found[0]
