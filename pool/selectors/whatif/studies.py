"""What-ifs and recorded work that a person may read, and the names that a scenario may use."""

import json
from datetime import datetime
from importlib.resources import files

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDate

from pool.lifecycle.roles import Role
from pool.lifecycle.studies import Share, TraceSource
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.placements import Placement
from pool.models.templates import Template
from pool.models.tenants import Project
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.rules.whatif.changes import Known
from pool.selectors.memberships import Standing

HEAVY = ("baseline", "result", "steps")
CONTENT = ("lines", "work", "world")
LEAST_DAYS = 7


def study_list(*, standing: Standing) -> QuerySet[Study]:
    """One's own, those shared in an organization that one runs, those shared with all who plan.

    Who runs the platform reads all; who runs nothing reads none.
    """
    content = (f"trace__{name}" for name in CONTENT)
    rows = Study.objects.select_related("trace", "owner", "organization").defer(*content)
    return rows.filter(_readable(standing))


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

    Of the books' teams only those that the person may read; a file has its own.
    """
    models = set(Card.objects.exclude(state="retired").values_list("label", flat=True))
    teams: frozenset[str]
    if trace.source == "file":
        teams = frozenset(trace.teams)
    else:
        seen = Project.objects.filter(standing.sees("")).values_list("slug", flat=True)
        teams = frozenset(seen)
    return Known(
        partitions=frozenset(Partition.objects.values_list("slug", flat=True)),
        models=frozenset(models | set(published_labels())),
        templates=frozenset(Template.objects.values_list("slug", flat=True)),
        teams=teams,
    )


def published_labels() -> tuple[str, ...]:
    """Card models whose published figures are known, there or not."""
    told = json.loads((files("nodeagent.facts") / "cards.json").read_text(encoding="utf-8"))
    return tuple(row["label"] for row in told["cards"])


def card_kinds() -> list[tuple[str, str, str, int]]:
    """Cards that are there: partition (slug and name), model, and how many; in the usual order."""
    rows = Card.objects.exclude(state="retired").exclude(partition=None)
    rows = rows.exclude(node__observe=True).order_by("partition__rank", "partition__slug", "label")
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
