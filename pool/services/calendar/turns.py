"""What the clock brings about: maintenance begins and ends, reservations begin and are released."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.errors import IllegalMove
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseKind, LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.windows import WindowState, WithRunning
from pool.lifecycle.workloads import WorkloadState
from pool.lifecycle.yielding import YieldKind
from pool.models.leases import Lease
from pool.models.placements import Placement
from pool.models.reservations import Reservation
from pool.models.windows import Window
from pool.models.workloads import Workload
from pool.selectors.calendar.policies import numbers_now
from pool.selectors.calendar.windows import running_on, window_reach
from pool.services.calendar.kept import quota_settle
from pool.services.calendar.reservations import reservation_begin, reservation_end
from pool.services.calendar.service import (
    lease_times,
    service_take,
    windows_one_at_a_time,
)
from pool.services.calendar.windows import window_end
from pool.services.moves import locked, move
from pool.services.workloads import workload_stop
from pool.services.yielding.orders import order_leave
from pool.wake import round_wanted

log = structlog.get_logger(__name__)

LEAST_NOTICE_S = 30
"""Work that was placed when the notice had begun has so long to save, whatever is left of it."""

AT_WORK = (WorkloadState.STARTING, WorkloadState.RUNNING)


def windows_due(*, actor: Actor) -> int:
    """Windows whose time has come begin, those whose end has come end; each in its transaction.

    Before (with a notice) and during a window that does not wait, running work there is sent away:
    again and again until nothing runs, so that a sweep that broke off is made up for.
    """
    at = now()
    open_rows = list(
        Window.objects.filter(state__in=[WindowState.PLANNED, WindowState.ACTIVE]).order_by("pk")
    )
    return sum(_guarded(partial(_turn, row, at, actor)) for row in open_rows)


def _turn(row: Window, at: datetime, actor: Actor) -> bool:
    """What is due of one window; true when it began or ended."""
    if row.state == WindowState.PLANNED and row.span.lower <= at:
        return _begin(row.pk, actor)
    if row.state == WindowState.ACTIVE and row.span.upper <= at:
        return _end(row.pk, actor)
    if row.with_running != WithRunning.WAIT and _clears(row, at):
        _send_away(row, at, actor)
    return False


def _guarded(turn: Callable[[], bool]) -> bool:
    """One turn. What goes wrong in it is told, and keeps no other from its turn."""
    try:
        return turn()
    except Exception:
        log.exception("calendar.failed")
        return False


def _clears(row: Window, at: datetime) -> bool:
    """Whether running work must leave now: during the window, or once its notice has begun."""
    if row.state == WindowState.ACTIVE:
        return True
    early = timedelta(seconds=row.notice_seconds)
    return row.with_running == WithRunning.PREEMPT and row.span.lower - early <= at


@transaction.atomic
def _begin(key: int, actor: Actor) -> bool:
    windows_one_at_a_time()
    (row,) = locked(Window.objects.filter(pk=key))
    if row.state != WindowState.PLANNED or row.span.lower > now():
        return False
    move(row, WindowState.ACTIVE, actor=actor, reason="its time has come")
    service_take(window=row, actor=actor)
    lease_times(window=row, until=row.span.upper, actor=actor)
    round_wanted()
    return True


@transaction.atomic
def _end(key: int, actor: Actor) -> bool:
    windows_one_at_a_time()
    (row,) = locked(Window.objects.filter(pk=key))
    if row.state != WindowState.ACTIVE or row.span.upper > now():
        return False
    window_end(row=row, actor=actor, reason="its time is over")
    return True


def _send_away(row: Window, at: datetime, actor: Actor) -> None:
    """Order what runs there to leave: back to the queue, or stopped for its owner to resume."""
    why = gettext("maintenance: %(reason)s") % {"reason": row.reason}
    left_s = max(0.0, (row.span.lower - at).total_seconds())
    for placement in running_on(window_reach(row)):
        work = placement.attempt.workload
        if work.state not in AT_WORK:
            continue
        if row.with_running == WithRunning.STOP:
            workload_stop(workload=work, actor=actor, reason=ExitReason.STOPPED, message=why)
            continue
        with suppress(IllegalMove):  # it ended, or began to, since it was read
            order_leave(
                workload=work,
                kind=YieldKind.MAINTENANCE,
                reason=why,
                actor=actor,
                notice_s=max(left_s, min(row.notice_seconds, LEAST_NOTICE_S)),
            )
    if not row.noticed:
        Window.objects.filter(pk=row.pk).update(noticed=True)


def reservations_due(*, actor: Actor) -> int:
    """Reservations begin at their time; one that nobody came for is released; how many turned."""
    at = now()
    begins = Reservation.objects.filter(state=ReservationState.CONFIRMED, span__startswith__lte=at)
    over = Reservation.objects.filter(state=ReservationState.ACTIVE, span__endswith__lte=at)
    turns: list[Callable[[], bool]] = [
        *(partial(_reservation_begins, key, actor) for key in begins.values_list("pk", flat=True)),
        *(partial(_over, key, actor) for key in over.values_list("pk", flat=True)),
        *(partial(quota_settle, key) for key in _settling()),
    ]
    turned = sum(_guarded(turn) for turn in turns)
    _note_use(at)
    patience = timedelta(seconds=int(numbers_now()["no_show_s"]))
    late = Reservation.objects.filter(
        state=ReservationState.ACTIVE, used_at=None, state_since__lte=at - patience
    )
    gone = late.values_list("pk", flat=True)
    return turned + sum(_guarded(partial(_no_show, key, actor)) for key in gone)


def _settling() -> list[int]:
    """Active reservations with work that was carried over, and still counts by itself as well."""
    rows = Reservation.objects.filter(state=ReservationState.ACTIVE).exclude(quota_taken=[])
    kept = {one.lease_id: one for one in rows}
    runs = Placement.objects.filter(
        attempt__workload__lease__in=list(kept), state=PlacementState.OPEN
    ).values_list("attempt__workload__lease", "quota_taken")
    twice: set[int] = set()
    for lease, taken in runs if kept else ():
        counted = {one["quota"] for one in kept[lease].quota_taken}
        if counted & {one["quota"] for one in taken}:
            twice.add(kept[lease].pk)
    return sorted(twice)


@transaction.atomic
def _over(key: int, actor: Actor) -> bool:
    """Its own time is over though its lease goes on: others have the cards reserved from here."""
    rows = Reservation.objects.filter(pk=key, state=ReservationState.ACTIVE)
    for row in locked(rows.select_related("project")):
        if row.span.upper <= now():
            reservation_end(row=row, actor=actor, reason="its time is over")
            return True
    return False


@transaction.atomic
def _reservation_begins(key: int, actor: Actor) -> bool:
    rows = Reservation.objects.filter(pk=key, state=ReservationState.CONFIRMED)
    for row in locked(rows.select_related("project")):
        reservation_begin(row=row, actor=actor)
        return True
    return False


def _note_use(at: datetime) -> None:
    """The first start under the lease is remembered: whoever came is no no-show."""
    came = Placement.objects.filter(attempt__workload__lease=OuterRef("lease"))
    waits = Workload.objects.filter(lease=OuterRef("lease"), state=WorkloadState.QUEUED)
    fresh = Reservation.objects.filter(state=ReservationState.ACTIVE, used_at=None)
    fresh.filter(Exists(came) | Exists(waits)).update(used_at=at)


@transaction.atomic
def _no_show(key: int, actor: Actor) -> bool:
    """Nobody came: the cards are released, and what is left of the lease is on demand."""
    keys = Reservation.objects.filter(pk=key).values_list("lease", flat=True)
    leases = locked(Lease.objects.filter(pk__in=list(keys)))
    rows = Reservation.objects.filter(pk=key, state=ReservationState.ACTIVE, used_at=None)
    for row in locked(rows.select_related("project")):
        reservation_end(row=row, actor=actor, reason="nobody came")
        for lease in leases:
            if lease.state == LeaseState.ACTIVE:
                Lease.objects.filter(pk=lease.pk).update(kind=LeaseKind.ON_DEMAND)
                record(EventKind.LEASE_CHANGED, lease, actor=actor, became=LeaseKind.ON_DEMAND)
        return True
    return False
