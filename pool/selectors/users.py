"""People, for those who administer them."""

from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from pool.lifecycle.roles import Role
from pool.models.tenants import Membership
from pool.models.users import User
from pool.selectors.memberships import Standing


def people_like(text: str, rows: QuerySet[Any], name: str) -> list[int]:
    """Keys of people with the text in their user name who stand under `name` in one of the rows.

    To narrow a list that one may read, by keys that an index knows: who is in no row of it is not
    looked for, so that however many strangers have such a name, nobody of the list is missed.
    """
    seen = rows.order_by().filter(**{name: OuterRef("pk")})
    people = User.objects.filter(Exists(seen), username__icontains=text)
    return list(people.values_list("pk", flat=True))


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
