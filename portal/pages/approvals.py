"""The inbox of those who decide: the list, one request with its consequences, the decision."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django_htmx.http import trigger_client_event

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.requests import RequestState
from pool.models.requests import Request
from pool.rules.approval import may_decide
from pool.selectors.approvals.duplicates import duplicates_of_request
from pool.selectors.approvals.outcomes import outcomes_of
from pool.selectors.approvals.powers import (
    decides_anywhere,
    delegations_now,
    roles_to_decide,
    stands_in_for,
)
from pool.selectors.calendar.reservations import keeping_of
from pool.selectors.consequences import consequences_of
from pool.selectors.records import record_of
from pool.selectors.requests import (
    approval_list,
    comment_list,
    decidable_list,
    decided_list,
    first_times,
    request_list,
)
from pool.services.decisions import (
    UNDO_SECONDS,
    request_approve,
    request_reject,
    request_return,
    request_undo,
)
from portal.access.guards import found, guard
from portal.access.roles import Verb
from portal.access.weights import weights_of_change
from portal.pages.advisor.waits import effects_of_request
from portal.pages.answers import Answer, answer
from portal.pages.approving.budgets import budgets_of
from portal.pages.approving.deciding import DecisionForm, as_asked, moved_since, ways_of
from portal.pages.approving.spent import spent_of
from portal.pages.catalogue.fields import given_named
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless, toast
from portal.pages.lists import newest_first

VERBS = ("approve", "reject", "return", "undo")
PANE = "pages/approvals/_pane.html"
INBOX = 60
"""So many of those that wait are shown, the oldest; the next come up as they are decided."""


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Two panes: what waits, and the one that is open."""
    refuse_unless(decides_anywhere(standing=request.standing))
    rows = approval_list(standing=request.standing)
    waiting = list(rows[: INBOX + 1])
    more = rows.count() - INBOX if len(waiting) > INBOX else 0
    waiting = waiting[:INBOX]
    wanted = _opened(request)
    opened = next((one for one in waiting if one.uid == wanted), None)
    if opened is None and wanted:
        opened = _decidable(request, wanted)
    context = {
        "waiting": waiting,
        "more": more,
        "firsts": first_times(requests=waiting),
        "standing": request.standing,
        "picked": request.GET.getlist("pick"),
        "stands_in": delegations_now(deputy=request.user.pk),
        "at": now(),
    }
    opened = opened or next((one for one in waiting if one.requester != request.user), None)
    if opened is not None:
        context |= _pane(request, opened)
    return fragment(request, "pages/approvals/index.html", "pages/approvals/_list.html", context)


def _opened(request: HtmxRequest) -> str:
    """The request before the reader's eyes: a part of the page asks with the page's own address."""
    here = urlsplit(request.htmx.current_url or "") if request.htmx else urlsplit("")
    named = parse_qs(here.query).get("open", [""])[0]
    return named if named.isprintable() and named else request.GET.get("open", "")


@page("GET")
def decided(request: HtmxRequest) -> HttpResponse:
    """What was decided, and what became of it."""
    refuse_unless(decides_anywhere(standing=request.standing))
    rows = decided_list(standing=request.standing)
    shown = newest_first(request, rows)
    context = {
        "page": shown,
        "outcomes": outcomes_of(requests=shown.rows),
        "standing": request.standing,
    }
    return render(request, "pages/approvals/decided.html", context)


@page("GET")
def pane(request: HtmxRequest, uid: str) -> HttpResponse:
    """The right-hand side for one request."""
    one = _decidable(request, uid)
    return render(request, PANE, _pane(request, one))


@page("GET")
def effects(request: HtmxRequest, uid: str) -> HttpResponse:
    """What the plan says with and without it: its wait, who would leave, who would wait longer."""
    one = _decidable(request, uid)
    found_effects = effects_of_request(request=one, who=request.user.uid)
    context = {"one": one, "effects": found_effects, "standing": request.standing}
    return render(request, "pages/approvals/_effects.html", context)


@page("POST")
def decide(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Approve, reject, ask back or undo; the pane answers as things now stand."""
    if verb not in VERBS:
        raise Http404
    one = _decidable(request, uid)
    form = DecisionForm(request.POST)
    status, refused = 200, None
    if not form.is_valid():
        status = 422
    else:
        try:
            _carry_out(request, one, verb, form)
        except PoolError as error:
            take_refusal(form, error, {"text": "reason"})
            status, refused = (error.status if error.status != 400 else 422), error
    one = _decidable(request, uid)
    context = _pane(request, one) | {"refused": refused}
    if status != 200:
        context["form"] = form
        context["moved"] = moved_since(request.POST.get("read", ""), one)
        if status == 409:
            context["form"] = _again(one, form)
    response = render(request, PANE, context, status=200 if status == 403 else status)
    return trigger_client_event(_said(response, verb, status), "approvals-changed")


def _decidable(request: HtmxRequest, uid: str) -> Request:
    """A request where the person decides, themselves or for somebody away; others only read it."""
    rows = decidable_list(standing=request.standing)
    one = rows.filter(uid=uid).first() if uid.isprintable() else None
    if one is None:
        one = found(request_list(standing=request.standing), uid)
        guard(request.standing, Verb.REQUEST_DECIDE, one.project)
    return one


def _again(one: Request, form: DecisionForm) -> DecisionForm:
    """The form on the reading of now, with the decider's words kept and the refusal above it."""
    return DecisionForm(initial=as_asked(one) | {"reason": form.data.get("reason", "")})


def _carry_out(request: HtmxRequest, one: Request, verb: str, form: DecisionForm) -> None:
    who: dict[str, Any] = {
        "request": one,
        "user": request.user,
        "actor": Actor.of(request.user),
    }
    if verb == "undo":
        request_undo(**who)
        return
    who |= {"revision": form.cleaned_data["revision"], "delay_s": UNDO_SECONDS}
    reason = form.words
    if verb == "approve":
        changes = form.changes(one)
        weights = weights_of_change(request=one, changes=changes) if changes else None
        request_approve(**who, changes=changes, reason=reason, weights=weights)
    elif verb == "reject":
        request_reject(**who, reason=reason)
    else:
        request_return(**who, text=reason)


def _said(response: HttpResponse, verb: str, status: int) -> HttpResponse:
    if status == 200 and verb == "undo":
        return toast(response, "info", _("Taken back. Nothing has changed."))
    return response


def _pane(request: HtmxRequest, one: Request) -> dict[str, Any]:
    waits = one.state == RequestState.SUBMITTED
    roles = roles_to_decide(user=request.user, request=one) if waits else frozenset()
    said = _answer(one) if waits else None
    step = one.steps[one.step] if one.step < len(one.steps) else "lead"
    reserved = one.lease_kind == LeaseKind.RESERVED
    return {
        "one": one,
        **given_named(one),
        "own": one.requester_id == request.user.pk,
        "mine_to_decide": waits and may_decide(step, roles),
        "pending": one.pending_decision if waits else None,
        "pending_mine": (one.pending_decision or {}).get("by") == request.user.pk,
        "comments": comment_list(request=one),
        "form": DecisionForm(initial=as_asked(one)),
        "answer": said,
        "ways": ways_of(said),
        "alike": duplicates_of_request(request=one) if waits else [],
        "deputy_of": stands_in_for(user=request.user, request=one) if waits else None,
        "spent": spent_of(project=one.project, standing=request.standing) if waits else None,
        "consequences": consequences_of(request=one, standing=request.standing) if waits else None,
        "budgets": budgets_of(
            project=one.project,
            user=one.requester,
            standing=request.standing,
            answer=said,
            seconds=one.duration_seconds,
        ),
        "keeping": keeping_of(request=one, now=now()) if waits and reserved else None,
        "record": record_of(user=one.requester) if waits else None,
    }


def _answer(one: Request) -> Answer:
    return answer(
        project=one.project,
        version=one.template_version,
        overrides=one.need,
        partitions=list(one.partitions.all()),
        seconds=one.duration_seconds,
        copies=one.copies,
        reserved=one.lease_kind == "reserved",
    )
