"""Pages about workloads: the list, one of them, its log, stopping it."""

import shlex
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from billing.selectors.usage import workload_cost
from pool.events import Actor
from pool.lifecycle.workloads import ENDED, HOLDING
from pool.models.placements import Hold
from pool.models.workloads import Attempt, Workload
from pool.selectors.hardware.neighbours import neighbours_of
from pool.selectors.logs import LogPart, log_after, log_tail
from pool.selectors.memberships import Standing
from pool.selectors.series.arrays import told
from pool.selectors.tenants import project_list
from pool.selectors.workloads import (
    GROUPS,
    attempt_list,
    workload_filter,
    workload_list,
    workload_tops,
)
from pool.services.workloads import workload_stop
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.access.showback import cost_shown, money_hidden
from portal.pages.catalogue.fields import given_words
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast
from portal.pages.lists import in_order, list_address, text_asked
from portal.pages.series.again import as_rest
from portal.pages.series.arrays import array_page, series_context
from portal.pages.telemetry.curves import usage_series
from portal.pages.yielding.orders import yield_context


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Everything the person may see, newest first; htmx asks for the rows alone."""
    asked = {name: request.GET.get(key, "") for name, key in _FILTERS.items()}
    rows = workload_list(standing=request.standing)
    if not asked["text"].startswith("wl-"):
        rows = workload_tops(rows)
    asked["text"] = text_asked(request)
    shown = in_order(request, workload_filter(rows, **asked), SORTS)
    told(shown.rows)
    context = {
        "page": shown,
        "standing": request.standing,
        "projects": project_list(standing=request.standing),
        "groups": _groups(),
        "state": asked["group"],
        "project": asked["project"],
        "text": asked["text"],
        "filtered": any(asked.values()),
        "csv": _file(request, asked),
    }
    return fragment(request, "pages/workloads/index.html", "pages/workloads/_rows.html", context)


SORTS = {"name": "name_folded"}
"""What the list can be sorted by."""


def _file(request: HtmxRequest, asked: dict[str, str]) -> str:
    """The same list as a file of REST; a group of states that there is not counts as none."""
    group = asked["group"] if asked["group"] in GROUPS else ""
    said = {"group": group, "project": asked["project"], "search": asked["text"]}
    return list_address("workloads", request, {"name": "name"}, **said)


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One workload: what it does, what it did, what it cost."""
    rows = workload_list(standing=request.standing).select_related("parent")
    workload = get_object_or_404(rows, uid=uid)
    if workload.array_size:
        return array_page(request, workload)
    context = live_context(workload, standing=request.standing)
    attempts: list[Attempt] = context["attempts"]
    rank = chosen_rank(request, attempts)
    context |= {
        "rank": rank,
        "standing": request.standing,
        "command": shlex.join((workload.parent or workload).command),
        "log": log_tail(attempt=attempts[0], rank=rank) if attempts else LogPart("", 0, 0),
        "ended": workload.state in ENDED,
        "series": usage_series(attempts[0], workload, context["holds"]) if attempts else {},
        "rest": as_rest(workload),
        **given_words(workload),
    }
    return render(request, "pages/workloads/detail.html", context)


@page("POST")
@refusal_as_toast
def stop(request: HtmxRequest, uid: str) -> HttpResponse:
    """Stop what runs, cancel what waits."""
    workload = get_object_or_404(workload_list(standing=request.standing), uid=uid)
    guard(request.standing, Verb.WORK_STOP, workload)
    workload_stop(workload=workload, actor=Actor.of(request.user))
    return go(request, reverse("workload", args=[workload.uid]))


@page("GET")
def log(request: HtmxRequest, uid: str) -> HttpResponseBase:
    """The newest attempt's whole log, or that of one rank of it, as a text file."""
    workload = get_object_or_404(workload_list(standing=request.standing), uid=uid)
    attempts = list(attempt_list(workload=workload)[:1])
    rank = chosen_rank(request, attempts)
    parts = _whole_log(attempts[0], rank) if attempts else iter(())
    response = StreamingHttpResponse(parts, content_type="text/plain; charset=utf-8")
    name = f"{workload.uid}-rank{rank}" if rank else workload.uid
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.log"'
    return response


def chosen_rank(request: HtmxRequest, attempts: list[Attempt]) -> int:
    """Whose log is shown: the rank that is asked for where the newest attempt has it, else 0."""
    asked = request.GET.get("rank", "")
    known = {str(one.rank): one.rank for one in attempts[0].ranks.all()} if attempts else {}
    return known.get(asked, 0)


def live_context(workload: Workload, *, standing: Standing) -> dict[str, Any]:
    """What the part of the page that follows the workload shows."""
    attempts = list(attempt_list(workload=workload))
    mine = may(standing, Verb.WORK_STOP, workload)
    stopping = workload.state == "stopping"
    return {
        "workload": workload,
        "attempts": attempts,
        "holds": _holds(attempts),
        "neighbours": neighbours_of(workload=workload),
        "held": workload.state in HOLDING,
        "cost": cost_shown(
            workload_cost(workload=workload), workload.project, money_hidden(standing)
        ),
        **series_context(workload, standing=standing),
        **yield_context(workload, standing=standing),
        "may_stop": mine and workload.state not in ENDED and not stopping,
    }


def _holds(attempts: list[Attempt]) -> list[Hold]:
    if not attempts:
        return []
    return [hold for placed in attempts[0].placements.all() for hold in placed.holds.all()]


def _whole_log(attempt: Attempt, rank: int = 0) -> Any:
    offset = 0
    while True:
        part = log_after(attempt=attempt, offset=offset, chunks=16, rank=rank)
        if not part.text:
            return
        if part.start > offset:
            yield _("\n[… %(n)d bytes were not kept …]\n") % {"n": part.start - offset}
        yield part.text
        offset = part.end


_FILTERS = {"group": "state", "project": "project", "text": "q"}


def _groups() -> list[tuple[str, str]]:
    return [
        ("", _("All")),
        ("waiting", _("Waiting")),
        ("running", _("Running")),
        ("ended", _("Ended")),
    ]
