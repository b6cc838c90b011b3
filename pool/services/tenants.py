"""Organizations and projects: made, renamed, suspended, resumed."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db import transaction
from django.db.models import Max

from pool.errors import NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.tenants import Organization, Project, TrustGroup
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import currency_problem, slug_problem, title_problem
from pool.selectors.desired import UIDS_OF_A_PROJECT
from pool.services.refusals import refuse
from pool.wake import round_wanted


@transaction.atomic
def organization_create(
    *,
    slug: str,
    name: str,
    actor: Actor,
    zone: str = "UTC",
    currency: str = "EUR",
    example: bool = False,
) -> Organization:
    """A new organization.

    Raises:
        Invalid: a field is wrong, or the slug is taken.
    """
    taken = Organization.objects.filter(slug=slug).exists() if slug_problem(slug) is None else False
    refuse(
        {
            "slug": _taken(slug) if taken else slug_problem(slug),
            "name": title_problem(name),
            "zone": zone_problem(zone),
            "currency": currency_problem(currency),
        }
    )
    row = Organization.objects.create(
        slug=slug, name=name.strip(), zone=zone, currency=currency, example=example
    )
    record(EventKind.ORGANIZATION_CREATED, row, actor=actor, slug=slug, name=row.name)
    return row


@transaction.atomic
def project_create(
    *,
    organization: Organization,
    slug: str,
    name: str,
    actor: Actor,
    cost_centre: str = "",
    trust_group: TrustGroup | None = None,
    example: bool = False,
) -> Project:
    """A new project with Unix accounts of its own and, unless told otherwise, its own trust group.

    Raises:
        Invalid: a field is wrong, the slug is taken by any project, or the organization is
            archived.
    """
    taken = Project.objects.filter(slug=slug).exists() if slug_problem(slug) is None else False
    refuse(
        {
            "organization": _put_away(organization),
            "slug": _taken(slug) if taken else slug_problem(slug),
            "name": title_problem(name),
            "cost_centre": title_problem(cost_centre, 63) if cost_centre else None,
        }
    )
    Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    highest = Project.objects.aggregate(most=Max("uid_base"))["most"]
    row = Project.objects.create(
        organization=organization,
        slug=slug,
        name=name.strip(),
        cost_centre=cost_centre.strip(),
        trust_group=trust_group or own_group(slug),
        uid_base=200_000 if highest is None else highest + UIDS_OF_A_PROJECT,
        example=example,
    )
    record(EventKind.PROJECT_CREATED, row, actor=actor, project=row, slug=slug, name=row.name)
    return row


@transaction.atomic
def project_suspend(*, project: Project, reason: str, actor: Actor) -> Project:
    """Let the project start nothing new; what runs goes on. Twice changes nothing.

    Raises:
        Invalid: no reason, or one over 200 characters.
    """
    refuse({"reason": title_problem(reason, 200)})
    row = _locked(project)
    if row.suspended:
        return row
    _set(row, suspended=True, suspended_reason=reason.strip())
    record(EventKind.PROJECT_SUSPENDED, row, actor=actor, project=row, reason=reason.strip())
    return row


@transaction.atomic
def project_resume(*, project: Project, actor: Actor) -> Project:
    """Let the project start work again; twice changes nothing.

    Raises:
        Invalid: it is archived or closing: reopen it.
    """
    row = _locked(project)
    if row.archived_at is not None or row.closing_since is not None:
        refuse({"project": Problem(_("It is archived or being closed: reopen it."))})
    if not row.suspended:
        return row
    _set(row, suspended=False, suspended_reason="")
    record(EventKind.PROJECT_RESUMED, row, actor=actor, project=row)
    round_wanted()
    return row


def own_group(slug: str) -> TrustGroup:
    """A trust group that nobody else is in."""
    name, number = slug, 1
    while TrustGroup.objects.filter(name=name).exists():
        number += 1
        name = f"{slug} {number}"
    return TrustGroup.objects.create(name=name)


def _locked(project: Project) -> Project:
    rows = Project.objects.select_for_update(no_key=True, of=("self",))
    found = rows.select_related("organization").filter(pk=project.pk).first()
    if found is None:
        raise NotYours
    return found


def _set(row: Project, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    row.save(update_fields=list(values))


def _put_away(organization: Organization) -> Problem | None:
    return Problem(_("It is archived.")) if organization.archived_at is not None else None


def _taken(slug: str) -> Problem:
    return Problem(_("%(slug)s is taken."), {"slug": slug})


def zone_problem(zone: Any) -> Problem | None:
    """A time zone is a name of the IANA list."""
    try:
        if isinstance(zone, str) and zone and ZoneInfo(zone):
            return None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    return Problem(_("There is no such time zone."))
