"""Asking that a notebook be left alone for a night, with what that costs; and answering it."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.services.nights import NightPrice, night_price
from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.idleness import NightAnswer
from pool.models.workloads import Workload
from pool.rules.idling.words import MOST_REASON
from pool.selectors.approvals.powers import deciders_of
from pool.selectors.notebooks.nights import night_asked_of, night_open
from pool.selectors.notebooks.standing import notebook_list
from pool.services.notebooks.nights import NothingAsked, night_answer, night_ask
from portal.access.guards import guard
from portal.access.roles import Verb
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast


class NightForm(forms.Form):
    """Until when, and why."""

    until = MomentField(label=gettext_lazy("Leave it alone until"))
    reason = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=MOST_REASON,
        help_text=gettext_lazy("Whoever decides reads it."),
    )

    def __init__(self, *args: Any, request: HtmxRequest, **given: Any) -> None:
        super().__init__(*args, **given)
        in_zone(self, request.user)


@page("GET", "POST")
def ask(request: HtmxRequest, uid: str) -> HttpResponse:
    """The wish with its price; a POST sends it."""
    row = get_object_or_404(notebook_list(standing=request.standing), uid=uid)
    guard(request.standing, Verb.NOTEBOOK_OPEN, row)
    bound = request.method == "POST"
    start = {"until": now() + timedelta(hours=12)}
    form = NightForm(request.POST or None, initial=start, request=request)
    if bound and form.is_valid():
        until = form.cleaned_data["until"]
        try:
            night_ask(
                workload=row,
                user=request.user,
                actor=Actor.of(request.user),
                weights=night_price(workload=row, until=until).weights,
                deciders=deciders_of(project=row.project, step="lead", but=request.user.pk),
                **form.cleaned_data,
            )
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Asked. Until somebody answers the usual rule holds."))
            return go(request, reverse("notebook", args=[row.uid]))
    context = {"row": row, "form": form, "price": _price(row, form)}
    return render(request, "pages/notebooks/night.html", context, status=422 if bound else 200)


@page("POST")
def priced(request: HtmxRequest, uid: str) -> HttpResponse:
    """Only the price, while one fills in the form."""
    row = get_object_or_404(notebook_list(standing=request.standing), uid=uid)
    form = NightForm(request.POST, request=request)
    context = {"row": row, "price": _price(row, form)}
    return render(request, "pages/notebooks/_night_price.html", context)


@page("POST")
@refusal_as_toast
def answer(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Grant, refuse or withdraw the wish that is open; a deputy answers for somebody away."""
    if verb not in set(NightAnswer):
        raise Http404
    said = NightAnswer(verb)
    own = said is NightAnswer.WITHDRAWN
    row = None if own else night_asked_of(standing=request.standing, uid=uid)
    if row is None:
        row = get_object_or_404(notebook_list(standing=request.standing), uid=uid)
        guard(request.standing, Verb.NOTEBOOK_OPEN if own else Verb.REQUEST_DECIDE, row)
    wish = night_open(workload=row)
    if wish is None:
        raise NothingAsked
    words = request.POST.get("words", "").replace("\0", "")
    actor = Actor.of(request.user)
    night_answer(night=wish, answer=said, user=request.user, actor=actor, words=words)
    return go(request, reverse("notebook", args=[row.uid]))


def _price(row: Workload, form: NightForm) -> NightPrice | None:
    """None while the form does not say until when."""
    until: datetime | None = form.initial.get("until")
    if form.is_bound:
        form.is_valid()
        until = form.cleaned_data.get("until")
    if until is None or until <= now():
        return None
    return night_price(workload=row, until=until)
