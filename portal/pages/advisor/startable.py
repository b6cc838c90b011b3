"""What a person could start at this moment without asking anybody, and what the rest waits for."""

import json
import time
from dataclasses import dataclass, replace
from threading import Lock

from django.http import HttpResponse
from django.shortcuts import render

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.cycle.approvals.effects import Effects
from pool.cycle.quotatree.fitting import waits_now
from pool.cycle.waiting import Look
from pool.models.partitions import Partition
from pool.models.quotas import Quota
from pool.models.templates import TemplateVersion
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.needs import from_mapping
from pool.selectors.offers import trust_matters
from pool.selectors.partitions import partitions_of
from pool.selectors.templates import usable_templates
from pool.selectors.tenants import working_projects
from portal.access.rates import Rate
from portal.explained import looked
from portal.pages.advisor.waits import STALE_S, effects_for
from portal.pages.answers import Priced, answer
from portal.pages.htmx import HtmxRequest, page

SHOWN = 8
MOST = 30
"""So many projects are offered to choose from."""

KINDS = frozenset({WorkloadKind.JOB, WorkloadKind.NOTEBOOK})
TOLD_WAITS = 3
"""For so many that have no room now the queue is planned anew, to tell how long they would wait."""

KEPT_S = 30.0
"""So old may the look at the pool be here."""

TOLD = Rate(limit=6 * TOLD_WAITS, seconds=60)
"""So often one person has a wait worked out that nobody of the project has asked for before."""

Kind = tuple[str, frozenset[int], int | None, bool, str, str]


@dataclass(frozen=True, slots=True)
class Startable:
    """One template in one project: what it becomes, whether it starts now, whether one must ask.

    `why` is the planner's reason where it has no room now; `effects` tell how long it would wait.
    """

    version: TemplateVersion
    best: Priced
    free: bool
    why: str | None
    effects: Effects | None = None

    @property
    def starts(self) -> bool:
        """One click from running."""
        return self.why is None and self.free

    @property
    def notebook(self) -> bool:
        """Needs no command: it starts from the page itself."""
        return self.version.kind == WorkloadKind.NOTEBOOK


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The fragment of the first page; planned apart, so that the page need not wait for it."""
    projects = list(working_projects(standing=request.standing).filter(archived_at=None)[:MOST])
    wanted = request.GET.get("project", "") or _last(request)
    project = next(
        (one for one in projects if one.slug == wanted), projects[0] if projects else None
    )
    context = {
        "projects": projects,
        "project": project,
        "found": startable(request=request, project=project) if project else [],
    }
    return render(request, "pages/home/_now.html", context)


def _last(request: HtmxRequest) -> str:
    """The project in which the person worked last."""
    mine = Workload.objects.filter(owner=request.user, project__archived_at=None)
    return mine.order_by("-pk").values_list("project__slug", flat=True).first() or ""


def startable(*, request: HtmxRequest, project: Project) -> list[Startable]:
    """The project's usable templates: first what starts now, then what has room, then the rest."""
    look = _look()
    partitions = list(partitions_of(project=project))
    rows = usable_templates(standing=request.standing, project=project)
    wanted = [one for one in rows if one.kind in KINDS][:SHOWN]
    trust = project.trust_group_id if trust_matters(partitions=partitions) else None
    found = [
        one
        for version in wanted
        if (one := _judged(look, project, version, partitions, trust)) is not None
    ]
    found = sorted(found, key=lambda one: (not one.starts, one.why is not None))
    return _with_waits(found, request, project, partitions)


def _judged(
    look: Look,
    project: Project,
    version: TemplateVersion,
    partitions: list[Partition],
    trust: int | None,
) -> Startable | None:
    """None where no card of the project's partitions could ever hold it."""
    told = answer(
        project=project,
        version=version,
        overrides={},
        partitions=partitions,
        seconds=version.default_seconds,
    )
    if told.best is None or told.need is None:
        return None
    why = _kept(look, version, partitions, trust)
    return Startable(version, told.best, told.free, why)


def _with_waits(
    found: list[Startable], request: HtmxRequest, project: Project, partitions: list[Partition]
) -> list[Startable]:
    """The first of those that have no room, with their expected wait."""
    late = [one for one in found if one.why is not None][:TOLD_WAITS]
    told = {one.version.pk: _wait_of(one, request, project, partitions) for one in late}
    return [replace(one, effects=told.get(one.version.pk)) for one in found]


def _wait_of(
    one: Startable, request: HtmxRequest, project: Project, partitions: list[Partition]
) -> Effects | None:
    """How long it would wait: worked out once for all people and pages of a project while the look
    lasts. Who has limits of their own there is told for themselves.
    """
    limited = Quota.objects.filter(project=project, user=request.user).exists()
    asked = (project.pk, one.version.pk, request.user.pk if limited else None)
    with _LOCK:
        if asked in _waits:
            return _waits[asked]
    if TOLD.knock(request.user.uid):
        return None
    effects = effects_for(
        project=project,
        owner=request.user,
        version=one.version,
        need=one.best.need,
        partitions=partitions,
        seconds=one.version.default_seconds,
    )
    with _LOCK:
        _waits[asked] = effects
    return effects


_LOCK = Lock()
"""Held while one kind of work is planned: two who ask for the same have it planned once."""

_seen: dict[Kind, str | None] = {}
_waits: dict[tuple[int, int, int | None], Effects | None] = {}
_of: list[tuple[float, Look]] = []


def forget() -> None:
    """Drop all that is kept."""
    with _LOCK:
        _of.clear()
        _seen.clear()
        _waits.clear()


def _look() -> Look:
    """The pool of at most half a minute ago: every open first page asks again and again."""
    with _LOCK:
        if not _of or time.monotonic() - _of[0][0] > KEPT_S:
            _of[:] = [(time.monotonic(), looked(stale_s=STALE_S))]
            _seen.clear()
            _waits.clear()
        return _of[0][1]


def _kept(
    look: Look, version: TemplateVersion, partitions: list[Partition], trust: int | None
) -> str | None:
    """The plan's word for one kind of work, made once for each look, whatever project asks; where
    partitions name trust groups, once for each of those."""
    kind = (
        json.dumps(version.need, sort_keys=True),
        frozenset(one.pk for one in partitions),
        trust,
        version.unlimited_modes,
        version.kind,
        version.work_class,
    )
    with _LOCK:
        if not _of or _of[0][1] is not look:
            return _planned(look, version, partitions, trust)
        if kind not in _seen:
            _seen[kind] = _planned(look, version, partitions, trust)
        return _seen[kind]


def _planned(
    look: Look, version: TemplateVersion, partitions: list[Partition], trust: int | None
) -> str | None:
    return waits_now(
        look=look,
        need=from_mapping(version.need),
        partitions=partitions,
        trust=trust,
        version=version,
    )
