"""Planned changes of quotas: what comes on which day, grants with an end, calling them off."""

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import Forbidden, PoolError
from pool.events import Actor
from pool.lifecycle.roles import QuotaKind
from pool.lifecycle.targets import PlannedQuotaKind
from pool.models import Partition, PlannedQuota
from pool.rules.policies import MOST_REASON
from pool.selectors.partitions import partition_list
from pool.selectors.quotatree.history import planned_list
from pool.services.quotas import QuotaLine
from pool.services.quotatree.counting import OF_CARDS
from pool.services.quotatree.planned import quota_plan, quota_plan_cancel
from portal.access.dealing import may_set
from portal.access.guards import anywhere, found
from portal.access.roles import Verb
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless
from portal.pages.lists import newest_first
from portal.pages.quotatree.node import tenant_of
from portal.pages.quotatree.said import UNIT_WORDS, read
from portal.templatetags.quotatree import COLUMN_WORDS

PAGE = "pages/quotatree/planned.html"


class PlanForm(forms.Form):
    """What one row is to be, from when, and for a grant until when."""

    does = forms.ChoiceField(
        label=gettext_lazy("What"),
        choices=[
            (PlannedQuotaKind.SET, gettext_lazy("set it, for good")),
            (PlannedQuotaKind.GRANT, gettext_lazy("grant more, for a time")),
        ],
    )
    partition = forms.ModelChoiceField(
        Partition.objects.none(), label=gettext_lazy("Partition"), to_field_name="slug"
    )
    unit = forms.ChoiceField(
        label=gettext_lazy("Counted in"), choices=[(str(k), v) for k, v in UNIT_WORDS.items()]
    )
    card_model = forms.CharField(
        label=gettext_lazy("Of which cards"),
        required=False,
        max_length=80,
        help_text=gettext_lazy("As cards are called; empty for all alike."),
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("Which number"),
        choices=[(one, COLUMN_WORDS[one]) for one in QuotaKind],
        initial=QuotaKind.LIMIT,
    )
    amount = forms.CharField(label=gettext_lazy("How much"), max_length=20)
    starts_at = MomentField(label=gettext_lazy("From"))
    ends_at = MomentField(
        label=gettext_lazy("Until"),
        required=False,
        help_text=gettext_lazy("Only a grant ends: then the limit is what it was."),
    )
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=MOST_REASON)

    def clean_amount(self) -> str:
        """Only what a person would call a number."""
        text: str = self.cleaned_data["amount"]
        try:
            read(text, "workloads")
        except ValueError as wrong:
            raise forms.ValidationError(_("A number is needed.")) from wrong
        return text


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """All of the tenants whose quotas one may see, newest first."""
    refuse_unless(anywhere(request.standing, Verb.QUOTA_SEE))
    rows = planned_list(standing=request.standing)
    shown = newest_first(request, rows)
    for row in shown.rows:
        row.mine = may_set(request.standing, _tenant(row), row.kind)  # type: ignore[attr-defined]
    return render(request, PAGE, {"page": shown})


@page("GET", "POST")
def new(request: HtmxRequest, key: str) -> HttpResponse:
    """Plan a change for one tenant of the tree."""
    tenant, member = tenant_of(request.standing, key)
    refuse_unless(may_set(request.standing, tenant, QuotaKind.LIMIT))
    form = PlanForm(request.POST or None, initial=_start(request))
    in_zone(form, request.user)
    choices = form.fields["partition"]
    assert isinstance(choices, forms.ModelChoiceField)
    choices.queryset = partition_list(standing=request.standing)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        if not may_set(request.standing, tenant, data["kind"]):
            raise Forbidden
        try:
            quota_plan(
                line=QuotaLine(
                    tenant=tenant,
                    user=member,
                    partition=data["partition"],
                    unit=data["unit"],
                    card_model=data["card_model"] if data["unit"] in OF_CARDS else "",
                    kind=data["kind"],
                    limit=read(data["amount"], data["unit"]),
                ),
                does=data["does"],
                starts_at=data["starts_at"],
                ends_at=data["ends_at"],
                reason=data["reason"],
                actor=Actor.of(request.user),
            )
        except PoolError as refused:
            take_refusal(form, refused, {"limit": "amount"})
        else:
            messages.success(request, _("Planned."))
            return go(request, reverse("quota-plans"))
    context = {"form": form, "tenant": tenant, "member": member, "key": key}
    status = 422 if form.is_bound else 200
    return render(request, "pages/quotatree/plan.html", context, status=status)


@page("POST")
def cancel(request: HtmxRequest, uid: str) -> HttpResponse:
    """Call one off, or end a grant now."""
    row = found(planned_list(standing=request.standing), uid)
    if not may_set(request.standing, _tenant(row), row.kind):
        raise Forbidden
    try:
        quota_plan_cancel(
            plan=row, actor=Actor.of(request.user), reason=request.POST.get("reason", "")[:200]
        )
    except PoolError as refused:
        messages.warning(request, str(refused))
    else:
        messages.success(request, _("Called off."))
    return go(request, reverse("quota-plans"))


def _tenant(row: PlannedQuota) -> Any:
    return row.project or row.organization


def _start(request: HtmxRequest) -> dict[str, Any]:
    """The row that the address names, from the first of next month on."""
    asked = request.GET
    at = now().astimezone(UTC)
    first = datetime(at.year + at.month // 12, at.month % 12 + 1, 1, tzinfo=UTC)
    return {
        "partition": asked.get("partition", ""),
        "unit": asked.get("unit", ""),
        "card_model": asked.get("model", ""),
        "starts_at": first,
    }
