"""Organizations and projects, as far as one person may see them."""

from django.db.models import QuerySet

from pool.lifecycle.roles import Role
from pool.models.tenants import Organization, Project
from pool.selectors.memberships import Standing


def project_list(*, standing: Standing) -> QuerySet[Project]:
    """Projects whose work the person may read."""
    return Project.objects.filter(standing.sees("")).select_related("organization", "trust_group")


def working_projects(*, standing: Standing) -> QuerySet[Project]:
    """Projects in which the person may ask for cards and run work."""
    projects = Project.objects.select_related("organization", "trust_group")
    if standing.platform:
        return projects
    own = standing.in_projects(Role.LEAD, Role.MEMBER)
    admin = standing.in_organizations(Role.ORG_ADMIN)
    return projects.filter(pk__in=own) | projects.filter(organization__in=admin)


def organization_list(*, standing: Standing) -> QuerySet[Organization]:
    """Organizations that the person belongs to, through a project or directly."""
    if standing.platform:
        return Organization.objects.all()
    direct = standing.in_organizations(*Role)
    return (
        Organization.objects.filter(pk__in=direct)
        | Organization.objects.filter(projects__in=standing.in_projects(*Role))
    ).distinct()
