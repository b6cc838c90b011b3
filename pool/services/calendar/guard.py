"""Under the locks of one start: maintenance, cards kept for others, and licence seats."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from pool.clock import now
from pool.errors import Stale
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.windows import WindowState
from pool.models.reservations import Reservation, ReservedCard
from pool.models.slices import Slice
from pool.models.windows import Window
from pool.models.workloads import Workload
from pool.scheduling.model import Placed
from pool.selectors.calendar.windows import window_reach
from pool.services.calendar.seats import seats_check


@dataclass(frozen=True, slots=True)
class Kept:
    """What the workload's own reservation has already: its cards, and the rows that count them."""

    cards: frozenset[int] = frozenset()
    rows: frozenset[int] = frozenset()


def start_allowed(*, workload: Workload, placed: Placed) -> Kept:
    """Pass when nothing planned ahead forbids the start now; tells what is kept for it.

    Call it with the workload, its cards and nodes locked: whoever plans maintenance or keeps cards
    locks the same rows first, so one sees the other.

    Raises:
        Stale: it would overlap maintenance or cards kept for others, or no seat is left.
    """
    kept = kept_for(workload)
    cards = {part.card for part in placed.parts} | {move.card for move in placed.moves}
    if kept.cards and not cards <= kept.cards:
        raise Stale(workload=workload.uid, why="it runs on the cards kept for it only")
    _not_kept_for_others(workload, cards - kept.cards)
    _no_maintenance(workload, placed, cards)
    modes = _modes(placed)
    if modes:
        seats_check(workload=workload, partition_id=placed.partition, modes=modes)
    return kept


def kept_for(workload: Workload) -> Kept:
    """The active reservation of its lease; nothing when it has none."""
    if workload.lease_id is None:
        return Kept()
    rows = Reservation.objects.filter(lease=workload.lease_id, state=ReservationState.ACTIVE)
    row = rows.first()
    if row is None:
        return Kept()
    mine = ReservedCard.objects.filter(reservation=row, live=True, span__contains=now())
    cards = mine.values_list("card", flat=True)
    return Kept(frozenset(cards), frozenset(one["quota"] for one in row.quota_taken))


def _not_kept_for_others(workload: Workload, cards: Collection[int]) -> None:
    at = now()
    until = at + timedelta(seconds=workload.expected_seconds)
    theirs = ReservedCard.objects.filter(live=True, card__in=cards, span__overlap=(at, until))
    if workload.preemptible:
        theirs = theirs.exclude(reservation__partition__lending=True)
    if theirs.exists():
        raise Stale(workload=workload.uid, why="a card is kept for another")


def _no_maintenance(workload: Workload, placed: Placed, cards: Collection[int]) -> None:
    at = now()
    nodes = {host.node for host in placed.hosts}
    windows = Window.objects.filter(
        state__in=[WindowState.PLANNED, WindowState.ACTIVE],
        span__overlap=(at, at + timedelta(seconds=workload.expected_seconds)),
    )
    for window in windows:
        reach = window_reach(window)
        if reach.nodes & nodes or reach.cards & set(cards):
            raise Stale(workload=workload.uid, why="it would overlap maintenance")


def _modes(placed: Placed) -> list[str]:
    """The mode of every slice it takes."""
    there = [part.slice for part in placed.parts if part.new is None and part.slice is not None]
    found = list(Slice.objects.filter(pk__in=there).values_list("mode", flat=True)) if there else []
    return found + [str(part.new.mode) for part in placed.parts if part.new is not None]
