"""Limits, allowances and entitlements: set; what is held already is counted from the start."""

from collections.abc import Iterable

from django.db import connection, transaction
from django.db.models import Q
from django.utils.translation import gettext

from pool.errors import Invalid
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.requests import RequestState
from pool.lifecycle.reservations import ReservationState
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.locks import ROUND
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.placements import Hold, Placement
from pool.models.quotas import Quota
from pool.models.requests import Request
from pool.models.reservations import Reservation
from pool.models.tenants import Organization, Project
from pool.models.users import User
from pool.rules.needs import from_mapping
from pool.rules.quotas import ceiling_of, over_by
from pool.selectors.offers import asked_where, options_for
from pool.services.calendar.kept import kept_amount
from pool.services.entitlements import entitlements_one_at_a_time
from pool.services.levels import Taken, level_counts
from pool.services.moves import locked
from pool.wake import round_wanted

MOST = 2**53
OF_CARDS = frozenset(
    {
        *(QuotaUnit.CARDS_MICRO, QuotaUnit.MEMORY_MIB, QuotaUnit.COMPUTE_MILLI),
        *(QuotaUnit.CARD_SECONDS, QuotaUnit.CARDS_EACH),
    }
)
"""Units that may be bounded per kind of card; without one the row counts all cards alike."""

_HELD = {
    QuotaUnit.CARDS_MICRO: "equivalents_micro",
    QuotaUnit.MEMORY_MIB: "memory_mib",
    QuotaUnit.COMPUTE_MILLI: "compute_milli",
    QuotaUnit.CPU_MILLI: "cpu_milli",
    QuotaUnit.RAM_MIB: "ram_mib",
    QuotaUnit.DISK_MIB: "disk_mib",
}


@transaction.atomic
def quota_set(
    *,
    tenant: Organization | Project,
    partition: Partition,
    unit: str,
    limit: int,
    actor: Actor,
    kind: str = QuotaKind.LIMIT,
    card_model: str = "",
    user: User | None = None,
    reason: str = "",
) -> Quota:
    """Set one row's limit, in the unit's own numbers; `user` narrows it to one member.

    Nothing that runs is stopped by a smaller limit: the ceiling covers what is held, and comes
    down with every release. A row made while work runs counts that work. The same limit again
    changes nothing.

    Raises:
        Invalid: an unknown unit or kind, a limit out of range, a card model for a host unit.
    """
    _check(tenant, unit, kind, limit, card_model, user)
    project = tenant if isinstance(tenant, Project) else None
    place = {
        "organization": tenant if project is None else None,
        "project": project,
        "user": user,
        "partition": partition,
        "card_model": card_model,
        "unit": unit,
        "kind": kind,
    }
    if not Quota.objects.filter(**place).exists():
        _takers_wait(tenant, kind)
    row, made = Quota.objects.get_or_create(
        **place, defaults={"limit_value": limit, "ceiling": limit}
    )
    row = locked(Quota.objects.filter(pk=row.pk))[0]
    before = None if made else row.limit_value
    if made:
        row.held = _held_already(row)
    elif before == limit:
        return row
    row.limit_value, row.ceiling = limit, ceiling_of(limit, row.held)
    row.save(update_fields=["limit_value", "ceiling", "held", "changed_at"])
    record(
        EventKind.QUOTA_CHANGED,
        row,
        actor=actor,
        project=project,
        of=kind,
        unit=unit,
        card_model=card_model,
        partition=partition.uid,
        before=before,
        after=limit,
        held=row.held,
        over_by=over_by(limit, row.held),
        reason=reason[:200],
    )
    round_wanted()
    return row


def _check(
    tenant: Organization | Project,
    unit: str,
    kind: str,
    limit: int,
    card_model: str,
    user: User | None,
) -> None:
    wrong: dict[str, str] = {}
    choose = gettext("Choose from: %(known)s.")
    if unit not in set(QuotaUnit):
        wrong["unit"] = choose % {"known": ", ".join(QuotaUnit)}
    elif card_model and (unit not in OF_CARDS or len(card_model) > 80):
        wrong["card_model"] = gettext("This unit does not count such cards.")
    if kind not in set(QuotaKind):
        wrong["kind"] = choose % {"known": ", ".join(QuotaKind)}
    if not isinstance(limit, int) or isinstance(limit, bool) or not 0 <= limit <= MOST:
        said = gettext("A whole number from %(least)s to %(most)s is needed.")
        wrong["limit"] = said % {"least": 0, "most": MOST}
    wrong |= _misplaced(tenant, kind, user)
    if wrong:
        raise Invalid(**wrong)


def _misplaced(tenant: Organization | Project, kind: str, user: User | None) -> dict[str, str]:
    of_organization = isinstance(tenant, Organization)
    if kind == QuotaKind.ALLOWANCE and (user is not None or of_organization):
        return {"kind": gettext("An allowance is a project's.")}
    if user is not None and of_organization:
        return {"user": gettext("A member's limit is within a project.")}
    return {}


def _takers_wait(tenant: Organization | Project, kind: str) -> None:
    """Whoever could take from the row that is about to be made waits, so that none misses it.

    Entitlement is taken under the organization's row, a start under the round's lock.
    """
    if kind == QuotaKind.ENTITLEMENT:
        key = tenant.organization_id if isinstance(tenant, Project) else tenant.pk
        entitlements_one_at_a_time(organization_id=key)
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ROUND])


def _held_already(row: Quota) -> int:
    """What a new row's tenant holds there already, noted where it will be given back from."""
    if row.unit in (QuotaUnit.CARD_SECONDS, QuotaUnit.CARDS_EACH):
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
