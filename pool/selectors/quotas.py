"""Quota rows of the tenants that a person may see."""

from django.db.models import Q, QuerySet

from pool.lifecycle.roles import Role
from pool.models.quotas import Quota
from pool.selectors.memberships import Standing


def quota_list(*, standing: Standing) -> QuerySet[Quota]:
    """Rows of one's organizations, of the projects one may read, and of people inside them."""
    rows = Quota.objects.select_related(
        "organization", "project__organization", "user", "partition"
    )
    if not standing.platform:
        inside = Q(organization__in=standing.in_organizations(*Role))
        above = Q(organization__projects__in=standing.in_projects(*Role))
        rows = rows.filter(standing.spends() | inside | above).distinct()
    return rows.order_by("organization", "project", "user", "partition", "card_model", "unit")
