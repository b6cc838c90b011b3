"""What was held and what it cost."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render

from billing.selectors.usage import MonthCost, months, workload_costs
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing
from portal.access.showback import cost_shown, money_hidden
from portal.pages.htmx import HtmxRequest, page
from portal.pages.lists import newest_first


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """This month by project, and the newest workloads with their cost."""
    rows = Workload.objects.filter(request.standing.spends()).select_related(
        "project", "owner", "template_version__template"
    )
    shown = newest_first(request, rows.filter(attempts_made__gt=0))
    hidden = money_hidden(request.standing)
    read = workload_costs(workloads=shown.rows)
    costs = {one.pk: cost_shown(read[one.pk], one.project, hidden) for one in shown.rows}
    context = {
        "months": months_shown(request.standing, hidden),
        "page": shown,
        "lines": [(one, costs[one.pk]) for one in shown.rows],
    }
    return render(request, "pages/usage/index.html", context)


def months_shown(standing: Standing, hidden: frozenset[int]) -> list[MonthCost]:
    """What the running month of each project has cost, as this person may read it."""
    return [
        replace(one, cost=cost_shown(one.cost, one.project, hidden))
        for one in months(standing=standing)
    ]
