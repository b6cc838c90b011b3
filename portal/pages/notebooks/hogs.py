"""Who holds card memory while nothing computes, and what can be done about it."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.selectors.usage import workload_costs
from pool.events import Actor
from pool.models.workloads import Workload
from pool.rules.idling.hogs import Use
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list
from pool.services.notebooks.nudge import owner_nudged
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.access.showback import cost_shown, money_hidden
from portal.held import hogs_shared
from portal.pages.htmx import HtmxRequest, fragment, page, refusal_as_toast, toast

Line = dict[str, Any]

ORDERS: dict[str, tuple[Any, Callable[[Line], Any]]] = {
    "memory": (gettext_lazy("Memory held"), lambda one: -(one["use"].memory_mib or 0)),
    "share": (gettext_lazy("Part of its slice"), lambda one: -one["use"].share),
    "quiet": (gettext_lazy("Quiet for"), lambda one: -(one["use"].quiet_s or 0)),
    "cost": (
        gettext_lazy("Cost"),
        lambda one: -(one["cost"].amount_micro or 0) if one["cost"] else 0,
    ),
    "owner": (gettext_lazy("Owner"), lambda one: one["row"].owner.username),
}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Jobs, notebooks and replicas alike, in the order that was asked for."""
    chosen = request.GET.get("sort", "")
    chosen = chosen if chosen in ORDERS else "memory"
    lines = hog_lines(request.standing)
    context = {
        "lines": sorted(lines, key=ORDERS[chosen][1]),
        "chosen": chosen,
        "held_mib": sum(one["use"].memory_mib or 0 for one in lines),
    }
    return fragment(request, "pages/notebooks/hogs.html", "pages/notebooks/_hogs.html", context)


def hog_lines(standing: Standing) -> list[Line]:
    """Each with what it has cost, and what this person may do to it."""
    found = hogs_shared(standing=standing)
    hidden = money_hidden(standing)
    read = workload_costs(workloads=[row for row, _use in found])
    costs = {row.pk: cost_shown(read[row.pk], row.project, hidden) for row, _use in found}
    return [_line(standing, row, use, costs) for row, use in found]


def _line(standing: Standing, row: Workload, use: Use, costs: dict[int, Any]) -> Line:
    return {
        "row": row,
        "use": use,
        "share_milli": round(1000 * use.share),
        "cost": costs[row.pk] if may(standing, Verb.COST_SEE, row.project) else None,
        "may_stop": may(standing, Verb.WORK_STOP, row),
        "may_nudge": may(standing, Verb.WORK_STOP_ANY, row),
    }


@page("POST")
@refusal_as_toast
def nudge(request: HtmxRequest, uid: str) -> HttpResponse:
    """A word to its owner, once an hour."""
    row = get_object_or_404(workload_list(standing=request.standing), uid=uid)
    guard(request.standing, Verb.WORK_STOP_ANY, row)
    told = owner_nudged(
        workload=row,
        who=str(request.user),
        words=request.POST.get("words", "").replace("\0", ""),
        actor=Actor.of(request.user),
    )
    said = _("The owner was told.") if told else _("The owner was told within this hour already.")
    return toast(HttpResponse(status=204), "success" if told else "info", said)
