"""The checker's account of what limits and licences get back when work has left."""

from collections.abc import Sequence
from dataclasses import replace

from pool.scheduling.model import Quota, QuotaKind, Running, Seats, Snapshot, Unit


def limits_after(snapshot: Snapshot, leaving: frozenset[int]) -> Snapshot:
    """The same snapshot with limits and licences as they stand once these have left."""
    gone = [run for run in snapshot.running if run.id in leaving]
    if not gone or not (snapshot.quotas or snapshot.seats):
        return snapshot
    return replace(
        snapshot,
        quotas=tuple(_row(snapshot, row, gone) for row in snapshot.quotas),
        seats=tuple(_seats(snapshot, seats, gone) for seats in snapshot.seats),
    )


def _row(snapshot: Snapshot, row: Quota, gone: Sequence[Running]) -> Quota:
    """A guarantee gets nothing back of loans, nor a row of what a reservation keeps."""
    left = row.held
    for run in gone:
        if row.tenant not in run.tenants or row.partition not in (None, run.partition):
            continue
        if row.kind is QuotaKind.ENTITLEMENT and run.borrowed:
            continue
        labels = [label for card, label in _cards(snapshot, run)]
        cards = {card for card, label in _cards(snapshot, run)}
        if row.unit is not Unit.CARD_MICRO:
            at = {Unit.CPU_MILLI: 1, Unit.MEMORY_MIB: 2, Unit.DISK_MIB: 3}[row.unit]
            left -= sum(host[at] for host in run.hosts)
        elif row.tenant not in run.tenants[:2] or not any(
            cards & kept.cards for kept in snapshot.reservations
        ):
            mine = sum(1 for label in labels if row.label in (None, label))
            left -= run.card_micro * mine // max(1, len(labels))
    return replace(row, held=max(0, left)) if left != row.held else row


def _cards(snapshot: Snapshot, run: Running) -> list[tuple[int, str]]:
    """The cards of its slices, with their kinds, one for each slice."""
    labels = {card.id: card.label for card in snapshot.cards}
    pieces = [piece for piece in snapshot.slices if piece.id in run.slices]
    return [(piece.card, labels.get(piece.card, "")) for piece in pieces]


def _seats(snapshot: Snapshot, seats: Seats, gone: Sequence[Running]) -> Seats:
    modes = {piece.id: piece.mode for piece in snapshot.slices}
    back = sum(
        modes.get(piece) is seats.mode
        for run in gone
        if seats.tenant in (None, *run.tenants) and seats.partition in (None, run.partition)
        for piece in run.slices
    )
    return replace(seats, used=seats.used - back) if back else seats
