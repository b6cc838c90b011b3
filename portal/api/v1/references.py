"""What a body names by slug or uid; another tenant's name is as unknown as a wrong one."""

from collections.abc import Iterable

from django.db.models import Q
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from pool.models import (
    Environment,
    Lease,
    Organization,
    Partition,
    Project,
    TemplateVersion,
    User,
)
from pool.selectors.catalogue.lists import environment_list
from pool.selectors.leases import lease_list
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list, partitions_of
from pool.selectors.templates import template_open_to, template_versions
from pool.selectors.tenants import organization_list, project_list


def organization_named(standing: Standing, slug: str) -> Organization:
    """The organization.

    Raises:
        ValidationError: there is none, or the caller does not belong to it.
    """
    found = organization_list(standing=standing).filter(slug=slug).first()
    if found is None:
        raise ValidationError({"organization": [_("No such organization.")]})
    return found


def person_named(standing: Standing, organization: Organization | None, name: str) -> User:
    """The person with that user name, among those who hold a role in the organization already.

    A platform admin may name anybody; to all others people outside are unknown.

    Raises:
        ValidationError: there is none.
    """
    rows = User.objects.filter(username=name)
    if not standing.platform:
        inside = Q(memberships__organization=organization)
        inside |= Q(memberships__project__organization=organization)
        rows = rows.filter(inside) if organization is not None else rows.none()
    found = rows.first()
    if found is None:
        raise ValidationError({"user": [_("No such person.")]})
    return found


def partition_named(standing: Standing, slug: str) -> Partition:
    """The partition, as far as the caller may use it.

    Raises:
        ValidationError: there is none.
    """
    found = partition_list(standing=standing).filter(slug=slug).first()
    if found is None:
        raise ValidationError({"partition": [_("No such partition.")]})
    return found


def project_named(standing: Standing, slug: str) -> Project:
    """The project.

    Raises:
        ValidationError: there is none, or the caller may not read its work.
    """
    found = project_list(standing=standing).filter(slug=slug).first()
    if found is None:
        raise ValidationError({"project": [_("No such project.")]})
    return found


def template_named(standing: Standing, project: Project, slug: str) -> TemplateVersion:
    """The newest version of the template, as far as the project may use it.

    Raises:
        ValidationError: there is none, or it is another organization's.
    """
    rows = template_versions(standing=standing).filter(template__slug=slug)
    found = rows.first()
    if found is None or not template_open_to(found.template, project):
        raise ValidationError({"template": [_("No such template.")]})
    return found


def environment_named(standing: Standing, slug: str) -> Environment | None:
    """The environment, as far as the caller may see it; none for an empty name.

    Raises:
        ValidationError: there is none.
    """
    if not slug:
        return None
    found = environment_list(standing=standing).filter(slug=slug).first()
    if found is None:
        raise ValidationError({"environment": [_("No such environment.")]})
    return found


def partitions_named(project: Project, slugs: Iterable[str]) -> list[Partition]:
    """The partitions in the order given; none given means all that the project may use.

    Raises:
        ValidationError: one of them is unknown to the project.
    """
    wanted = list(dict.fromkeys(slugs))
    if not wanted:
        return []
    usable = {row.slug: row for row in partitions_of(project=project)}
    missing = [slug for slug in wanted if slug not in usable]
    if missing:
        text = _("No such partition: %(slugs)s.") % {"slugs": ", ".join(missing)}
        raise ValidationError({"partitions": [text]})
    return [usable[slug] for slug in wanted]


def lease_named(standing: Standing, project: Project, uid: str | None) -> Lease | None:
    """The lease of that project; None when none is named.

    Raises:
        ValidationError: it is unknown, or another project's.
    """
    if not uid:
        return None
    found = lease_list(standing=standing).filter(uid=uid, project=project).first()
    if found is None:
        raise ValidationError({"lease": [_("No such lease in this project.")]})
    return found
