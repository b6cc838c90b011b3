"""Invitations, service accounts and groups of directories, as far as one person may see them."""

from django.db.models import Q, QuerySet

from pool.lifecycle.roles import Role
from pool.models.people.groups import GroupRole
from pool.models.people.invitations import Invitation
from pool.models.users import User
from pool.selectors.memberships import Standing


def invitation_list(*, standing: Standing) -> QuerySet[Invitation]:
    """Invitations into the projects that one leads and the organizations that one administers."""
    rows = Invitation.objects.select_related("project", "organization", "invited_by", "accepted_by")
    return rows.filter(_managed(standing))


def account_list(*, standing: Standing) -> QuerySet[User]:
    """Service accounts of the projects whose work one may read."""
    rows = User.objects.filter(service_project__isnull=False).select_related("service_project")
    return rows.filter(standing.sees("service_project")).order_by("pk")


def group_role_list(*, standing: Standing) -> QuerySet[GroupRole]:
    """All of them for a platform admin, nothing for anybody else."""
    rows = GroupRole.objects.select_related("project", "organization")
    return rows if standing.platform else rows.none()


def _managed(standing: Standing) -> Q:
    if standing.platform:
        return Q()
    admin = standing.in_organizations(Role.ORG_ADMIN)
    return (
        Q(project__in=standing.in_projects(Role.LEAD))
        | Q(project__organization__in=admin)
        | Q(organization__in=admin)
    )
