"""Templates with their newest version."""

from django.db.models import OuterRef, Q, QuerySet, Subquery

from pool.lifecycle.roles import Role
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.selectors.memberships import Standing


def template_versions(*, standing: Standing) -> QuerySet[TemplateVersion]:
    """The newest version of every template that is common or of one's own organizations."""
    newest = TemplateVersion.objects.filter(template=OuterRef("template")).order_by("-number")
    rows = TemplateVersion.objects.filter(pk=Subquery(newest.values("pk")[:1]))
    rows = rows.select_related("template__organization")
    if not standing.platform:
        own = Q(template__organization__in=standing.in_organizations(*Role))
        through = Q(template__organization__projects__in=standing.in_projects(*Role))
        rows = rows.filter(Q(template__organization=None) | own | through).distinct()
    return rows.order_by("template__rank", "template__slug")


def usable_templates(
    *, standing: Standing, project: Project | None = None
) -> list[TemplateVersion]:
    """Active templates, for one project when it is given."""
    rows = template_versions(standing=standing).filter(template__active=True)
    if project is not None:
        common = Q(template__organization=None)
        rows = rows.filter(common | Q(template__organization=project.organization_id))
    return list(rows)
