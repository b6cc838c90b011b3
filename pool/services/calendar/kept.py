"""What a reservation holds: its cards, and its part of the quota rows while it is active."""

from collections.abc import Iterable
from datetime import datetime

import structlog
from django.db import IntegrityError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import Sum

from pool.lifecycle.placements import PlacementState
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.lifecycle.workloads import HOLDING
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.placements import Hold, Placement
from pool.models.quotas import Quota
from pool.models.reservations import Reservation, ReservedCard
from pool.models.workloads import Workload
from pool.services.levels import Taken, level_lock, level_rows
from pool.services.moves import locked

log = structlog.get_logger(__name__)

LIVE = (ReservationState.CONFIRMED, ReservationState.ACTIVE)
CARD = 1_000_000
_HELD = {
    QuotaUnit.CARDS_MICRO: "equivalents_micro",
    QuotaUnit.MEMORY_MIB: "memory_mib",
    QuotaUnit.COMPUTE_MILLI: "compute_milli",
}
"""Units that kept cards count in, and the column of a hold that counts in each."""

_SHIFT = """
UPDATE pool_quota AS q
SET held = q.held + v.amount,
    ceiling = greatest(q.limit_value, q.held + v.amount)
FROM unnest(%s::bigint[], %s::bigint[]) AS v(id, amount)
WHERE q.id = v.id
"""


def quota_keep(*, reservation: Reservation) -> list[Taken]:
    """Count the kept cards in the project's and organization's limits, from the first second.

    An approved reservation stands: where the limit is used up by then, it is shown as over, and
    nothing new starts until it is not.
    """
    rows = level_rows(
        organization_id=reservation.project.organization_id,
        project_id=reservation.project_id,
        owner_id=None,
        partition_id=reservation.partition_id or 0,
        kinds=[QuotaKind.LIMIT],
    )
    cards = Card.objects.filter(reserved__reservation=reservation, reserved__live=True)
    taken: list[Taken] = []
    for row in rows:
        amount = kept_amount(row, cards)
        if amount:
            taken.append({"quota": row.pk, "amount": amount})
    _shift(taken)
    Reservation.objects.filter(pk=reservation.pk).update(quota_taken=taken)
    reservation.quota_taken = taken
    return taken


def kept_amount(row: Quota, cards: Iterable[Card]) -> int:
    """What whole kept cards count in one row, in its unit; 0 for units of hosts."""
    there = [one for one in cards if row.card_model in ("", one.label)]
    if row.unit == QuotaUnit.CARDS_MICRO:
        return CARD * len(there)
    if row.unit == QuotaUnit.COMPUTE_MILLI:
        return 1000 * len(there)
    if row.unit == QuotaUnit.MEMORY_MIB:
        return sum(one.memory_mib for one in there)
    return 0


def quota_release(*, reservation: Reservation) -> None:
    """Give the rows back what was kept; what still runs on the cards counts by itself from now on.

    Locks the rows first, then the lease's work, then its placements.
    """
    taken: list[Taken] = list(reservation.quota_taken)
    if not taken:
        return
    rows = {row.pk: row for row in level_lock(taken=taken)}
    locked(Workload.objects.filter(lease=reservation.lease_id, state__in=sorted(HOLDING)))
    runs = Placement.objects.filter(
        attempt__workload__lease=reservation.lease_id, state=PlacementState.OPEN
    )
    back = {one["quota"]: -one["amount"] for one in taken}
    for placement in locked(runs):
        noted = {one["quota"] for one in placement.quota_taken}
        for pk, row in rows.items():
            amount = 0 if pk in noted else _held_amount(row, placement)
            if amount:
                placement.quota_taken = [
                    *placement.quota_taken,
                    {"quota": pk, "amount": amount},
                ]
                back[pk] += amount
        placement.save(update_fields=["quota_taken"])
    _shift([{"quota": pk, "amount": amount} for pk, amount in back.items()])
    Reservation.objects.filter(pk=reservation.pk).update(quota_taken=[])
    reservation.quota_taken = []


def _held_amount(row: Quota, placement: Placement) -> int:
    holds = Hold.objects.filter(placement=placement, held__upper_inf=True).exclude(slice=None)
    if row.card_model:
        holds = holds.filter(card__label=row.card_model)
    column = _HELD.get(QuotaUnit(row.unit))
    return int(holds.aggregate(sum=Sum(column))["sum"] or 0) if column else 0


def _shift(taken: list[Taken]) -> None:
    if taken:
        with connection.cursor() as cursor:
            cursor.execute(
                _SHIFT, [[one["quota"] for one in taken], [one["amount"] for one in taken]]
            )


def reservation_prolong(*, lease: Lease, until: datetime) -> None:
    """Keep a lease's cards until its new end, each for itself: a card that another has reserved
    by then ends as before. Without any card left the reservation ends at its old time.
    """
    row = Reservation.objects.filter(lease=lease, state__in=LIVE).first()
    if row is None:
        return
    span = DateTimeTZRange(row.span.lower, until)
    longer = 0
    for card in locked(ReservedCard.objects.filter(reservation=row, live=True)):
        try:
            with transaction.atomic():
                longer += ReservedCard.objects.filter(pk=card.pk).update(span=span)
        except IntegrityError:
            log.info("reservation.card_not_prolonged", card=card.card_id, reservation=row.uid)
    if longer:
        Reservation.objects.filter(pk=row.pk).update(span=span)


@transaction.atomic
def quota_settle(key: int) -> bool:
    """Work on kept cards that was carried over from another lease no longer counts by itself."""
    rows = Reservation.objects.filter(pk=key, state=ReservationState.ACTIVE)
    seen = rows.first()
    if seen is None:
        return False
    level_lock(taken=seen.quota_taken)
    locked(Workload.objects.filter(lease=seen.lease_id, state__in=sorted(HOLDING)))
    runs = Placement.objects.filter(
        attempt__workload__lease=seen.lease_id, state=PlacementState.OPEN
    )
    counted = {one["quota"] for one in seen.quota_taken}
    cards = set(seen.kept.filter(live=True).values_list("card", flat=True))
    back: list[Taken] = []
    for placement in locked(runs):
        double = [one for one in placement.quota_taken if one["quota"] in counted]
        held = set(placement.holds.exclude(card=None).values_list("card", flat=True))
        if double and held <= cards:
            back += [{"quota": one["quota"], "amount": -one["amount"]} for one in double]
            placement.quota_taken = [one for one in placement.quota_taken if one not in double]
            placement.save(update_fields=["quota_taken"])
    _shift(_summed(back))
    return bool(back)


def _summed(taken: list[Taken]) -> list[Taken]:
    """One entry a row: a statement changes each row once."""
    found: dict[int, int] = {}
    for one in taken:
        found[one["quota"]] = found.get(one["quota"], 0) + one["amount"]
    return [{"quota": key, "amount": amount} for key, amount in found.items()]
