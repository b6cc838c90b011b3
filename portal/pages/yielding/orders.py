"""What a workload's page shows of giving way, and its three verbs."""

from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from pool.errors import Invalid
from pool.events import Actor
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list
from pool.selectors.yielding import loss_now, order_list, room_kept_until
from pool.services.yielding.asked import break_glass, preemption_prove, workload_declare
from pool.services.yielding.orders import MAY_LEAVE
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.pages.calendar.durations import duration_read
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.need_forms import LONGEST


def yield_context(workload: Workload, *, standing: Standing) -> dict[str, Any]:
    """Its orders, what leaving now would lose, the room kept for it, and who may do what."""
    runs = workload.state in MAY_LEAVE
    held = workload.state == "queued"
    return {
        "told": order_list(workload=workload),
        "loss_card_s": loss_now(workload=workload) if runs else None,
        "room_until": room_kept_until(workload=workload) if held else None,
        "may_prove": runs and may(standing, Verb.WORK_STOP, workload),
        "may_preempt": runs and may(standing, Verb.WORK_PREEMPT, workload),
    }


@page("POST")
@refusal_as_toast
def preempt(request: HtmxRequest, uid: str) -> HttpResponse:
    """Order running work to leave now, with a reason: a platform admin's break-glass."""
    workload = _work(request, uid)
    guard(request.standing, Verb.WORK_PREEMPT, workload)
    reason = request.POST.get("reason", "").replace("\0", "")
    break_glass(workload=workload, reason=reason, actor=Actor.of(request.user))
    return go(request, reverse("workload", args=[workload.uid]))


@page("POST")
@refusal_as_toast
def prove(request: HtmxRequest, uid: str) -> HttpResponse:
    """Rehearse a preemption of one's own running work."""
    workload = _work(request, uid)
    guard(request.standing, Verb.WORK_STOP, workload)
    preemption_prove(workload=workload, actor=Actor.of(request.user))
    return go(request, reverse("workload", args=[workload.uid]))


@page("POST")
@refusal_as_toast
def declare(request: HtmxRequest, uid: str) -> HttpResponse:
    """Say anew how long the work takes, from its start."""
    workload = _work(request, uid)
    guard(request.standing, Verb.WORK_STOP, workload)
    try:
        seconds = duration_read(request.POST.get("time", ""), least=60, most=LONGEST)
    except ValidationError as wrong:
        raise Invalid(expected_seconds=" ".join(wrong.messages)) from wrong
    workload_declare(workload=workload, expected_seconds=seconds, actor=Actor.of(request.user))
    return go(request, reverse("workload", args=[workload.uid]))


def _work(request: HtmxRequest, uid: str) -> Workload:
    return get_object_or_404(workload_list(standing=request.standing), uid=uid)
