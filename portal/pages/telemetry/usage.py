"""What a workload used: the charts alone, asked again while it runs, and the file."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from pool.lifecycle.workloads import ENDED
from pool.models.placements import Hold
from pool.selectors.workloads import attempt_list, workload_list
from portal.pages.htmx import HtmxRequest, page
from portal.pages.telemetry.curves import attempt_csv, usage_series


@page("GET")
def usage(request: HtmxRequest, uid: str) -> HttpResponse:
    """The measurements of the newest attempt alone, over the span that was chosen."""
    workload = get_object_or_404(workload_list(standing=request.standing), uid=uid)
    newest = attempt_list(workload=workload).first()
    span = request.GET.get("span", "")
    holds = Hold.objects.filter(placement__attempt=newest).select_related("slice")
    context = {
        "workload": workload,
        "ended": workload.state in ENDED,
        "series": usage_series(newest, workload, holds, span) if newest else {},
    }
    return render(request, "pages/workloads/_usage.html", context)


@page("GET")
def usage_file(request: HtmxRequest, uid: str) -> HttpResponse:
    """Everything that was measured of the newest attempt, as CSV."""
    workload = get_object_or_404(workload_list(standing=request.standing), uid=uid)
    newest = attempt_list(workload=workload).first()
    answer = HttpResponse(
        attempt_csv(newest) if newest else "", content_type="text/csv; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="{workload.uid}.csv"'
    return answer
