"""The inbox of those who decide: the list, one request with its consequences, the decision."""

from typing import Any

from django import forms
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_htmx.http import trigger_client_event

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.requests import RequestState
from pool.models.requests import Request
from pool.rules.approval import may_decide
from pool.selectors.calendar.reservations import keeping_of
from pool.selectors.consequences import consequences_of
from pool.selectors.records import record_of
from pool.selectors.requests import approval_list, comment_list, decided_list, request_list
from pool.services.decisions import (
    UNDO_SECONDS,
    request_approve,
    request_reject,
    request_return,
    request_undo,
)
from portal.access.guards import anywhere, found, guard
from portal.access.roles import Verb
from portal.access.weights import weights_of_change
from portal.pages.answers import Answer, answer
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless, toast
from portal.pages.lists import newest_first
from portal.pages.need_forms import UNITS

VERBS = ("approve", "reject", "return", "undo")
PANE = "pages/approvals/_pane.html"


class DecisionForm(forms.Form):
    """A decision on one reading of a request; changes only where they differ."""

    revision = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label=gettext_lazy("Your words"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy("The requester reads them. Needed to reject or to ask back."),
    )
    copies = forms.IntegerField(
        label=gettext_lazy("At the same time"), min_value=1, max_value=1000, required=False
    )
    time_value = forms.IntegerField(
        label=gettext_lazy("For how long"), min_value=1, max_value=99999, required=False
    )
    time_unit = forms.TypedChoiceField(
        label=gettext_lazy("Unit of time"), choices=UNITS, coerce=int, required=False
    )

    def changes(self, one: Request) -> dict[str, Any]:
        """What differs from what was asked."""
        data = self.cleaned_data
        seconds = (data["time_value"] or 0) * (data["time_unit"] or 0)
        asked = {"copies": data["copies"], "duration_seconds": seconds}
        return {name: said for name, said in asked.items() if said and said != getattr(one, name)}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Two panes: what waits, and the one that is open."""
    refuse_unless(anywhere(request.standing, Verb.REQUEST_DECIDE))
    waiting = list(approval_list(standing=request.standing))
    wanted = request.GET.get("open", "")
    opened = next((one for one in waiting if one.uid == wanted), None)
    if opened is None and wanted:
        opened = _decidable(request, wanted)
    context = {
        "waiting": waiting,
        "standing": request.standing,
        "picked": request.GET.getlist("pick"),
    }
    opened = opened or next((one for one in waiting if one.requester != request.user), None)
    if opened is not None:
        context |= _pane(request, opened)
    return fragment(request, "pages/approvals/index.html", "pages/approvals/_list.html", context)


@page("GET")
def decided(request: HtmxRequest) -> HttpResponse:
    """What was decided, and what became of it."""
    refuse_unless(anywhere(request.standing, Verb.REQUEST_DECIDE))
    rows = decided_list(standing=request.standing)
    context = {"page": newest_first(request, rows), "standing": request.standing}
    return render(request, "pages/approvals/decided.html", context)


@page("GET")
def pane(request: HtmxRequest, uid: str) -> HttpResponse:
    """The right-hand side for one request."""
    one = _decidable(request, uid)
    return render(request, PANE, _pane(request, one))


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
    one = found(request_list(standing=request.standing), uid)
    context = _pane(request, one) | {"refused": refused}
    if status != 200:
        context["form"] = form
        context["moved"] = form.is_valid() and form.cleaned_data["revision"] != one.revision
    response = render(request, PANE, context, status=200 if status == 403 else status)
    return trigger_client_event(_said(response, verb, status), "approvals-changed")


def _decidable(request: HtmxRequest, uid: str) -> Request:
    """A request of a project in which the person decides; others only read its own page."""
    one = found(request_list(standing=request.standing), uid)
    guard(request.standing, Verb.REQUEST_DECIDE, one.project)
    return one


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
    reason = form.cleaned_data["reason"]
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
    roles = request.standing.roles_in(one.project)
    step = one.steps[one.step] if one.step < len(one.steps) else "lead"
    reserved = one.lease_kind == LeaseKind.RESERVED
    return {
        "one": one,
        "own": one.requester_id == request.user.pk,
        "mine_to_decide": waits and may_decide(step, roles),
        "pending": one.pending_decision if waits else None,
        "pending_mine": (one.pending_decision or {}).get("by") == request.user.pk,
        "comments": comment_list(request=one),
        "form": DecisionForm(initial=_as_asked(one)),
        "answer": _answer(one) if waits else None,
        "consequences": consequences_of(request=one, standing=request.standing) if waits else None,
        "keeping": keeping_of(request=one, now=now()) if waits and reserved else None,
        "record": record_of(user=one.requester) if waits else None,
    }


def _as_asked(one: Request) -> dict[str, Any]:
    seconds = one.duration_seconds
    unit = next(size for size in (86400, 3600, 60, 1) if seconds % size == 0)
    unit = max(unit, 60)
    return {
        "revision": one.revision,
        "copies": one.copies,
        "time_value": -(-seconds // unit),
        "time_unit": unit,
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
