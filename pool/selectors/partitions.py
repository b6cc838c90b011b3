"""Partitions that a person or a project may use."""

from django.db.models import QuerySet

from pool.lifecycle.roles import Role
from pool.models.partitions import Partition
from pool.models.tenants import Project
from pool.selectors.memberships import Standing


def partition_list(*, standing: Standing) -> QuerySet[Partition]:
    """Partitions open to everybody or to one's organizations."""
    rows = Partition.objects.all()
    if standing.platform:
        return rows
    direct = rows.filter(organizations__in=standing.in_organizations(*Role))
    through = rows.filter(organizations__projects__in=standing.in_projects(*Role))
    return (rows.filter(open_to_all=True) | direct | through).distinct()


def partitions_of(*, project: Project) -> QuerySet[Partition]:
    """Partitions in which the project may run, in order of preference."""
    rows = Partition.objects.all()
    own = rows.filter(organizations=project.organization_id)
    return (rows.filter(open_to_all=True) | own).distinct()
