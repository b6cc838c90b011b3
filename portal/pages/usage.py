"""What was held and what it cost."""

from django.http import HttpResponse
from django.shortcuts import render

from billing.selectors.usage import months, workload_costs
from pool.models.workloads import Workload
from portal.pages.htmx import HtmxRequest, page
from portal.pages.lists import newest_first


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """This month by project, and the newest workloads with their cost."""
    rows = Workload.objects.filter(request.standing.spends()).select_related(
        "project", "owner", "template_version__template"
    )
    shown = newest_first(request, rows.filter(attempts_made__gt=0))
    costs = workload_costs(workloads=shown.rows)
    context = {
        "months": months(standing=request.standing),
        "page": shown,
        "lines": [(one, costs[one.pk]) for one in shown.rows],
    }
    return render(request, "pages/usage/index.html", context)
