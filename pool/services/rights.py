"""What lets a workload start: a lease, an allowance, or a request that is opened for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.leases import LeaseState
from pool.models.leases import Lease
from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.models.tenants import Project
from pool.models.users import User
from pool.rules.arrays import lasting
from pool.rules.needs import to_mapping
from pool.rules.quotas import Allowance
from pool.selectors.allowances import allowance_judged
from pool.selectors.leases import lease_takes, lease_that_holds
from pool.selectors.offers import host_of
from pool.services.approvals.given import judged_in
from pool.services.requests import request_submit
from pool.services.wishes import Wish

Weights = Mapping[str, float] | Callable[[], Mapping[str, float]]
"""Plain named weights, or how to find them: asked only when a request is opened."""


@dataclass(frozen=True, slots=True)
class Right:
    """What lets a workload start: an allowance, a lease, or a request that is still open."""

    entitlement: str
    partitions: tuple[Partition, ...]
    lease: Lease | None = None
    request: Request | None = None


def right_to_start(
    *,
    wish: Wish,
    user: User,
    lease: Lease | None,
    seconds: int,
    title: str,
    when_full: str,
    weights: Weights,
    actor: Actor,
    pieces: int = 1,
    copies: int = 1,
) -> Right:
    """The right of one submission; the caller holds the project's row, so no room is given twice.

    The lease given, else the allowance, else the project's own lease that holds it and ends last,
    else its turn in a full allowance for short work, else a request.

    Of an array with so many `pieces`, `copies` may run at a time; one request is for all of it.

    Raises:
        Invalid: the lease given is not usable.
        QuotaExceeded: a request for it would pass an entitlement.
    """
    if lease is not None:
        return _under(_given_lease(lease, wish))
    judged = allowance_judged(
        project=wish.project,
        need=wish.need,
        options=wish.options,
        partitions=wish.partitions,
        seconds=seconds,
        when_full=when_full,
        copies=copies,
    )
    if judged.answer is Allowance.FITS:
        return Right("allowance", judged.partitions)
    held = lease_that_holds(
        project=wish.project,
        template=wish.template_version.template_id,
        need=wish.need,
        micro=wish.micro,
        host=host_of(need=wish.need, options=wish.options),
        at=now(),
    )
    if held is not None:
        return _under(held)
    if judged.answer is Allowance.WAITS:
        return Right("allowance", judged.partitions)
    request = request_submit(
        user=user,
        project=wish.project,
        template_version=wish.template_version,
        actor=actor,
        need=to_mapping(wish.need),
        duration_seconds=min(lasting(seconds, pieces, copies), wish.template_version.max_seconds),
        copies=copies,
        partitions=wish.partitions,
        title=title,
        like={"given": judged_in({}, "work")},
        weights=weights() if callable(weights) else weights,
    )
    return Right("pending", wish.partitions, request=request)


def _under(lease: Lease) -> Right:
    return Right("lease", tuple(lease.partitions.all()), lease=lease)


def _given_lease(lease: Lease, wish: Wish) -> Lease:
    """The lease a person named, if it holds the work now."""
    found = Lease.objects.filter(pk=lease.pk).first()
    if found is None or found.template_version.template_id != wish.template_version.template_id:
        raise Invalid(lease=gettext("The lease is for another template."))
    lease_in_force(found, wish.project)
    host = host_of(need=wish.need, options=wish.options)
    if not lease_takes(lease=found, need=wish.need, micro=wish.micro, host=host):
        raise Invalid(lease=gettext("The work is larger than the lease, or it is in full use."))
    return found


def lease_in_force(lease: Lease, project: Project) -> None:
    """Pass when work of the project may start under the lease now.

    Raises:
        Invalid: it is another project's, not begun yet, or over.
    """
    if lease.project_id != project.pk:
        raise Invalid(lease=gettext("There is no such lease in this project."))
    if lease.state != LeaseState.ACTIVE or not lease.valid.lower <= now() < lease.valid.upper:
        raise Invalid(lease=gettext("The lease is not in force now."))
