"""Requests about a lease that is in force: what they take while they wait, what the yes does.

Until the yes the lease stays as it is. After its end nothing is left to alter: then a yes opens a
lease of its own.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from pool.errors import Invalid, Stale
from pool.events import Actor
from pool.lifecycle.leases import LeaseChange, LeaseState
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.requests import Request
from pool.selectors.offers import Asked, asked_where
from pool.services.entitlements import entitlement_give_back, entitlement_take
from pool.services.leases import lease_lengthen, lease_open, lease_replace
from pool.services.levels import Taken
from pool.services.wishes import Wish


def alterable(*, request: Request) -> Lease | None:
    """The lease it would alter, if that is still in force."""
    if request.alters_id is None:
        return None
    return Lease.objects.filter(pk=request.alters_id, state=LeaseState.ACTIVE).first()


def wanted_of(*, wish: Wish, copies: int) -> Any:
    """What the wish asks of entitlement rows, partition by partition."""
    return asked_where(
        need=wish.need, copies=copies, options=wish.options, partitions=wish.partitions
    )


def pending_take(*, request: Request, wish: Wish) -> list[Taken]:
    """What it takes while it waits: of a lease in force only what goes beyond what that has.

    Raises:
        QuotaExceeded, Impossible: no partition admits it.
    """
    wanted = wanted_of(wish=wish, copies=request.copies)
    lease = alterable(request=request)
    if lease is None:
        return entitlement_take(project=request.project, wanted=wanted)
    if request.alteration == LeaseChange.EXTEND:
        return []
    has = {(row.partition_id, row.card_model, row.unit): n for row, n in _rows(lease)}
    beyond: list[tuple[Partition, Asked]] = [
        (where, {key: max(0, n - has.get((where.pk, *key), 0)) for key, n in asked.items()})
        for where, asked in wanted
    ]
    return entitlement_take(project=request.project, wanted=beyond)


FIXED = {
    LeaseChange.EXTEND: ("need", "copies", "lease_kind", "starts_at", "partitions"),
    LeaseChange.RESIZE: ("duration_seconds", "lease_kind", "starts_at"),
}
"""What a request takes from the lease that it is about: the yes goes by that, whatever it says."""


def as_the_lease(*, request: Request, words: Mapping[str, Any]) -> None:
    """Pass when a request about a lease still says of it what the lease says.

    `words` are all its words as they would be kept: deciders and their steps judge by them.

    Raises:
        Invalid: a word would differ from the lease.
    """
    if not request.alteration:
        return
    was = {name: getattr(request, name) for name in words if name != "partitions"}
    was["partitions"] = set(request.partitions.all())
    fixed = [name for name in FIXED[LeaseChange(request.alteration)] if words[name] != was[name]]
    if fixed:
        kept = gettext("A request about a lease takes this from the lease.")
        raise Invalid(**dict.fromkeys(fixed, kept))


def lease_granted(
    *, request: Request, wish: Wish | None, taken: list[Taken], actor: Actor
) -> Lease:
    """What the last yes brings: a new lease, or the old one longer, or another size in its place.

    `taken` is what the request held while it waited, `wish` what it asks, judged now: needed for
    requests about a lease. Call it inside the approval.
    """
    lease = alterable(request=request)
    if lease is None:
        if wish is not None:
            taken = _taken_anew(request, wish, taken)
        return lease_open(request=request, taken=taken, actor=actor)
    if request.alteration == LeaseChange.EXTEND:
        return lease_lengthen(
            lease=lease, seconds=request.duration_seconds, request=request, actor=actor
        )
    if wish is None:
        raise Stale
    entitlement_give_back(project=request.project, taken=lease.entitled)
    lease.entitled = []
    lease.save(update_fields=["entitled"])
    taken = _taken_anew(request, wish, taken)
    made = lease_open(request=request, taken=taken, actor=actor, until=lease.valid.upper)
    lease_replace(lease=lease, actor=actor)
    return made


def _taken_anew(request: Request, wish: Wish, taken: list[Taken]) -> list[Taken]:
    entitlement_give_back(project=request.project, taken=taken)
    wanted = wanted_of(wish=wish, copies=request.copies)
    return entitlement_take(project=request.project, wanted=wanted)


def _rows(lease: Lease) -> list[tuple[Quota, int]]:
    amounts = {one["quota"]: int(one["amount"]) for one in lease.entitled}
    return [(row, amounts[row.pk]) for row in Quota.objects.filter(pk__in=amounts)]
