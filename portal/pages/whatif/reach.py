"""Who plans here, and for which organization."""

from pool.lifecycle.roles import Role
from pool.models import Card, Organization, Study
from pool.selectors.memberships import Standing
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.pages.htmx import refuse_unless

FEW_CARDS = 8
"""Up to so many cards what-if stays out of sight until it is first used."""


def plans(standing: Standing) -> bool:
    """Whether somebody may ask for replays."""
    return anywhere(standing, Verb.CAPACITY_PLAN)


def enter(standing: Standing) -> None:
    """Pass who plans, refuse others.

    Raises:
        PermissionDenied: a page of 403.
    """
    refuse_unless(plans(standing))


def home_of(standing: Standing) -> Organization | None:
    """The organization that a person's what-ifs belong to: none for who runs the platform."""
    mine = standing.in_organizations(Role.ORG_ADMIN)
    if standing.platform and not mine:
        return None
    return Organization.objects.filter(pk__in=mine).order_by("pk").first()


def offered(standing: Standing) -> bool:
    """Whether a page should lead to what-ifs."""
    if not plans(standing):
        return False
    return Card.objects.exclude(state="retired").count() > FEW_CARDS or Study.objects.exists()
