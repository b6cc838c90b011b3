"""The log as people may read it; services that follow it use `pool.selectors.events`."""

from django.db.models import Q, QuerySet

from pool.lifecycle.roles import Role
from pool.models.events import Event
from pool.models.users import User
from pool.selectors.memberships import Standing


def event_list(*, standing: Standing, user: User) -> QuerySet[Event]:
    """Events of the projects that one leads, of organizations that one administers, and one's own
    acts; a platform admin reads everything."""
    if standing.platform:
        return Event.objects.all()
    return Event.objects.filter(
        Q(project_id__in=standing.in_projects(Role.LEAD))
        | Q(organization_id__in=standing.in_organizations(Role.ORG_ADMIN))
        | Q(actor_id=user.uid)
    )
