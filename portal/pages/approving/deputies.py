"""Deputies: who decides for me while I am away, and for whom I decide."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.models.approvals.delegations import Delegation
from pool.models.users import User
from pool.selectors.approvals.deputies import deputies_possible
from pool.selectors.approvals.powers import delegations_now
from pool.services.approvals.delegations import delegation_create, delegation_end
from portal.access.guards import found
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast


class DeputyForm(forms.Form):
    """Who, from when, until when."""

    deputy = forms.ModelChoiceField(
        label=gettext_lazy("Deputy"),
        queryset=User.objects.none(),
        to_field_name="uid",
        empty_label=gettext_lazy("choose a person"),
    )
    starts_at = MomentField(label=gettext_lazy("From"))
    ends_at = MomentField(label=gettext_lazy("Until"))
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=200, required=False)

    def __init__(self, *args: Any, request: HtmxRequest, **given: Any) -> None:
        super().__init__(*args, **given)
        in_zone(self, request.user)
        rows = deputies_possible(standing=request.standing)
        self.fields["deputy"].queryset = rows  # type: ignore[attr-defined]


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """Those I have named, those who named me, and naming one."""
    bound = request.method == "POST"
    start = {"starts_at": now(), "ends_at": now() + timedelta(days=7)}
    form = DeputyForm(request.POST or None, initial=start, request=request)
    if bound and form.is_valid():
        try:
            delegation_create(
                person=request.user, actor=Actor.of(request.user), **form.cleaned_data
            )
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Named. Your deputy was told."))
            return go(request, reverse("deputies"))
    rows = Delegation.objects.select_related("person", "deputy")
    context = {
        "form": form,
        "decides": request.standing.decides,
        "named": rows.filter(person=request.user)[:30],
        "mine": rows.filter(deputy=request.user)[:30],
        "now": {one.pk for one in delegations_now(deputy=request.user.pk)},
        "at": now(),
    }
    status = 422 if bound else 200
    return render(request, "pages/deputies/index.html", context, status=status)


@page("POST")
@refusal_as_toast
def end(request: HtmxRequest, uid: str) -> HttpResponse:
    """End it; whoever is away and the deputy both may."""
    own = Delegation.objects.filter(Q(person=request.user) | Q(deputy=request.user))
    one = found(own, uid)
    delegation_end(delegation=one, actor=Actor.of(request.user))
    messages.success(request, _("Ended."))
    return go(request, reverse("deputies"))
