"""What a tenant holds already when a row is made for it, noted where it will be given back from."""

from collections.abc import Iterable

from django.db.models import Q

from pool.lifecycle.leases import LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.placements import Hold, Placement
from pool.models.quotas import Quota
from pool.models.requests import Request
from pool.models.reservations import Reservation
from pool.rules.needs import from_mapping
from pool.selectors.offers import asked_where, options_for
from pool.services.calendar.kept import kept_amount
from pool.services.levels import Taken, level_counts
from pool.services.moves import locked

OF_CARDS = frozenset(
    {
        *(QuotaUnit.CARDS_MICRO, QuotaUnit.MEMORY_MIB, QuotaUnit.COMPUTE_MILLI),
        *(QuotaUnit.CARD_SECONDS, QuotaUnit.CARDS_EACH),
    }
)
"""Units that may be bounded per kind of card; without one the row counts all cards alike."""

NOT_HELD = frozenset({QuotaUnit.CARD_SECONDS, QuotaUnit.CARDS_EACH})
"""Units of which nothing is held: one is counted by the month, one bounds each workload."""

_HELD = {
    QuotaUnit.CARDS_MICRO: "equivalents_micro",
    QuotaUnit.MEMORY_MIB: "memory_mib",
    QuotaUnit.COMPUTE_MILLI: "compute_milli",
    QuotaUnit.CPU_MILLI: "cpu_milli",
    QuotaUnit.RAM_MIB: "ram_mib",
    QuotaUnit.DISK_MIB: "disk_mib",
}


def held_already(row: Quota) -> int:
    """What a new row's tenant holds there already, noted where it will be given back from."""
    if row.unit in NOT_HELD:
        return 0
    if row.kind == QuotaKind.ENTITLEMENT:
        return sum(_entitled(row, one) for one in _claims(row))
    placements = Placement.objects.filter(
        _whose(row, "attempt__workload__"), state=PlacementState.OPEN, partition=row.partition_id
    )
    if row.unit in OF_CARDS and row.kind == QuotaKind.LIMIT and row.user_id is None:
        on_kept = Q(attempt__workload__lease__reservation__state=ReservationState.ACTIVE)
        placements = placements.exclude(on_kept)
    if row.kind == QuotaKind.ALLOWANCE:
        placements = placements.filter(attempt__workload__entitlement="allowance")
    kept = sum(_kept(row, one) for one in _active(row)) if row.user_id is None else 0
    return kept + sum(_noted(row, one) for one in locked(placements) if _counts(row, one))


def _active(row: Quota) -> Iterable[Reservation]:
    """Reservations of the tenant whose cards count there, whether work is on them or not."""
    if row.kind != QuotaKind.LIMIT:
        return ()
    rows = Reservation.objects.filter(
        _whose(row, ""), state=ReservationState.ACTIVE, partition=row.partition_id
    )
    return locked(rows)


def _kept(row: Quota, reservation: Reservation) -> int:
    cards = Card.objects.filter(reserved__reservation=reservation, reserved__live=True)
    amount = kept_amount(row, cards)
    if amount:
        taken: Taken = {"quota": row.pk, "amount": amount}
        reservation.quota_taken = [*reservation.quota_taken, taken]
        reservation.save(update_fields=["quota_taken"])
    return amount


def _whose(row: Quota, prefix: str) -> Q:
    if row.organization_id is not None:
        return Q(**{f"{prefix}project__organization": row.organization_id})
    mine = Q(**{f"{prefix}project": row.project_id})
    if row.user_id is not None and prefix:
        mine &= Q(**{f"{prefix}owner": row.user_id})
    return mine


def _counts(row: Quota, placement: Placement) -> bool:
    """An allowance in cores is for work without a card, the others are for work with one."""
    return level_counts(row, cards=placement.holds.exclude(slice=None).exists())


def _noted(row: Quota, placement: Placement) -> int:
    holds = Hold.objects.filter(placement=placement, held__upper_inf=True)
    if row.unit == QuotaUnit.WORKLOADS:
        amount = 1
    else:
        if row.card_model:
            holds = holds.filter(card__label=row.card_model)
        amount = sum(holds.values_list(_HELD[QuotaUnit(row.unit)], flat=True))
    if amount:
        taken: Taken = {"quota": row.pk, "amount": amount}
        placement.quota_taken = [*placement.quota_taken, taken]
        placement.save(update_fields=["quota_taken"])
    return amount


def _claims(row: Quota) -> Iterable[Lease | Request]:
    """Leases in force and requests that wait, of the row's tenant."""
    whose = _whose(row, "")
    yield from locked(Request.objects.filter(whose, state=RequestState.SUBMITTED))
    yield from locked(Lease.objects.filter(whose, state=LeaseState.ACTIVE))


def _entitled(row: Quota, claim: Lease | Request) -> int:
    """What one lease or request takes of the row: it counts in its first partition alone."""
    need = from_mapping(claim.need)
    partitions = list(claim.partitions.all())
    options = options_for(
        need=need,
        partitions=partitions,
        trust=claim.project.trust_group_id,
        version=claim.template_version,
        unlimited_modes=claim.template_version.unlimited_modes,
    )
    wanted = asked_where(need=need, copies=claim.copies, options=options, partitions=partitions)
    if not wanted or wanted[0][0].pk != row.partition_id:
        return 0
    amount = wanted[0][1].get((row.card_model, row.unit), 0)
    if amount:
        type(claim).objects.filter(pk=claim.pk).update(
            entitled=[*claim.entitled, {"quota": row.pk, "amount": amount}]
        )
    return amount
