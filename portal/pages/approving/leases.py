"""Leases: the list, one of them, more time, another size, giving back, recalling."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.leases import LeaseKind, LeaseState
from pool.models.leases import Lease
from pool.selectors.leases import lease_list, lease_search
from pool.selectors.series.arrays import in_use_of
from pool.services.extensions import lease_extension_ask, lease_resize_ask
from pool.services.leases import lease_give_back, lease_recall
from portal.access.guards import found, guard, may
from portal.access.roles import Verb
from portal.access.weights import weights_for
from portal.pages.calendar.durations import DurationField
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.catalogue.fields import given_named
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, fragment, go, page, refusal_as_toast
from portal.pages.lists import in_order, list_address, text_asked
from portal.pages.need_forms import LONGEST

SORTS = {"ends": "ends"}
"""What the list can be sorted by."""

STATES = {
    LeaseState.ACTIVE: gettext_lazy("in force"),
    LeaseState.ENDING: gettext_lazy("in their day of grace"),
    LeaseState.ENDED: gettext_lazy("over"),
}


class ExtendForm(forms.Form):
    """More time after the end."""

    time_value = DurationField(
        label=gettext_lazy("How much longer"), least=60, most=LONGEST, initial=86_400
    )
    purpose = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class ResizeForm(forms.Form):
    """Another number of copies, or another size of each."""

    copies = forms.IntegerField(
        label=gettext_lazy("At the same time"), min_value=1, max_value=1000, required=False
    )
    memory_gb = forms.IntegerField(
        label=gettext_lazy("Card memory of each (GB)"),
        min_value=1,
        max_value=1024,
        required=False,
        help_text=gettext_lazy("Left empty: as it is."),
    )
    purpose = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class RecallForm(forms.Form):
    """The new end, and why."""

    ends_at = MomentField(label=gettext_lazy("Ends then"))
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=200)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Leases of the projects one may read, newest first."""
    mine = request.GET.get("who") == "mine"
    state = request.GET.get("state", "")
    rows = lease_list(standing=request.standing)
    rows = rows.filter(request__requester=request.user) if mine else rows
    state = state if state in set(LeaseState) else ""
    rows = rows.filter(state=state) if state else rows
    text = text_asked(request)
    rows = lease_search(rows, text) if text else rows
    asked = {"requester": request.user.username if mine else "", "state": state, "search": text}
    context = {
        "page": in_order(request, rows, SORTS),
        "text": text,
        "csv": list_address("leases", request, {"ends": "ends"}, **asked),
        "mine": mine,
        "state": state,
        "states": STATES,
        "standing": request.standing,
    }
    return fragment(request, "pages/leases/index.html", "pages/leases/_rows.html", context)


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One lease: what it is good for, what runs under it, what may be asked."""
    lease = found(lease_list(standing=request.standing), uid)
    return render(request, "pages/leases/detail.html", _context(request, lease))


@page("POST")
def extend(request: HtmxRequest, uid: str) -> HttpResponse:
    """Ask for more time: a request; until its yes nothing changes."""
    lease = found(lease_list(standing=request.standing), uid)
    guard(request.standing, Verb.REQUEST_MAKE, lease.project)
    form = ExtendForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        seconds = data["time_value"]
        try:
            asked = lease_extension_ask(
                lease=lease,
                user=request.user,
                seconds=seconds,
                purpose=data["purpose"],
                weights=_weights(lease, {}, seconds, lease.copies),
                actor=Actor.of(request.user),
            )
        except PoolError as refused:
            take_refusal(form, refused, {"duration_seconds": "time_value"})
        else:
            messages.success(request, _("Your request was sent. The lease stays as it is."))
            return go(request, reverse("request", args=[asked.uid]))
    return render(
        request, "pages/leases/detail.html", _context(request, lease, extending=form), status=422
    )


@page("POST")
def resize(request: HtmxRequest, uid: str) -> HttpResponse:
    """Ask for another size or number; until the yes the lease stays as it is."""
    lease = found(lease_list(standing=request.standing), uid)
    guard(request.standing, Verb.REQUEST_MAKE, lease.project)
    form = ResizeForm(request.POST)
    if form.is_valid():
        data = form.cleaned_data
        need = {"memory_gb": data["memory_gb"]} if data["memory_gb"] else {}
        copies = data["copies"] or lease.copies
        try:
            asked = lease_resize_ask(
                lease=lease,
                user=request.user,
                need=need,
                copies=copies,
                purpose=data["purpose"],
                weights=_weights(lease, need, _left(lease), copies),
                actor=Actor.of(request.user),
            )
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Your request was sent. The lease stays as it is."))
            return go(request, reverse("request", args=[asked.uid]))
    return render(
        request, "pages/leases/detail.html", _context(request, lease, resizing=form), status=422
    )


@page("POST")
@refusal_as_toast
def give_back(request: HtmxRequest, uid: str) -> HttpResponse:
    """End it before its time."""
    lease = found(lease_list(standing=request.standing), uid)
    guard(request.standing, _verb_to_end(request, lease), lease.project)
    lease_give_back(lease=lease, actor=Actor.of(request.user))
    messages.success(request, _("Given back. What runs goes on for at most 24 h, as low priority."))
    return go(request, reverse("lease", args=[uid]))


@page("POST")
def recall(request: HtmxRequest, uid: str) -> HttpResponse:
    """Bring its end forward, with notice and a reason."""
    lease = found(lease_list(standing=request.standing), uid)
    guard(request.standing, Verb.LEASE_RECALL, lease.project)
    form = RecallForm(request.POST)
    in_zone(form, request.user)
    if form.is_valid():
        try:
            lease_recall(lease=lease, actor=Actor.of(request.user), **form.cleaned_data)
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Recalled. Whoever asked for it was told."))
            return go(request, reverse("lease", args=[uid]))
    return render(
        request, "pages/leases/detail.html", _context(request, lease, recalling=form), status=422
    )


def _context(request: HtmxRequest, lease: Lease, **forms_given: forms.Form) -> dict[str, Any]:
    active = lease.state == LeaseState.ACTIVE
    asks = active and may(request.standing, Verb.REQUEST_MAKE, lease.project)
    recalling = forms_given.get("recalling") or RecallForm(
        initial={"ends_at": now() + timedelta(days=1)}
    )
    in_zone(recalling, request.user)
    return {
        "lease": lease,
        **given_named(lease.request),
        "used": in_use_of(lease=lease),
        "workloads": lease.workloads.order_by("-pk")[:10],
        "changes": lease.changes.order_by("-pk")[:10],
        "may_ask": asks,
        "may_resize": asks and lease.kind != LeaseKind.RESERVED,
        "may_run": active and may(request.standing, Verb.WORK_SUBMIT, lease.project),
        "may_end": active and may(request.standing, _verb_to_end(request, lease), lease.project),
        "may_recall": active and may(request.standing, Verb.LEASE_RECALL, lease.project),
        "extending": forms_given.get("extending") or ExtendForm(),
        "resizing": forms_given.get("resizing") or ResizeForm(initial={"copies": lease.copies}),
        "recalling": recalling,
    }


def _verb_to_end(request: HtmxRequest, lease: Lease) -> Verb:
    own = lease.request.requester_id == request.user.pk
    return Verb.REQUEST_MAKE if own else Verb.LEASE_GIVE_BACK


def _left(lease: Lease) -> int:
    return max(60, int((lease.valid.upper - now()).total_seconds()))


def _weights(lease: Lease, need: dict[str, Any], seconds: int, copies: int) -> dict[str, float]:
    return weights_for(
        project=lease.project,
        version=lease.template_version,
        overrides={**lease.need, **need},
        partitions=list(lease.partitions.all()),
        seconds=seconds,
        copies=copies,
    )
