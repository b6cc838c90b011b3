"""One item of the queue: why it waits, what would start it, and what may be done about it."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django_htmx.http import trigger_client_event

from pool.cycle.changing import change_apply
from pool.cycle.outlook import outlooks
from pool.errors import HelpsNoMore, Invalid, PoolError, Stale
from pool.events import Actor
from pool.lifecycle.roles import Priority
from pool.lifecycle.workloads import WAITING
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list
from pool.services.queueing.steer import workload_rank
from pool.services.workloads import workload_hold, workload_release
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.explained import AskedTooOften, explained, looked, may_change
from portal.pages.htmx import HtmxRequest, page, toast
from portal.pages.queueing.listing import planned
from portal.templatetags.waits import why_words

RANKS = [one.value for one in Priority if one is not Priority.CRITICAL]
"""Classes that may be given by hand; critical is granted with a budget."""

HOLDS = {"hold": workload_hold, "release": workload_release}
PART, PANEL = "pages/queue/_item.html", "pages/queue/_panel.html"


@page("GET")
def item(request: HtmxRequest, uid: str) -> HttpResponse:
    """Why it waits, worked out on the pool as it is, with what would start it now.

    On the page of the workload it is a card of its own, and nothing once it waits no more.
    """
    work = _work(request, uid)
    if request.GET.get("on") != "page":
        return render(request, PART, _context(request, work))
    if work.state not in WAITING:
        return HttpResponse()
    return render(request, PANEL, _context(request, work))


@page("POST")
def change(request: HtmxRequest, uid: str) -> HttpResponse:
    """Apply a change that was offered; it is planned again first."""
    work = _work(request, uid)
    guard(request.standing, Verb.WORK_STOP, work)
    amount = request.POST.get("amount", "")
    whole = int(amount) if amount.isascii() and amount.isdigit() and len(amount) < 10 else None
    try:
        may_change(who=request.user.uid)
        change_apply(
            workload=work,
            change=request.POST.get("change", ""),
            amount=whole,
            actor=Actor.of(request.user),
        )
    except AskedTooOften as often:
        said = _("You tried many changes; the next one can be tried in %(n).0f s.")
        context = _context(request, work) | {"refused": said % {"n": often.wait_s}}
        return render(request, PART, context, status=422)
    except PoolError as refused:
        return _refused(request, work, refused)
    return _done(request, work, _("Changed; it starts in a moment."))


@page("POST")
def rank(request: HtmxRequest, uid: str) -> HttpResponse:
    """Raise or lower it inside its project, with a reason."""
    work = _work(request, uid)
    guard(request.standing, Verb.WORK_RANK, work)
    priority = request.POST.get("priority", "")
    try:
        workload_rank(
            workload=work,
            priority=priority if priority in RANKS else "",
            reason=request.POST.get("reason", "").replace("\0", ""),
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        return _refused(request, work, refused)
    return _done(request, work, _("Its priority is changed."))


@page("POST")
def hold(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Keep it from starting, or let it start again; its owner does not release a lead's hold."""
    work = _work(request, uid)
    guard(request.standing, Verb.WORK_STOP, work)
    leads = may(request.standing, Verb.WORK_STOP_ANY, work)
    strict = leads if verb == "release" else work.owner_id != request.user.pk
    try:
        HOLDS[verb](workload=work, actor=Actor.of(request.user), strict=strict)
    except PoolError as refused:
        return _refused(request, work, refused)
    return _done(request, work, _("Held back.") if verb == "hold" else _("Back in the queue."))


def refusal_words(refused: PoolError) -> str:
    """What changed since a change was offered, in one sentence."""
    if isinstance(refused, HelpsNoMore) and refused.detail.get("why") == "waits":
        why = why_words(refused.detail["waits"])
        return _("Not changed: with this it would still wait, because %(why)s.") % {"why": why}
    if isinstance(refused, HelpsNoMore) and refused.detail.get("why") == "others":
        return _("Not changed: it would now take the start of other work.")
    if isinstance(refused, Stale):
        return _("Not changed: it no longer waits, or starts by itself.")
    if isinstance(refused, Invalid):
        return " ".join(text for texts in refused.detail.values() for text in texts)
    return str(refused)


def _work(request: HtmxRequest, uid: str) -> Workload:
    return get_object_or_404(workload_list(standing=request.standing), uid=uid)


def _context(request: HtmxRequest, work: Workload) -> dict[str, Any]:
    """The panel of one item; the plan is asked only for what waits in the queue."""
    on_page = f"/workloads/{work.uid}" in (request.htmx.current_url or "")
    context: dict[str, Any] = {"workload": work, "bare": on_page}
    context |= _allowed(request.standing, work)
    if work.state != "queued":
        return context
    try:
        told = explained(workload=work, who=request.user.uid)
    except AskedTooOften as often:
        return context | {"waits": work.waits, "again_s": often.wait_s} | planned(work.waits)
    waits = told.waits or {}
    found = {
        "waits": waits,
        "changes": told.changes,
        "heavy": told.bandwidth,
        **_frees(request.standing, work),
    }
    return context | found | planned(waits)


def _frees(standing: Standing, work: Workload) -> dict[str, Any]:
    """What it waits for to end, where it holds a planned start; others' work has no name."""
    head = next((one for one in outlooks(looked(), most=50) if one.workload == work.pk), None)
    if head is None or head.frees is None:
        return {}
    return {
        "waits_for": True,
        "frees": workload_list(standing=standing).filter(pk=head.frees).first(),
    }


def _allowed(standing: Standing, work: Workload) -> dict[str, Any]:
    waits = work.state in WAITING
    return {
        "may_change": waits and may(standing, Verb.WORK_STOP, work),
        "may_rank": waits and may(standing, Verb.WORK_RANK, work),
        "ranks": RANKS,
    }


def _refused(request: HtmxRequest, work: Workload, refused: PoolError) -> HttpResponse:
    """The panel again, as the pool is now, with what changed above it."""
    work.refresh_from_db()
    context = _context(request, work) | {"refused": refusal_words(refused)}
    return render(request, PART, context, status=409 if refused.status == 409 else 422)


def _done(request: HtmxRequest, work: Workload, said: str) -> HttpResponse:
    work.refresh_from_db()
    response = render(request, PART, _context(request, work))
    return trigger_client_event(toast(response, "success", said), "queue-changed")
