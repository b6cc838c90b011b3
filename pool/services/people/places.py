"""Organizations and projects change: their words, and whether they are still in use."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from pool.clock import now
from pool.errors import Invalid, NotYours
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.tenants import Organization, Project
from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.tenants import currency_problem, title_problem
from pool.rules.workloads import LARGEST_MOST_LIVE
from pool.services.refusals import refuse
from pool.services.tenants import zone_problem

Judges = dict[str, Callable[[Any], Problem | None]]


@transaction.atomic
def organization_change(
    *, organization: Organization, actor: Actor, currency_fixed: bool, **words: Any
) -> Organization:
    """Change name, zone or currency; the same again changes nothing and is not recorded.

    `currency_fixed` is the caller's word that amounts in the old currency exist.

    Raises:
        Invalid: a value is wrong, or the currency is fixed.
        NotYours: it does not exist any more.
    """
    rows = Organization.objects.select_for_update(no_key=True)
    row = rows.filter(pk=organization.pk).first()
    if row is None:
        raise NotYours
    judges: Judges = {"name": title_problem, "zone": zone_problem, "currency": currency_problem}
    wrong = {name: judges[name](value) for name, value in words.items()}
    if currency_fixed and words.get("currency", row.currency) != row.currency:
        wrong["currency"] = Problem(_("There are amounts in %(old)s."), {"old": row.currency})
    refuse(wrong)
    told = _changed(row, words)
    if told:
        record(EventKind.ORGANIZATION_CHANGED, row, actor=actor, **told)
    return row


@transaction.atomic
def organization_archive(*, organization: Organization, actor: Actor) -> Organization:
    """Put an organization away, whose projects are archived; twice changes nothing.

    Raises:
        Invalid: a project of it is still in use.
        NotYours: it does not exist any more.
    """
    rows = Organization.objects.select_for_update(no_key=True)
    row = rows.filter(pk=organization.pk).first()
    if row is None:
        raise NotYours
    if row.archived_at is not None:
        return row
    used = list(row.projects.filter(archived_at=None).values_list("name", flat=True)[:5])
    arriving = list(row.arriving.values_list("name", flat=True)[:5])
    if used or arriving:
        text = gettext("Archive its projects first: %(names)s.")
        raise Invalid(projects=text % {"names": ", ".join(used + arriving)})
    row.archived_at = now()
    row.save(update_fields=["archived_at"])
    record(EventKind.ORGANIZATION_ARCHIVED, row, actor=actor)
    return row


@transaction.atomic
def organization_reopen(*, organization: Organization, actor: Actor) -> Organization:
    """Take an archived organization back into use; twice changes nothing."""
    row = Organization.objects.select_for_update(no_key=True).get(pk=organization.pk)
    if row.archived_at is not None:
        row.archived_at = None
        row.save(update_fields=["archived_at"])
        record(EventKind.ORGANIZATION_CHANGED, row, actor=actor, archived=False)
    return row


@transaction.atomic
def project_change(*, project: Project, actor: Actor, **words: Any) -> Project:
    """Change name, cost centre, or how many live workloads each member may have.

    The same again changes nothing and is not recorded. A new cost centre counts for hours that are
    metered from now on.

    Raises:
        Invalid: a value is wrong, or the project is archived.
        NotYours: it does not exist any more.
    """
    row = project_locked(project)
    if row.archived_at is not None:
        raise Invalid(project=gettext("It is archived."))
    judges: Judges = {
        "name": title_problem,
        "cost_centre": _centre_problem,
        "most_live": _live_problem,
    }
    refuse({name: judges[name](value) for name, value in words.items()})
    told = _changed(row, words)
    if told:
        record(EventKind.PROJECT_CHANGED, row, actor=actor, project=row, **told)
    return row


def project_locked(project: Project) -> Project:
    """The project as it is now, its row locked.

    Raises:
        NotYours: it does not exist any more.
    """
    rows = Project.objects.select_for_update(no_key=True, of=("self",))
    row = rows.select_related("organization", "trust_group").filter(pk=project.pk).first()
    if row is None:
        raise NotYours
    return row


def _changed(row: Organization | Project, words: dict[str, Any]) -> dict[str, Any]:
    """Write what differs; what it was and is, by name."""
    clean = {name: v.strip() if isinstance(v, str) else v for name, v in words.items()}
    before = {name: getattr(row, name) for name, v in clean.items() if getattr(row, name) != v}
    for name in before:
        setattr(row, name, clean[name])
    if before:
        row.save(update_fields=list(before))
    return {name: {"before": old, "after": clean[name]} for name, old in before.items()}


def _centre_problem(value: Any) -> Problem | None:
    return title_problem(value, 63) if value != "" else None


def _live_problem(value: Any) -> Problem | None:
    if type(value) is int and 1 <= value <= LARGEST_MOST_LIVE:
        return None
    return Problem(_("A whole number from 1 to %(most)s is needed."), {"most": LARGEST_MOST_LIVE})
