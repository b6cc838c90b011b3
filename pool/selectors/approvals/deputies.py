"""Who could decide for somebody: people of the places where that person decides."""

from django.db.models import Q, QuerySet

from pool.lifecycle.roles import Role
from pool.models.users import User
from pool.selectors.memberships import Standing


def deputies_possible(*, standing: Standing) -> QuerySet[User]:
    """Active colleagues of the organizations and projects in which this person decides."""
    rows = User.objects.filter(is_active=True, service_account=False).exclude(pk=standing.user)
    if not standing.platform:
        admin, led = standing.in_organizations(Role.ORG_ADMIN), standing.in_projects(Role.LEAD)
        rows = rows.filter(
            Q(memberships__organization__in=admin)
            | Q(memberships__project__organization__in=admin)
            | Q(memberships__project__in=led)
            | Q(memberships__organization__projects__in=led)
        )
    return rows.filter(memberships__isnull=False).distinct().order_by("username")
