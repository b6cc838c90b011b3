"""Templates with their newest version."""

from django.db.models import OuterRef, Q, QuerySet, Subquery

from pool.lifecycle.roles import Role
from pool.models.templates import Template, TemplateVersion
from pool.models.tenants import Project
from pool.selectors.memberships import Standing


def template_versions(*, standing: Standing) -> QuerySet[TemplateVersion]:
    """The newest version of every template that is common or of one's own organizations."""
    newest = TemplateVersion.objects.filter(template=OuterRef("template")).order_by("-number")
    rows = TemplateVersion.objects.filter(pk=Subquery(newest.values("pk")[:1]))
    rows = rows.select_related("template__organization", "environment")
    if not standing.platform:
        own = Q(template__organization__in=standing.in_organizations(*Role))
        through = Q(template__organization__projects__in=standing.in_projects(*Role))
        rows = rows.filter(Q(template__organization=None) | own | through).distinct()
    return rows.order_by("template__rank", "template__slug")


def template_list(*, standing: Standing) -> QuerySet[Template]:
    """The templates of those versions: another organization's is as unknown as a wrong name."""
    known = template_versions(standing=standing).order_by().values("template")
    return Template.objects.filter(pk__in=known)


def usable_templates(
    *, standing: Standing, project: Project | None = None
) -> list[TemplateVersion]:
    """Active templates, for one project when it is given."""
    rows = template_versions(standing=standing).filter(template__active=True)
    if project is not None:
        rows = rows.prefetch_related("template__projects")
        return [one for one in rows if template_open_to(one.template, project)]
    if standing.platform:
        return list(rows)
    mine = standing.in_projects(Role.LEAD, Role.MEMBER)
    within = Q(template__projects__in=mine)
    within |= Q(template__projects__organization__in=standing.in_organizations(Role.ORG_ADMIN))
    return list(rows.filter(Q(template__projects=None) | within).distinct())


def template_open_to(template: Template, project: Project) -> bool:
    """Whether the project may use it: common or its organization's, and it is among those named."""
    if template.organization_id not in (None, project.organization_id):
        return False
    named = {one.pk for one in template.projects.all()}
    return not named or project.pk in named
