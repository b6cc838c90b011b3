"""Longer leases: an extension is a request of its own that begins where the lease ends."""

from django.db import transaction
from django.utils.translation import gettext

from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.leases import LeaseState
from pool.models.leases import Lease
from pool.models.requests import Request
from pool.models.users import User
from pool.services.requests import request_submit


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
    """Ask for the same need and number of copies for so many seconds after the lease's end.

    Raises:
        Invalid: the lease is over, or the time is longer than the template allows.
        Suspended, Impossible, QuotaExceeded: as for any request.
    """
    lease = Lease.objects.select_related("project", "request", "template_version__template").get(
        pk=lease.pk
    )
    if lease.state != LeaseState.ACTIVE:
        raise Invalid(lease=gettext("The lease is not in force now."))
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
    )
