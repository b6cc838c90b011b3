"""More of a lease: more time, or another size. A request like any other; until the yes nothing
changes, and while nobody answers the lease ends as it would have."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.leases import LeaseChange, LeaseKind, LeaseState
from pool.lifecycle.requests import RequestState
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.users import User
from pool.services.approvals.given import given_like
from pool.services.requests import request_submit

PENDING = (RequestState.SUBMITTED, RequestState.RETURNED)


@transaction.atomic
def lease_extension_ask(
    *,
    lease: Lease,
    user: User,
    seconds: int,
    actor: Actor,
    purpose: str = "",
    weights: dict[str, float] | None = None,
) -> Request:
    """Ask for so many seconds after the lease's end; the yes makes the lease itself longer.

    Of a reserved lease it is a request with a reservation of its own, which begins at the end.

    Raises:
        Invalid: the lease is over, the time is longer than the template allows, or a change of the
            lease waits already.
        Suspended, Impossible, QuotaExceeded: as for any request.
    """
    lease = _in_force(lease)
    same = {} if lease.kind == LeaseKind.RESERVED else _alters(lease, LeaseChange.EXTEND)
    return request_submit(
        user=user,
        project=lease.project,
        template_version=lease.template_version,
        actor=actor,
        need=lease.need,
        copies=lease.copies,
        duration_seconds=seconds,
        lease_kind=lease.kind,
        starts_at=lease.valid.upper,
        partitions=tuple(lease.partitions.all()),
        title=(gettext("Extension of %(lease)s") % {"lease": lease.request.title})[:120],
        purpose=purpose,
        weights=weights or {},
        like=given_like(request=lease.request, user=user),
        **same,
    )


@transaction.atomic
def lease_resize_ask(
    *,
    lease: Lease,
    user: User,
    actor: Actor,
    need: Mapping[str, Any] | None = None,
    copies: int | None = None,
    purpose: str = "",
    weights: dict[str, float] | None = None,
) -> Request:
    """Ask for another size or number until the same end; the yes puts a new lease in its place.

    `need` names what differs. Work goes over to the new lease as far as that carries it.

    Raises:
        Invalid: the lease is over or reserved, nothing would change, or a change waits already.
        Suspended, Impossible, QuotaExceeded: as for any request.
    """
    lease = _in_force(lease)
    if lease.kind == LeaseKind.RESERVED:
        said = gettext("Kept cards cannot be resized: give it back, and ask for others.")
        raise Invalid(lease=said)
    wanted = {**lease.need, **(need or {})}
    if wanted == lease.need and copies in (None, lease.copies):
        raise Invalid(copies=gettext("Nothing would change."))
    return request_submit(
        user=user,
        project=lease.project,
        template_version=lease.template_version,
        actor=actor,
        need=wanted,
        copies=copies or lease.copies,
        duration_seconds=max(60, int((lease.valid.upper - now()).total_seconds())),
        lease_kind=lease.kind,
        partitions=tuple(lease.partitions.all()),
        title=(gettext("Another size for %(lease)s") % {"lease": lease.request.title})[:120],
        purpose=purpose,
        weights=weights or {},
        like=given_like(request=lease.request, user=user),
        **_alters(lease, LeaseChange.RESIZE),
    )


def _in_force(lease: Lease) -> Lease:
    found = Lease.objects.select_related("project", "request", "template_version__template")
    row = found.get(pk=lease.pk)
    if row.state != LeaseState.ACTIVE:
        raise Invalid(lease=gettext("The lease is not in force now."))
    return row


def _alters(lease: Lease, how: LeaseChange) -> dict[str, Any]:
    """The words that bind a request to the lease; one at a time."""
    if lease.changes.filter(state__in=PENDING).exists():
        raise Invalid(lease=gettext("A change of this lease waits for its decision already."))
    return {"alters": lease, "alteration": str(how)}
