"""The cards of somebody's notebooks, and the form that starts one with one click."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from billing.selectors.usage import Cost, workload_costs
from nodeagent.protocol.notebooks import Stage
from nodeagent.protocol.vocabulary import WorkloadKind
from pool.clock import now
from pool.errors import Invalid
from pool.events import Actor
from pool.lifecycle.workloads import ENDED, HOLDING, WAITING
from pool.models import User
from pool.models.workloads import Workload
from pool.rules.idle import Rule
from pool.selectors.memberships import Standing
from pool.selectors.notebooks.rules import rules_of
from pool.selectors.notebooks.standing import known_of, left_s, notebook_list
from pool.selectors.templates import template_versions
from pool.selectors.tenants import project_list
from pool.services.notebooks.resize import GOES_ON
from pool.services.workloads import workload_submit
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.access.showback import cost_shown, money_hidden
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast

SHOWN = 60
STEPS = (
    ("queue", _("In the queue")),
    ("slice", _("Slice")),
    ("environment", _("Environment")),
    ("ready", _("Ready")),
)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One's own notebooks as cards; with `all`, those of one's projects, too."""
    everybody = request.GET.get("all") == "1"
    rows = notebook_list(standing=request.standing)
    if not everybody:
        rows = rows.filter(owner=request.user)
    context = {
        "cards": cards_of(rows[:SHOWN], request.user, request.standing),
        "everybody": everybody,
        "standing": request.standing,
        **_choices(request.standing),
    }
    parts = ("pages/notebooks/index.html", "pages/notebooks/_cards.html")
    return fragment(request, *parts, context)


@page("POST")
@refusal_as_toast
def new(request: HtmxRequest) -> HttpResponse:
    """Start one: the project and template are all that is asked."""
    project = (
        project_list(standing=request.standing).filter(slug=request.POST.get("project", "")).first()
    )
    if project is None:
        raise Invalid(project=_("Choose a project."))
    guard(request.standing, Verb.WORK_SUBMIT, project)
    version = (
        _templates(request.standing).filter(template__slug=request.POST.get("template", "")).first()
    )
    if version is None:
        raise Invalid(template=_("Choose a size."))
    made = workload_submit(
        user=request.user,
        project=project,
        template_version=version,
        command=None,
        name=request.POST.get("name", "").strip(),
        actor=Actor.of(request.user),
    )
    return go(request, reverse("notebook", args=[made.uid]))


def cards_of(rows: Iterable[Workload], user: User, standing: Standing) -> list[dict[str, Any]]:
    """Many cards; their rules and costs are read together."""
    found = list(rows)
    rules, read = rules_of(workloads=found), workload_costs(workloads=found)
    hidden = money_hidden(standing) if found else frozenset()
    costs = {row.pk: cost_shown(read[row.pk], row.project, hidden) for row in found}
    return [_card(row, user, standing, rules[row.pk], costs[row.pk]) for row in found]


def card_of(row: Workload, user: User, standing: Standing) -> dict[str, Any]:
    """What one card shows."""
    return cards_of([row], user, standing)[0]


def _card(row: Workload, user: User, standing: Standing, rule: Rule, cost: Cost) -> dict[str, Any]:
    known = known_of(row)
    left = left_s(known) if row.state == "running" else None
    own = row.owner_id == user.pk
    ready = row.state == "running" and known is not None and known.stage == Stage.READY
    return {
        "row": row,
        "known": known,
        "rule": rule,
        "own": own,
        "ready": ready,
        "step": _step(row, ready),
        "steps": STEPS,
        "starting": row.state not in ENDED
        and row.state not in ("on_hold", "stopping")
        and not ready,
        "left_s": left,
        "left_share": None
        if left is None or not known
        else round(100 * left / (known.limit_s or 1)),
        "keeps_left": max(rule.keeps - (known.keeps_used if known else 0), 0),
        "cost": cost if may(standing, Verb.COST_SEE, row.project) else None,
        "kept_until": known.kept_until
        if known and known.kept_until and known.kept_until > now()
        else None,
        "holds": row.state in HOLDING,
        "may_open": own and ready,
        "may_stop": may(standing, Verb.WORK_STOP, row) and row.state not in (*ENDED, "stopping"),
        "may_resize": own and row.state in GOES_ON and may(standing, Verb.WORK_SUBMIT, row.project),
        "may_resume": may(standing, Verb.WORK_STOP, row) and row.state in ("stopped", "reclaimed"),
    }


def _step(row: Workload, ready: bool) -> int:
    """Which of the steps it has come to: 0 the queue, 1 the slice, 2 the environment, 3 ready."""
    if ready:
        return 3
    if row.state in WAITING:
        return 0
    known = known_of(row)
    current = known is not None and known.attempt is not None and known.attempt.state == "open"
    if row.state == "placed" or not current:
        return 1
    return 2


def _templates(standing: Standing) -> Any:
    rows = template_versions(standing=standing)
    return rows.filter(kind=WorkloadKind.NOTEBOOK, template__inactive_reason="")


def _choices(standing: Standing) -> dict[str, Any]:
    return {
        "projects": [p for p in project_list(standing=standing) if standing.works_in(p)],
        "templates": list(_templates(standing)),
    }
