"""Waiting work that no card can hold any more: it is told at once, and ends after an hour."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import Workload
from pool.services.moves import move, move_pieces
from pool.services.series.arrays import TURN, array_locked
from pool.wake import round_wanted


def impossible_words(*, why: str, since: datetime) -> dict[str, Any]:
    """Why it waits, in the words of a plan, with the moment since when nothing can hold it."""
    return {**TURN, "reason": "impossible", "detail": why, "since": since.timestamp()}


@transaction.atomic
def impossible_told(*, workloads: Sequence[Workload], why: str, actor: Actor) -> int:
    """Write that no card can hold them; arrays tell it through their pieces. How many rows."""
    words = impossible_words(why=why, since=now())
    count = 0
    for one in workloads:
        fresh = _queued(one).exclude(waits_for="impossible").update(waits=words)
        if not fresh:
            continue
        count += fresh
        record(EventKind.WORKLOAD_EXPLAINED, one, actor=actor, reason="impossible", level="rule")
        if one.array_size:
            Workload.objects.filter(pk=one.pk, state=WorkloadState.ACTIVE).update(waits=words)
    return count


@transaction.atomic
def impossible_no_more(*, workloads: Sequence[Workload]) -> int:
    """Something can hold them again: they wait as before."""
    count = 0
    for one in workloads:
        count += _queued(one).filter(waits_for="impossible").update(waits=None)
        Workload.objects.filter(pk=one.pk).update(waits=None)
    round_wanted()
    return count


@transaction.atomic
def impossible_ended(*, workload: Workload, actor: Actor) -> bool:
    """End work that nothing has been able to hold for an hour; whether it was."""
    row = array_locked(workload)
    why = str((row.waits or {}).get("detail", ""))
    changes = {
        "ended_at": now(),
        "exit_reason": ExitReason.IMPOSSIBLE,
        "message": why[:400],
    }
    failed = WorkloadState.FAILED
    if row.array_size:
        done = move_pieces(
            _queued(row), failed, of=row, actor=actor, reason="impossible", changes=changes
        )
        round_wanted()
        return bool(done)
    if row.state != WorkloadState.QUEUED:
        return False
    move(row, failed, actor=actor, reason="impossible", changes=changes)
    return True


def _queued(one: Workload) -> Any:
    """Its rows in the queue: itself, or the pieces of an array."""
    rows = Workload.objects.filter(state=WorkloadState.QUEUED)
    return rows.filter(parent=one) if one.array_size else rows.filter(pk=one.pk)
