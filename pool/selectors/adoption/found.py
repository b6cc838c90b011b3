"""Found work as administrators read it, and the home that its own words suggest."""

from django.db.models import QuerySet

from pool.models.adoption.found import FoundWork
from pool.models.tenants import Project


def found_list() -> QuerySet[FoundWork]:
    """All of it with its node and, once adopted, its workload; newest first."""
    return FoundWork.objects.select_related("node", "workload").order_by("-pk")


def project_of(found: FoundWork) -> Project | None:
    """The project whose name its processes carry, where that project is still there."""
    slug = str((found.origin or {}).get("project", ""))
    return Project.objects.filter(slug=slug).first() if slug else None
