"""Whose yes a request needs, and by when an answer is promised."""

from datetime import datetime

from pool.lifecycle.leases import LeaseKind
from pool.models.requests import Request
from pool.models.tenants import Organization
from pool.rules.approval import Asked, steps_for
from pool.rules.working import working_after
from pool.selectors.approvals.policies import steps_in_force, terms_of
from pool.services.refusals import refusing
from pool.services.wishes import Wish


def steps_of(*, request: Request, wish: Wish) -> tuple[str, ...]:
    """Its steps by its template's policy, or the one in force in its organization."""
    with refusing():
        policy = steps_in_force(
            version=request.template_version, organization=request.project.organization
        )
    asked = Asked(
        cards=wish.micro * request.copies / 1_000_000,
        days=request.duration_seconds / 86_400,
        reserved=request.lease_kind == LeaseKind.RESERVED,
        partitions=frozenset(one.slug for one in wish.partitions),
        weights=request.weights,
    )
    return steps_for(policy, asked)


def promised_by(*, organization: Organization, at: datetime) -> datetime:
    """When the working hours of the policy have passed since `at`."""
    terms = terms_of(organization=organization)
    return working_after(terms.calendar, at, terms.answer_hours)
