"""One notebook: going in, its start step by step, what it is judged by, keeping and stopping it."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from nodeagent.protocol.vocabulary import ExitReason
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.workloads import Workload
from pool.selectors.notebooks.nights import night_asked_of, night_open
from pool.selectors.notebooks.past import held_and_used
from pool.selectors.notebooks.shares import share_open
from pool.selectors.notebooks.standing import notebook_list, went_on
from pool.selectors.workloads import attempt_list
from pool.services.notebooks.keep import notebook_keep
from pool.services.workloads import workload_resume, workload_stop
from portal.access.entrances import entrance_vouched
from portal.access.guards import guard, may
from portal.access.passes import ticket_issue
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast
from portal.pages.notebooks.listing import card_of, cards_of
from portal.pages.notebooks.words import evidence_words


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """The whole page, or its live part alone."""
    asked = night_asked_of(standing=request.standing, uid=uid)
    row = asked or _one(request, uid)
    card = card_of(row, request.user, request.standing)
    known = card["known"]
    before, after = went_on(row)
    context = {
        "card": card,
        "row": row,
        "evidence": evidence_words(known) if known else [],
        "runs": list(attempt_list(workload=row)[:20]),
        "standing": request.standing,
        "night": night_open(workload=row),
        "may_decide": row.owner_id != request.user.pk
        and (asked is not None or may(request.standing, Verb.REQUEST_DECIDE, row)),
        "held": held_and_used(workload=row),
        "share": share_open(workload=row),
        "may_unshare": may(request.standing, Verb.WORK_STOP, row),
        "before": before,
        "after": after,
    }
    return fragment(
        request, "pages/notebooks/detail.html", "pages/notebooks/_standing.html", context
    )


@page("POST")
@refusal_as_toast
def enter(request: HtmxRequest, uid: str) -> HttpResponse:
    """A ticket for one minute, and straight to the gateway with it."""
    row = _one(request, uid)
    guard(request.standing, Verb.NOTEBOOK_OPEN, row)
    ticket = ticket_issue(
        workload=row, user=request.user, session_key=request.session.session_key or ""
    )
    record(EventKind.NOTEBOOK_OPENED, row, actor=Actor.of(request.user))
    return go(request, f"{settings.GATEWAY_ORIGIN}/enter/{row.uid}?ticket={ticket}")


@page("GET")
def vouch(request: HtmxRequest, uid: str) -> HttpResponse:
    """The gateway asks whose browser this is; who holds somebody else's ticket stays here."""
    row = _one(request, uid)
    ticket, mark = request.GET.get("ticket", ""), request.GET.get("mark", "")
    word = entrance_vouched(plain=ticket, uid=row.uid, mark=mark, user=request.user)
    if word is None:
        return go(request, reverse("notebook", args=[row.uid]))
    query = urlencode({"ticket": ticket, "word": word})
    return go(request, f"{settings.GATEWAY_ORIGIN}/enter/{row.uid}?{query}")


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Keep, stop or resume it."""
    row = _one(request, uid)
    guard(request.standing, Verb.WORK_STOP, row)
    if verb not in _ACTS:
        raise Http404
    _ACTS[verb](row, Actor.of(request.user))
    return go(request, reverse("notebook", args=[row.uid]))


def _stop(row: Workload, actor: Actor) -> Any:
    return workload_stop(workload=row, actor=actor, reason=ExitReason.STOPPED)


_ACTS: dict[str, Callable[[Workload, Actor], Any]] = {
    "keep": lambda row, actor: notebook_keep(workload=row, actor=actor),
    "stop": _stop,
    "resume": lambda row, actor: workload_resume(workload=row, actor=actor),
}


def _one(request: HtmxRequest, uid: str) -> Workload:
    return get_object_or_404(notebook_list(standing=request.standing), uid=uid)


@page("GET")
def warnings(request: HtmxRequest) -> HttpResponse:
    """The strips of one's notebooks that will be reclaimed soon; htmx asks when something moved."""
    rows = notebook_list(standing=request.standing).filter(
        owner=request.user, state="running", notebook__warned__isnull=False
    )
    cards = cards_of(rows[:5], request.user, request.standing)
    return render(request, "pages/notebooks/_warnings.html", {"cards": cards})
