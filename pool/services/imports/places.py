"""Sections of the pool: partitions, templates with their newest version, quotas."""

from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor
from pool.models.catalogue.environments import Environment
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.templates import Template, TemplateVersion
from pool.models.tenants import Organization, Project, TrustGroup
from pool.services.imports.sections import Section, Words, names, tree, whole, yes_no
from pool.services.imports.tenants import organization_named, project_named, user_named
from pool.services.partitions import NUMBERS, SWITCHES, partition_change, partition_create
from pool.services.quotas import ANY, QuotaLine, quota_line_check, quotas_set
from pool.services.templates import (
    OPTIONAL,
    SECONDS,
    template_change,
    template_create,
    template_switch,
    template_version_add,
)
from pool.services.templates import SWITCHES as VERSION_SWITCHES

_WHY = "loaded from a file"
_PLAIN = ("modes", "policy", "class_policies", "ceilings", "foreign_work", *SWITCHES, *NUMBERS)
_OFFER = ("active", "inactive_reason", "projects")
_VERSION = (
    *("kind", "work_class", "need", "priority", "bandwidth", "price_class", "approval"),
    *SECONDS,
    *VERSION_SWITCHES,
)


def partition_named(slug: object) -> Partition:
    """The partition of that slug.

    Raises:
        Invalid: there is none.
    """
    row = Partition.objects.filter(slug=str(slug or "")).first()
    if row is None:
        raise Invalid(partition=_("No such partition."))
    return row


def _partitions() -> Iterable[Words]:
    rows = Partition.objects.prefetch_related("organizations", "trust_groups")
    for row in rows.order_by("rank", "slug"):
        yield {
            "slug": row.slug,
            "name": row.name,
            "selector": row.selector,
            **{name: getattr(row, name) for name in _PLAIN},
            "organizations": sorted(one.slug for one in row.organizations.all()),
            "trust_groups": sorted(one.name for one in row.trust_groups.all()),
        }


def _partition(words: Words, actor: Actor) -> None:
    row = Partition.objects.filter(slug=words.get("slug", "")).first()
    given = {k: v for k, v in words.items() if k != "slug" and v is not None}
    if "organizations" in given:
        given["organizations"] = [
            organization_named(slug, "organizations") for slug in given["organizations"]
        ]
    if "trust_groups" in given:
        given["trust_groups"] = [_group(name) for name in given["trust_groups"]]
    if row is not None:
        partition_change(partition=row, actor=actor, reason=_WHY, **given)
        return
    given = {"name": "", "selector": {}, "modes": []} | given
    partition_create(slug=words.get("slug", ""), actor=actor, **given)


def _group(name: str) -> TrustGroup:
    row = TrustGroup.objects.filter(name=name).first()
    if row is None:
        raise Invalid(trust_groups=_("Not known: %(names)s.") % {"names": name[:80]})
    return row


def _templates() -> Iterable[Words]:
    rows = TemplateVersion.objects.select_related(
        "template__organization", "environment"
    ).prefetch_related("template__projects")
    newest = rows.order_by("template__rank", "template__slug", "-number")
    seen: set[int] = set()
    for row in newest:
        if row.template_id in seen:
            continue
        seen.add(row.template_id)
        home = row.template.organization
        yield {
            "slug": row.template.slug,
            "name": row.template.name,
            "organization": home.slug if home else "",
            "environment": row.environment.slug if row.environment else "",
            "active": row.template.active,
            "inactive_reason": row.template.inactive_reason,
            "projects": sorted(one.slug for one in row.template.projects.all()),
            **{name: getattr(row, name) for name in _VERSION},
        }


def _template(words: Words, actor: Actor) -> None:
    row = Template.objects.filter(slug=words.get("slug", "")).first()
    said = {k: v for k, v in words.items() if k in _VERSION and (v is not None or k in OPTIONAL)}
    if "environment" in words:
        said["environment"] = _environment(words["environment"])
    if row is not None:
        if words.get("name", row.name) != row.name:
            raise Invalid(name=_("A template keeps its name."))
        template_version_add(template=row, actor=actor, **said)
    else:
        home = organization_named(words["organization"]) if words.get("organization") else None
        row = template_create(
            slug=words.get("slug", ""),
            name=words.get("name", ""),
            organization=home,
            actor=actor,
            **said,
        ).template
    _offered(row, words, actor)


def _offered(row: Template, words: Words, actor: Actor) -> None:
    """Who may use it, and whether anybody: what the file does not say stays."""
    if words.get("projects") is not None:
        found = [project_named(slug) for slug in words["projects"]]
        template_change(template=row, projects=found, actor=actor)
    if words.get("active") is not None:
        why = words.get("inactive_reason") or ""
        template_switch(template=row, active=words["active"], reason=why, actor=actor)


def _environment(slug: str) -> Environment | None:
    row = Environment.objects.filter(slug=slug).first() if slug else None
    if slug and row is None:
        raise Invalid(environment=_("Not known: %(names)s.") % {"names": slug[:80]})
    return row


def _quotas() -> Iterable[Words]:
    rows = Quota.objects.select_related("organization", "project", "user", "partition")
    for row in rows.order_by("organization", "project", "user", "partition", "pk"):
        yield {
            "organization": row.organization.slug if row.organization else "",
            "project": row.project.slug if row.project else "",
            "user": row.user.username if row.user else "",
            "partition": row.partition.slug,
            "card_model": row.card_model,
            "unit": row.unit,
            "kind": row.kind,
            "limit": row.limit_value - row.granted,
            "lend": row.lend_limit,
        }


def _quota(words: Words, actor: Actor) -> None:
    """Judged only: rows of quotas are written together, in their one order of locks."""
    quota_line_check(_quota_line(words))


def _quotas_together(rows: Sequence[Words], actor: Actor) -> None:
    quotas_set(lines=[_quota_line(words) for words in rows], actor=actor, reason=_WHY)


def _quota_line(words: Words) -> QuotaLine:
    organization, project = words.get("organization"), words.get("project")
    if bool(organization) == bool(project):
        raise Invalid(project=_("Name a project or an organization."))
    if words.get("limit") is None:
        raise Invalid(limit=_("A whole number is needed: a file takes no row away."))
    tenant: Organization | Project
    tenant = project_named(project) if project else organization_named(organization)
    return QuotaLine(
        tenant=tenant,
        user=user_named(words["user"]) if words.get("user") else None,
        partition=partition_named(words.get("partition")),
        card_model=words.get("card_model", ""),
        unit=words.get("unit", ""),
        kind=words.get("kind") or "limit",
        limit=words["limit"],
        lend=words["lend"] if "lend" in words and words.get("kind") == "entitlement" else ANY,
    )


PLACES = (
    Section(
        name="partitions",
        keys=("slug",),
        words=("slug", "name", "selector", *_PLAIN, "organizations", "trust_groups"),
        rows=_partitions,
        load=_partition,
        plain={
            "modes": names,
            "organizations": names,
            "trust_groups": tree,
            **dict.fromkeys(("selector", "class_policies", "ceilings"), tree),
            **dict.fromkeys(SWITCHES, yes_no),
            **dict.fromkeys(NUMBERS, whole),
        },
    ),
    Section(
        name="templates",
        keys=("slug",),
        words=("slug", "name", "organization", "environment", *_OFFER, *_VERSION),
        rows=_templates,
        load=_template,
        plain={
            "projects": names,
            "active": yes_no,
            **dict.fromkeys(("need", "approval"), tree),
            **dict.fromkeys(SECONDS, whole),
            **dict.fromkeys(VERSION_SWITCHES, yes_no),
        },
    ),
    Section(
        name="quotas",
        keys=("organization", "project", "user", "partition", "card_model", "unit", "kind"),
        words=(
            *("organization", "project", "user", "partition", "card_model", "unit", "kind"),
            *("limit", "lend"),
        ),
        rows=_quotas,
        load=_quota,
        plain={"limit": whole, "lend": whole},
        together=_quotas_together,
        most=2_000,
    ),
)
"""In the order in which they can be loaded, after the tenants."""
