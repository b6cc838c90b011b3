"""Budgets: what is spent of each, setting one, removing it, letting it go over for a time."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.models.budgets import Budget
from billing.rating.budgets import Action, Every, Measure
from billing.selectors.budgets import budget_list, budget_spent
from billing.services.budgets import budget_overdraw, budget_remove, budget_set
from pool.errors import Invalid, PoolError
from pool.events import Actor
from pool.models import Organization, Project, User
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.access.showback import moneyless, with_money
from portal.pages.billing.amounts import amount_of, words_of
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import newest_first

MEASURES = [
    (Measure.MONEY.value, gettext_lazy("Money")),
    (Measure.CARD_HOURS.value, gettext_lazy("Card-hours")),
]
EVERY = [
    (Every.MONTH.value, gettext_lazy("Each month")),
    (Every.QUARTER.value, gettext_lazy("Each quarter")),
    (Every.CUSTOM.value, gettext_lazy("From a day to a day")),
]
ACTIONS = [
    (Action.NOTIFY.value, gettext_lazy("Only tell people")),
    (Action.APPROVAL.value, gettext_lazy("Nothing new starts until an overdraft is approved")),
    (Action.BLOCK.value, gettext_lazy("Nothing new starts")),
    (Action.STOP.value, gettext_lazy("Nothing new starts, and work that gives way is stopped")),
]
ACTION_WORDS = dict(ACTIONS)


SHOWN = 20
"""Budgets on one page: of each, what was metered in its period is summed."""


class BudgetForm(forms.Form):
    """What one says of a budget."""

    organization = forms.ModelChoiceField(
        label=gettext_lazy("Organization"),
        queryset=Organization.objects.none(),
        to_field_name="uid",
    )
    project = forms.ModelChoiceField(
        label=gettext_lazy("Project"),
        queryset=Project.objects.none(),
        to_field_name="slug",
        required=False,
        help_text=gettext_lazy("Empty: the whole organization."),
    )
    user = forms.CharField(
        label=gettext_lazy("Person"),
        required=False,
        max_length=150,
        help_text=gettext_lazy("Log-in name; empty: everybody together."),
    )
    measure = forms.ChoiceField(label=gettext_lazy("Counts"), choices=MEASURES)
    limit = forms.CharField(
        label=gettext_lazy("Limit"),
        max_length=30,
        help_text=gettext_lazy("In the organization's currency, or in card-hours."),
    )
    every = forms.ChoiceField(label=gettext_lazy("Period"), choices=EVERY)
    starts_on = forms.DateField(
        label=gettext_lazy("First day"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    ends_on = forms.DateField(
        label=gettext_lazy("Last day"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    action = forms.ChoiceField(
        label=gettext_lazy("When it is used up"),
        choices=ACTIONS,
        help_text=gettext_lazy("People are told at 80, 95 and 100 percent in any case."),
    )
    spare_endpoints = forms.BooleanField(
        label=gettext_lazy("Never stop endpoints"), required=False, initial=True
    )

    def __init__(self, *args: Any, homes: Any, projects: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["organization"].queryset = homes  # type: ignore[attr-defined]
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        for field in self.fields.values():
            shape = "form-check-input" if isinstance(field, forms.BooleanField) else "form-control"
            if isinstance(field, forms.ChoiceField):
                shape = "form-select"
            field.widget.attrs.setdefault("class", shape)


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The budgets one may see; who closes months sets them."""
    homes = managed(request)
    projects = Project.objects.filter(organization__in=homes, archived_at=None)
    form = BudgetForm(request.POST or None, homes=homes, projects=projects)
    if request.method == "POST" and form.is_valid():
        try:
            _set(request, form.cleaned_data)
        except PoolError as refused:
            take_refusal(form, refused, {"limit_micro": "limit"})
        else:
            messages.success(request, _("The budget is set."))
            return go(request, reverse("budgets"))
    rows = with_money(budget_list(standing=request.standing), request.standing)
    shown = newest_first(request, rows, size=SHOWN)
    stands = [(row, budget_spent(budget=row)) for row in shown.rows]
    context = {
        "page": shown,
        "lines": [
            (
                row,
                stand,
                ACTION_WORDS[row.action],
                may(request.standing, Verb.MONTH_CLOSE, row),
                row.measure == Measure.MONEY and moneyless(row),
            )
            for row, stand in stands
        ],
        "form": form if homes.exists() else None,
    }
    return render(request, "pages/billing/budgets.html", context)


@page("POST")
@refusal_as_toast
def overdraw(request: HtmxRequest, uid: str) -> HttpResponse:
    """Let it go over its limit up to a day."""
    row = _one(request, uid)
    shape = forms.DateField()
    budget_overdraw(
        budget=row,
        overdraft_micro=amount_of(request.POST.get("amount", ""), "overdraft_micro"),
        until=_day(shape, request.POST.get("until", "")),
        reason=words_of(request, "reason"),
        actor=Actor.of(request.user),
    )
    messages.success(request, _("The overdraft counts at once."))
    return go(request, reverse("budgets"))


@page("POST")
@refusal_as_toast
def remove(request: HtmxRequest, uid: str) -> HttpResponse:
    """It counts no more."""
    budget_remove(budget=_one(request, uid), actor=Actor.of(request.user))
    messages.success(request, _("The budget is removed."))
    return go(request, reverse("budgets"))


def managed(request: HtmxRequest) -> Any:
    """Organizations whose months and budgets the visitor manages."""
    rows = Organization.objects.filter(archived_at=None).order_by("name")
    named = [one.pk for one in rows if may(request.standing, Verb.MONTH_CLOSE, one)]
    return rows.filter(pk__in=named)


def _set(request: HtmxRequest, given: dict[str, Any]) -> Budget:
    home, project = given["organization"], given["project"]
    refuse_unless(may(request.standing, Verb.MONTH_CLOSE, home))
    user = None
    if given["user"]:
        user = User.objects.filter(username=given["user"], is_active=True).first()
        if user is None:
            raise Invalid(user=_("There is no such person."))
    return budget_set(
        organization=home,
        project=project,
        user=user,
        measure=given["measure"],
        every=given["every"],
        starts_on=given["starts_on"],
        ends_on=given["ends_on"],
        action=given["action"],
        spare_endpoints=given["spare_endpoints"],
        limit_micro=amount_of(given["limit"], "limit"),
        actor=Actor.of(request.user),
    )


def _day(shape: forms.DateField, text: str) -> Any:
    try:
        return shape.clean(text)
    except forms.ValidationError as wrong:
        raise Invalid(until=_("A day is needed.")) from wrong


def _one(request: HtmxRequest, uid: str) -> Budget:
    row = found(budget_list(standing=request.standing), uid)
    refuse_unless(may(request.standing, Verb.MONTH_CLOSE, row))
    return row
