"""What becomes of an order: heard on the node, answered by the job, and over with its attempt."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from nodeagent.protocol.report import FoundWork
from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import Attempt, Workload
from pool.models.yielding import YieldOrder
from pool.rules.yielding import outcome
from pool.services.moves import locked

SAME_S = timedelta(seconds=2)
"""Two readings of one file's age, brought to our clock, differ by less."""

LOST = frozenset({ExitReason.NODE_LOST, ExitReason.NODE_STOPPED, ExitReason.FENCED})


def checkpoint_news(
    *, attempt: Attempt, found: FoundWork, saved_at: datetime | None
) -> dict[str, Any]:
    """Columns of the attempt that a newer checkpoint changes; empty when it is the known one.

    Any rank of a gang may tell of one: a smaller step of a rank that lags is no news.
    """
    if found.checkpoint_step is None or saved_at is None:
        return {}
    known, step = attempt.checkpoint_at, attempt.checkpoint_step
    older = attempt.size > 1 and step is not None and found.checkpoint_step < step
    same = step == found.checkpoint_step and known is not None and saved_at - known < SAME_S
    if older or same:
        return {}
    return {
        "checkpoint_step": found.checkpoint_step,
        "checkpoint_path": found.checkpoint_path,
        "checkpoint_at": saved_at,
        "checkpoint_warned_at": None,
    }


def order_news(*, attempt: Attempt, found: FoundWork) -> bool:
    """Whether the report says something new of the order that was handed over; one query."""
    if not found.notice:
        return False
    unknown = Q(pk=None)
    if found.noticed_at is not None:
        unknown |= Q(noticed_at=None)
    if found.acked_at is not None:
        unknown |= Q(ack_at=None)
    rows = YieldOrder.objects.filter(attempt=attempt, uid=found.notice, settled_at=None)
    return rows.filter(unknown).exists()


def order_heard(
    *,
    workload: Workload,
    attempt: Attempt,
    found: FoundWork,
    noticed_at: datetime | None,
    acked_at: datetime | None,
    saved_at: datetime | None,
    actor: Actor,
) -> None:
    """Write when the node handed the notice over, when the job answered, and what it saved since.

    Times are the node's moments on our clock. Safe to repeat: what is known stays. Call it in the
    transaction that takes the report in, holding the attempt's lock.
    """
    rows = YieldOrder.objects.filter(attempt=attempt, uid=found.notice, settled_at=None)
    for row in locked(rows) if found.notice else ():
        values: dict[str, Any] = {}
        if row.noticed_at is None and noticed_at is not None:
            values["noticed_at"] = max(noticed_at, row.ordered_at)
        if row.ack_at is None and acked_at is not None:
            values["ack_at"] = max(acked_at, row.ordered_at)
        if saved_at is not None and saved_at > row.ordered_at:
            values |= _saved(row, found, saved_at)
        if not values:
            continue
        YieldOrder.objects.filter(pk=row.pk).update(**values)
        if "ack_at" in values:
            _tell(EventKind.YIELD_ACKNOWLEDGED, row, workload, actor)


def _saved(row: YieldOrder, found: FoundWork, saved_at: datetime) -> dict[str, Any]:
    """A checkpoint that came after the order, if it is a new one."""
    if found.checkpoint_step is None or row.checkpoint_step == found.checkpoint_step:
        return {}
    return {
        "checkpoint_at": saved_at,
        "checkpoint_step": found.checkpoint_step,
        "checkpoint_path": found.checkpoint_path,
    }


def order_settle(
    *, attempt: Attempt, workload: Workload, state: WorkloadState, reason: str, actor: Actor
) -> None:
    """The attempt is over and its room free: its open order ends with it. None open is fine."""
    for row in locked(YieldOrder.objects.filter(attempt=attempt, settled_at=None)):
        at = now()
        values: dict[str, Any] = {
            "released_at": at,
            "settled_at": at,
            "outcome": outcome(state, lost=reason in LOST),
        }
        if attempt.checkpoint_at is not None and attempt.checkpoint_at > row.ordered_at:
            values |= {
                "checkpoint_at": attempt.checkpoint_at,
                "checkpoint_step": attempt.checkpoint_step,
                "checkpoint_path": attempt.checkpoint_path,
            }
        YieldOrder.objects.filter(pk=row.pk).update(**values)
        for name, value in values.items():
            setattr(row, name, value)
        _tell(EventKind.YIELD_SETTLED, row, workload, actor, outcome=row.outcome)


def _tell(kind: EventKind, row: YieldOrder, workload: Workload, actor: Actor, **words: Any) -> None:
    record(
        kind,
        workload,
        actor=actor,
        project=workload.project,
        order=row.uid,
        cause=row.kind,
        step=row.checkpoint_step,
        **words,
    )
