"""The policy of approval: its steps, hours and calendar, with every version and its reason."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.errors import PoolError
from pool.events import Actor
from pool.models.approvals.policies import ApprovalPolicy
from pool.models.tenants import Organization
from pool.rules.approval import DECIDERS, DEFAULT_POLICY, policy_from
from pool.selectors.approvals.policies import policy_list
from pool.selectors.tenants import organization_list
from pool.services.approvals.policies import MOST_HOURS, approval_policy_set
from portal.access.guards import anywhere, guard, may
from portal.access.roles import Verb
from portal.pages.approving.steps import StepsForm, steps_as_filled_in
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless

DAYS = [
    (0, gettext_lazy("Monday")),
    (1, gettext_lazy("Tuesday")),
    (2, gettext_lazy("Wednesday")),
    (3, gettext_lazy("Thursday")),
    (4, gettext_lazy("Friday")),
    (5, gettext_lazy("Saturday")),
    (6, gettext_lazy("Sunday")),
]


def _hours(label: Any, help_text: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=MOST_HOURS, help_text=help_text)


class PolicyForm(StepsForm):
    """Three steps, each never, always or above limits; hours and the calendar."""

    answer_hours = _hours(
        gettext_lazy("Answer within"), gettext_lazy("Working hours; promised to whoever asks.")
    )
    remind_hours = _hours(
        gettext_lazy("Remind after"), gettext_lazy("Working hours; up to three times.")
    )
    escalate_hours = _hours(
        gettext_lazy("Escalate after"),
        gettext_lazy("Working hours; then the next stronger role is called."),
    )
    days = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Working days"),
        choices=DAYS,
        coerce=int,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
    )
    begins = forms.IntegerField(label=gettext_lazy("The day begins at"), min_value=0, max_value=23)
    ends = forms.IntegerField(label=gettext_lazy("and ends at"), min_value=1, max_value=24)
    holidays = forms.CharField(
        label=gettext_lazy("Days off"),
        required=False,
        max_length=8000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "gp-mono"}),
        help_text=gettext_lazy("One a line, as 2026-12-25."),
    )
    reason = forms.CharField(label=gettext_lazy("Why this change"), max_length=200)

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        for role in DECIDERS:  # a post without it must not take a step away
            self.fields[f"{role}_when"].required = True

    @property
    def calendar(self) -> dict[str, Any]:
        """The calendar as the rule reads it."""
        data = self.cleaned_data
        days_off = [line.strip() for line in data["holidays"].splitlines() if line.strip()]
        hours = {"begins": data["begins"], "ends": data["ends"]}
        return {"days": data["days"], **hours, "holidays": days_off}


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The policy of one organization, or of all that have none of their own."""
    refuse_unless(anywhere(request.standing, Verb.APPROVAL_POLICY_SET))
    places = [
        one
        for one in organization_list(standing=request.standing)
        if may(request.standing, Verb.APPROVAL_POLICY_SET, one)
    ]
    common = may(request.standing, Verb.APPROVAL_POLICY_SET)
    wanted = request.POST.get("of", request.GET.get("of", ""))
    chosen = next((one for one in places if one.slug == wanted), None)
    if chosen is None and not common:
        chosen = next(iter(places), None)
    guard(request.standing, Verb.APPROVAL_POLICY_SET, chosen)
    newest = policy_list(organization=chosen).first() or policy_list(organization=None).first()
    bound = request.method == "POST"
    form = PolicyForm(
        request.POST if bound else None, initial=_initial(newest), standing=request.standing
    )
    if bound and form.is_valid() and _saved(request, chosen, form):
        slug = f"?of={chosen.slug}" if chosen else ""
        return go(request, reverse("approval-policy") + slug)
    context = {
        "form": form,
        "chosen": chosen,
        "places": places,
        "common": common,
        "versions": policy_list(organization=chosen)[:20],
    }
    status = 422 if bound else 200
    return render(request, "pages/approval_policy/index.html", context, status=status)


def _saved(request: HtmxRequest, chosen: Organization | None, form: PolicyForm) -> bool:
    data = form.cleaned_data
    try:
        approval_policy_set(
            organization=chosen,
            steps=form.steps,
            answer_hours=data["answer_hours"],
            remind_hours=data["remind_hours"],
            escalate_hours=data["escalate_hours"],
            calendar=form.calendar,
            reason=data["reason"],
            user=request.user,
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        take_refusal(form, refused, {"calendar": "holidays"})
        return False
    messages.success(request, _("Saved. New and changed requests are judged by it."))
    return True


def _initial(newest: ApprovalPolicy | None) -> dict[str, Any]:
    row = newest or ApprovalPolicy()
    steps = policy_from({"steps": row.steps}) if row.steps else DEFAULT_POLICY
    calendar = row.calendar
    said: dict[str, Any] = {
        "answer_hours": row.answer_hours,
        "remind_hours": row.remind_hours,
        "escalate_hours": row.escalate_hours,
        "days": calendar.get("days", [0, 1, 2, 3, 4]),
        "begins": calendar.get("begins", 9),
        "ends": calendar.get("ends", 17),
        "holidays": "\n".join(calendar.get("holidays", [])),
    }
    return said | steps_as_filled_in(steps)
