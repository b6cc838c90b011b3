"""The one writer of `state`: ask the table, change the row, record the event; one transaction.

Locks are taken in one order everywhere, freeing included: quota rows (organization, project,
member; by id), then workload, attempt, placement, card, slice, node, ascending ids in each.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models import QuerySet

from pool.clock import now
from pool.errors import IllegalMove, Stale
from pool.events import Actor, record
from pool.lifecycle.alerts import ALERT
from pool.lifecycle.cards import CARD
from pool.lifecycle.events import EventKind
from pool.lifecycle.found import FOUND
from pool.lifecycle.leases import LEASE, LeaseState
from pool.lifecycle.nodes import NODE
from pool.lifecycle.placements import PLACEMENT
from pool.lifecycle.requests import REQUEST, RequestState
from pool.lifecycle.reservations import RESERVATION
from pool.lifecycle.schedules import SCHEDULE
from pool.lifecycle.slices import DEADLINES_S as SLICE_DEADLINES_S
from pool.lifecycle.slices import SLICE
from pool.lifecycle.studies import STUDY
from pool.lifecycle.table import Lifecycle
from pool.lifecycle.targets import CUTBACK, PLANNED_QUOTA
from pool.lifecycle.windows import WINDOW
from pool.lifecycle.workloads import ATTEMPT, PREEMPT_NOTICE_S, WORKLOAD, WorkloadState
from pool.models.adoption.found import FoundWork
from pool.models.alerts import Alert
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.nodes import Node
from pool.models.placements import Placement
from pool.models.quotatree.cutbacks import Cutback
from pool.models.quotatree.plans import PlannedQuota
from pool.models.requests import Request
from pool.models.reservations import Reservation
from pool.models.schedules import Schedule
from pool.models.slices import Slice
from pool.models.tenants import Project
from pool.models.whatif.studies import Study
from pool.models.windows import Window
from pool.models.workloads import Attempt, Workload
from pool.models.yielding import YieldOrder

M = TypeVar("M", bound=models.Model)


@dataclass(frozen=True, slots=True)
class Machine:
    """A noun's table, the event of a move (one for all, or one a state), and its columns."""

    table: Lifecycle[Any]
    told_as: EventKind | Mapping[str, EventKind] | None
    columns: frozenset[str]


_ALL = frozenset({"state_since", "state_before", "state_reason", "deadline"})

MACHINES: dict[type[models.Model], Machine] = {
    Workload: Machine(WORKLOAD, EventKind.WORKLOAD_MOVED, _ALL - {"state_reason"}),
    Attempt: Machine(ATTEMPT, None, frozenset()),
    Placement: Machine(PLACEMENT, EventKind.PLACEMENT_CLOSED, frozenset()),
    Card: Machine(CARD, EventKind.CARD_MOVED, frozenset({"state_since", "state_reason"})),
    Slice: Machine(SLICE, EventKind.SLICE_MOVED, _ALL - {"state_before"}),
    Node: Machine(NODE, EventKind.NODE_MOVED, _ALL - {"deadline"}),
    Alert: Machine(ALERT, EventKind.ALERT_MOVED, frozenset({"state_since"})),
    Schedule: Machine(
        SCHEDULE, EventKind.SCHEDULE_MOVED, frozenset({"state_since", "state_reason"})
    ),
    Study: Machine(STUDY, EventKind.STUDY_MOVED, _ALL - {"state_before"}),
    Lease: Machine(
        LEASE,
        {LeaseState.ENDING: EventKind.LEASE_ENDING, LeaseState.ENDED: EventKind.LEASE_ENDED},
        frozenset({"state_since", "deadline"}),
    ),
    Reservation: Machine(
        RESERVATION, EventKind.RESERVATION_MOVED, frozenset({"state_since", "state_reason"})
    ),
    PlannedQuota: Machine(
        PLANNED_QUOTA, EventKind.QUOTA_PLAN_MOVED, frozenset({"state_since", "state_reason"})
    ),
    Cutback: Machine(CUTBACK, EventKind.CUTBACK_MOVED, frozenset({"state_since", "state_reason"})),
    FoundWork: Machine(
        FOUND, EventKind.FOUND_WORK_MOVED, frozenset({"state_since", "state_reason"})
    ),
    Window: Machine(WINDOW, EventKind.WINDOW_MOVED, frozenset({"state_since", "state_reason"})),
    Request: Machine(
        REQUEST,
        {
            RequestState.SUBMITTED: EventKind.REQUEST_SUBMITTED,
            RequestState.RETURNED: EventKind.REQUEST_RETURNED,
            RequestState.APPROVED: EventKind.REQUEST_APPROVED,
            RequestState.REJECTED: EventKind.REQUEST_REJECTED,
            RequestState.WITHDRAWN: EventKind.REQUEST_WITHDRAWN,
        },
        frozenset(),
    ),
}


def locked(rows: QuerySet[M]) -> list[M]:
    """The rows, locked in ascending id order, without locking what they are joined to."""
    return list(rows.order_by("pk").select_for_update(of=("self",)))


def move(
    row: models.Model,
    then: str,
    *,
    actor: Actor,
    reason: str = "",
    deadline: datetime | None = None,
    changes: Mapping[str, Any] | None = None,
    told: Mapping[str, Any] | None = None,
    project: Project | None = None,
) -> int:
    """Change the state of one row and tell of it; the instance follows. Returns the event's number.

    Call it inside a transaction that holds the row's lock, or on a row just read: it is written
    only while it still has the state that was read. `changes` are further columns of the same
    write, `told` further words of the event, `project` its tenant where the row names none. A
    state that must not last gets its deadline here
    when none is given. An attempt's end has no event of its own (0 is returned): the workload's
    move tells of it.

    Raises:
        IllegalMove: the table has no such arrow.
        Stale: the row's state is no longer what was read.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("a move needs the transaction of its event")
    machine = MACHINES[type(row)]
    state: str = row.state  # type: ignore[attr-defined]
    if not machine.table.allows(state, then):
        raise IllegalMove(noun=machine.table.name, state=str(state), then=str(then))
    values = _columns(row, machine, state, then, reason, deadline) | dict(changes or {})
    wrote = type(row)._default_manager.filter(pk=row.pk, state=state).update(**values)
    if not wrote:
        raise Stale(noun=machine.table.name, state=str(state))
    for name, value in values.items():
        setattr(row, name, value)
    kind = _kind(machine, then)
    if kind is None:
        return 0
    words = {"from": str(state), "to": str(then), "reason": reason, **dict(told or {})}
    if isinstance(row, Workload) and row.parent_id is not None:
        words["array"] = Workload.objects.values_list("uid", flat=True).get(pk=row.parent_id)
    return record(kind, row, actor=actor, project=project, **words)


def move_pieces(
    rows: QuerySet[Workload],
    then: WorkloadState,
    *,
    of: Workload,
    actor: Actor,
    reason: str = "",
    changes: Mapping[str, Any] | None = None,
) -> int:
    """Change the state of many pieces of an array in one statement; how many there were.

    The log tells of it once, on the array, whose row the caller has locked. Only states that may
    last are reached so: they need no deadline.
    """
    found: dict[str, int] = {}
    for state in sorted(WorkloadState):
        if not WORKLOAD.allows(state, then):
            continue
        values = {"state": str(then), "state_before": str(state), "state_since": now()}
        count = rows.filter(state=state).update(**values, deadline=None, **dict(changes or {}))
        if count:
            found[str(state)] = count
    if found:
        words: dict[str, Any] = {"from": of.state, "to": of.state, "reason": reason}
        record(EventKind.WORKLOAD_MOVED, of, actor=actor, pieces=found, pieces_to=then, **words)
    return sum(found.values())


def _kind(machine: Machine, then: str) -> EventKind | None:
    if isinstance(machine.told_as, Mapping):
        return machine.told_as[then]
    return machine.told_as


def _columns(
    row: models.Model,
    machine: Machine,
    state: str,
    then: str,
    reason: str,
    deadline: datetime | None,
) -> dict[str, Any]:
    """What every move writes, as far as the noun has the columns."""
    at = now()
    values: dict[str, Any] = {"state": str(then)}
    if "state_since" in machine.columns:
        values["state_since"] = at
    if "state_before" in machine.columns:
        values["state_before"] = str(state)
    if "state_reason" in machine.columns:
        values["state_reason"] = reason[:200]
    if "deadline" in machine.columns:
        seconds = passing_seconds(row, then) if deadline is None else None
        values["deadline"] = at + timedelta(seconds=seconds) if seconds is not None else deadline
    return values


def passing_seconds(row: models.Model, then: str) -> float | None:
    """How many seconds `row` may spend in the state `then`; None when it may last."""
    if isinstance(row, Slice):
        return SLICE_DEADLINES_S.get(then)  # type: ignore[call-overload, no-any-return]
    if not isinstance(row, Workload):
        return None
    match then:
        case WorkloadState.PLACED:
            return 30
        case WorkloadState.STARTING:
            return row.template_version.start_limit_seconds
        case WorkloadState.STOPPING:
            return row.grace_seconds + 30
        case WorkloadState.PREEMPTING:
            return _notice_left_s(row)
        case WorkloadState.UNREACHABLE:
            return 86_400
    return None


def _notice_left_s(row: Workload) -> float:
    """What is left of the order it was given: the deadline belongs to the order, however often
    the work changes its state meanwhile."""
    order = YieldOrder.objects.filter(workload=row, settled_at=None).first()
    if order is None:
        return PREEMPT_NOTICE_S + 30
    return max(0.0, (order.deadline - now()).total_seconds())
