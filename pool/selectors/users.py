"""People, for those who administer them."""

from django.db.models import Prefetch, QuerySet

from pool.lifecycle.roles import Role
from pool.models.tenants import Membership
from pool.models.users import User
from pool.selectors.memberships import Standing

MOST_LIKE = 200
"""So many people at most are meant by a part of a name."""


def people_like(text: str) -> list[int]:
    """Keys of people with the text in their user name: to narrow lists that one may read, by keys
    that an index knows; not to be shown."""
    rows = User.objects.filter(username__icontains=text).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:MOST_LIKE])


def user_list(*, standing: Standing) -> QuerySet[User]:
    """Everybody for a platform admin; the members of one's organizations for an org admin."""
    memberships = Membership.objects.select_related("organization", "project__organization")
    rows = User.objects.prefetch_related(Prefetch("memberships", queryset=memberships))
    if standing.platform:
        return rows.order_by("username")
    admin = standing.in_organizations(Role.ORG_ADMIN)
    direct = rows.filter(memberships__organization__in=admin)
    through = rows.filter(memberships__project__organization__in=admin)
    return (direct | through).distinct().order_by("username")
