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
from pool.rules.workloads import LARGEST_MOST_LIVE
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
            "zone": _zone_problem(zone),
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
        Invalid: a field is wrong, or the slug is taken by any project.
    """
    taken = Project.objects.filter(slug=slug).exists() if slug_problem(slug) is None else False
    refuse(
        {
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
        trust_group=trust_group or _own_group(slug),
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
    """Let the project start work again; twice changes nothing."""
    row = _locked(project)
    if not row.suspended:
        return row
    _set(row, suspended=False, suspended_reason="")
    record(EventKind.PROJECT_RESUMED, row, actor=actor, project=row)
    round_wanted()
    return row


@transaction.atomic
def project_most_live(*, project: Project, most_live: int, actor: Actor) -> Project:
    """How many live workloads, pieces of arrays counted, each member may have in the project.

    Fewer than there are now stops nothing: further ones are refused.

    Raises:
        Invalid: less than 1, or more than 50,000.
    """
    whole = isinstance(most_live, int) and 1 <= most_live <= LARGEST_MOST_LIVE
    wrong = Problem(_("A whole number from 1 to %(most)s is needed."), {"most": LARGEST_MOST_LIVE})
    refuse({"most_live": None if whole else wrong})
    row = _locked(project)
    before = row.most_live
    if before != most_live:
        _set(row, most_live=most_live)
        words = {"before": before, "after": most_live}
        record(EventKind.PROJECT_CHANGED, row, actor=actor, project=row, most_live=words)
    return row


def _own_group(slug: str) -> TrustGroup:
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


def _taken(slug: str) -> Problem:
    return Problem(_("%(slug)s is taken."), {"slug": slug})


def _zone_problem(zone: Any) -> Problem | None:
    try:
        if isinstance(zone, str) and zone and ZoneInfo(zone):
            return None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    return Problem(_("There is no such time zone."))
