"""What-ifs and recorded work that a person may read, and the names that a scenario may use."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import TruncDate

from pool.lifecycle.roles import Role
from pool.lifecycle.studies import Share, TraceSource
from pool.models.cards import Card
from pool.models.placements import Placement
from pool.models.tenants import Project
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.rules.whatif.changes import Known
from pool.rules.whatif.shown import shown
from pool.selectors.memberships import Standing
from pool.selectors.partitions import partition_list
from pool.selectors.templates import template_list

HEAVY = ("baseline", "result", "steps")
CONTENT = ("lines", "work", "world")
TOTALS = ("before", "after", "needed")
LEAST_DAYS = 7


def study_list(*, standing: Standing) -> QuerySet[Study]:
    """One's own, those shared in an organization that one runs, those shared with all who plan.

    Who runs the platform reads all; who runs nothing reads none.
    """
    content = (f"trace__{name}" for name in CONTENT)
    rows = Study.objects.select_related("trace", "owner", "organization").defer(*content)
    return rows.filter(_readable(standing))


def with_totals(rows: QuerySet[Study]) -> QuerySet[Study]:
    """For lists: `before` and `after` of all teams together, and the cards `needed`, alone."""
    return rows.defer(*HEAVY).annotate(
        before=KeyTransform("total", "baseline"),
        after=KeyTransform("total", "result"),
        needed=KeyTransform("needed", "result"),
    )


def trace_list(*, standing: Standing) -> QuerySet[Trace]:
    """One's own, those of organizations that one runs, and what readable what-ifs replay."""
    rows = Trace.objects.select_related("owner", "organization").defer(*CONTENT)
    if standing.platform:
        return rows
    if not _runs(standing):
        return rows.none()
    mine = Q(owner=standing.user) | Q(organization__in=_runs(standing))
    shared = Study.objects.filter(_readable(standing)).values("trace")
    return rows.filter(mine | Q(pk__in=shared))


def known_for(*, standing: Standing, trace: Trace) -> Known:
    """The names that this person's scenario on this record may use.

    Another organization's partition, template or team is as unknown as a wrong name; a file has
    its own teams.
    """
    return known_on(trace, known_to(standing=standing))


def known_to(*, standing: Standing) -> Known:
    """The names that this person may use on a record of the books."""
    places = partition_list(standing=standing).values_list("slug", flat=True)
    models = {kind[2] for kind in card_kinds(standing=standing)}
    templates = template_list(standing=standing).values_list("slug", flat=True)
    teams = Project.objects.filter(standing.sees("")).values_list("slug", flat=True)
    return Known(
        partitions=frozenset(places),
        models=frozenset(models | set(published_labels())),
        templates=frozenset(templates),
        teams=frozenset(teams),
    )


def known_on(trace: Trace, known: Known) -> Known:
    """The same names for this record: a file has its own teams."""
    own = trace.source == TraceSource.FILE
    return replace(known, teams=frozenset(trace.teams)) if own else known


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads what-ifs, with the names that this person knows; None is all."""

    standing: Standing
    known: Known | None

    @classmethod
    def of(cls, standing: Standing) -> "Reader":
        """Asks the database once, however many are read."""
        return cls(standing, None if standing.platform else known_to(standing=standing))

    def changes(self, study: Study) -> tuple[dict[str, Any], int]:
        """The rows of the scenario that the person may read, and how many others there are.

        Whoever asked reads all that was asked.
        """
        if self.known is None or study.owner_id == self.standing.user:
            return study.changes, 0
        return shown(study.changes, known_on(study.trace, self.known))

    def sees_place(self, slug: str) -> bool:
        """Whether the person may know of this partition; nothing is nobody's secret."""
        return not slug or self.known is None or slug in self.known.partitions


@cache
def published_labels() -> tuple[str, ...]:
    """Card models whose published figures are known, there or not."""
    told = json.loads((files("nodeagent.facts") / "cards.json").read_text(encoding="utf-8"))
    return tuple(row["label"] for row in told["cards"])


def card_kinds(*, standing: Standing) -> list[tuple[str, str, str, int]]:
    """Cards that are there where the person may look: partition (slug and name), model, and how
    many; in the usual order.
    """
    rows = Card.objects.exclude(state="retired").exclude(node__observe=True)
    rows = rows.filter(partition__in=partition_list(standing=standing).order_by().values("pk"))
    rows = rows.order_by("partition__rank", "partition__slug", "label")
    named = rows.values_list("partition__slug", "partition__name", "label")
    return list(named.annotate(n=Count("pk")))


def seen_teams(*, standing: Standing, study: Study) -> frozenset[str] | None:
    """The teams of its outcome that the person may read; None is all."""
    return None if study.trace.source == TraceSource.FILE else teams_of(standing=standing)


def teams_of(*, standing: Standing) -> frozenset[str] | None:
    """The teams of the books that the person may read; None is all."""
    if standing.platform:
        return None
    seen = Project.objects.filter(standing.sees(""))
    return frozenset(seen.values_list("slug", flat=True))


def days_recorded(*, since: datetime, until: datetime) -> int:
    """On how many days of the period something began to run."""
    begun = Placement.objects.filter(opened_at__gte=since, opened_at__lt=until)
    days = begun.annotate(day=TruncDate("opened_at")).order_by()
    return days.values("day").distinct().count()


def _readable(standing: Standing) -> Q:
    if standing.platform:
        return Q()
    if not _runs(standing):
        return Q(pk=None)
    shared = Q(share=Share.ORGANIZATION, organization__in=_runs(standing))
    return Q(owner=standing.user) | shared | Q(share=Share.PLATFORM)


def _runs(standing: Standing) -> frozenset[int]:
    return standing.in_organizations(Role.ORG_ADMIN)
