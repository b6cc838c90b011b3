"""What was agreed: contracts by the month, discounts, and costs beside the cards."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.models.contracts import Contract, Discount, Overhead
from billing.rating.terms import Basis, Cut
from billing.selectors.holds import database_now
from billing.services.contracts import contract_set, discount_end, discount_set, overhead_set
from pool.errors import Invalid, PoolError
from pool.events import Actor
from pool.models import Organization, Partition, Project
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.billing.amounts import amount_of
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless

BASES = [
    (Basis.RESERVED.value, gettext_lazy("What was reserved")),
    (Basis.USED.value, gettext_lazy("What was used")),
    (Basis.MAX.value, gettext_lazy("What was used, but at least a part of the reserved")),
]
CUTS = [
    (Cut.AGREEMENT.value, gettext_lazy("By agreement")),
    (Cut.PREEMPTIBLE.value, gettext_lazy("For work that gives way")),
    (Cut.OFF_PEAK.value, gettext_lazy("Off peak")),
]
BY = [
    ("platform", gettext_lazy("The platform")),
    ("shared", gettext_lazy("All, by what they held")),
]
STRANDED = [
    ("holders", gettext_lazy("Those who strand it")),
    ("platform", gettext_lazy("The platform")),
]
GUARANTEE = [
    ("holders", gettext_lazy("Those whom they are kept for")),
    ("platform", gettext_lazy("The platform")),
]
DAYS = (
    *(gettext_lazy("Monday"), gettext_lazy("Tuesday"), gettext_lazy("Wednesday")),
    *(gettext_lazy("Thursday"), gettext_lazy("Friday"), gettext_lazy("Saturday")),
    gettext_lazy("Sunday"),
)
KINDS = [
    ("licences", gettext_lazy("Licences")),
    ("adaptation", gettext_lazy("Adaptation")),
    ("operations", gettext_lazy("Operations: spares, power, cooling")),
    ("people", gettext_lazy("People")),
    ("other", gettext_lazy("Other")),
]


FIRST, LAST = date(2000, 1, 1), date(2999, 12, 30)


def _day(label: Any, **given: Any) -> forms.DateField:
    return forms.DateField(
        label=label,
        widget=forms.DateInput(attrs={"type": "date"}),
        validators=[MinValueValidator(FIRST), MaxValueValidator(LAST)],
        **given,
    )


def _percent(label: Any, **given: Any) -> forms.DecimalField:
    return forms.DecimalField(label=label, min_value=0, max_value=100, decimal_places=1, **given)


class _Styled(forms.Form):
    """Fields look as everywhere."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            shape = "form-check-input" if isinstance(field, forms.BooleanField) else "form-control"
            if isinstance(field, forms.ChoiceField):
                shape = "form-select"
            field.widget.attrs.setdefault("class", shape)


class ContractForm(_Styled):
    """What counts from a month on."""

    organization = forms.ModelChoiceField(
        label=gettext_lazy("Organization"),
        queryset=Organization.objects.all(),
        required=False,
        empty_label=gettext_lazy("All without words of their own"),
    )
    since = _day(gettext_lazy("From the month of"))
    basis = forms.ChoiceField(label=gettext_lazy("Charged is"), choices=BASES)
    floor = _percent(gettext_lazy("Least part of the reserved, %"), initial=0)
    tax = _percent(gettext_lazy("Tax, %"), initial=0)
    minimum = forms.CharField(label=gettext_lazy("Least charge of a month"), initial="0")
    stranded_by = forms.ChoiceField(
        label=gettext_lazy("Stranded parts are paid by"), choices=STRANDED
    )
    guarantee_by = forms.ChoiceField(
        label=gettext_lazy("Cards kept for reserved leases and idle are paid by"), choices=GUARANTEE
    )
    idle_by = forms.ChoiceField(label=gettext_lazy("Free cards are paid by"), choices=BY)
    down_by = forms.ChoiceField(label=gettext_lazy("Cards out of service are paid by"), choices=BY)
    showback = forms.BooleanField(
        label=gettext_lazy("Show use without money to all but the organization's admins"),
        required=False,
    )


class DiscountForm(_Styled):
    """So many percent off."""

    kind = forms.ChoiceField(label=gettext_lazy("Kind"), choices=CUTS)
    percent = _percent(gettext_lazy("Percent off"))
    organization = forms.ModelChoiceField(
        label=gettext_lazy("Organization"), queryset=Organization.objects.all(), required=False
    )
    project = forms.ModelChoiceField(
        label=gettext_lazy("Project"), queryset=Project.objects.all(), required=False
    )
    partition = forms.ModelChoiceField(
        label=gettext_lazy("Partition"), queryset=Partition.objects.all(), required=False
    )
    starts_on = _day(gettext_lazy("First day (UTC)"))
    ends_on = _day(gettext_lazy("Last day (UTC)"), required=False)
    from_hour = forms.IntegerField(
        label=gettext_lazy("Off peak from, hour"), min_value=0, max_value=23, initial=20
    )
    to_hour = forms.IntegerField(
        label=gettext_lazy("to, hour"), min_value=0, max_value=23, initial=8
    )
    days = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Off peak on"),
        choices=[(number, name) for number, name in enumerate(DAYS)],
        coerce=int,
        required=False,
        help_text=gettext_lazy("None chosen: on every day."),
    )


class OverheadForm(_Styled):
    """A cost of one month."""

    organization = forms.ModelChoiceField(
        label=gettext_lazy("Organization"),
        queryset=Organization.objects.all(),
        required=False,
        empty_label=gettext_lazy("All, by what they held"),
    )
    first = _day(gettext_lazy("In the month of"))
    overhead = forms.ChoiceField(label=gettext_lazy("Kind"), choices=KINDS)
    label = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    amount = forms.CharField(label=gettext_lazy("Amount"), max_length=30)
    currency = forms.RegexField(r"^[A-Z]{3}$", label=gettext_lazy("Currency"), initial="EUR")
    shared = forms.BooleanField(
        label=gettext_lazy("On the bills; else it is shown apart"), required=False, initial=True
    )


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """A platform admin's: who pays what, from when on."""
    refuse_unless(may(request.standing, Verb.PRICE_MANAGE))
    which = request.POST.get("form", "")
    shapes: dict[str, type[_Styled]] = {
        "contract": ContractForm,
        "discount": DiscountForm,
        "overhead": OverheadForm,
    }
    today = {"since": database_now().date().replace(day=1), "first": database_now().date()}
    built = {
        name: shape(request.POST if name == which else None, prefix=name, initial=today)
        for name, shape in shapes.items()
    }
    if which in built and built[which].is_valid():
        try:
            _SETS[which](built[which].cleaned_data, Actor.of(request.user))
        except PoolError as refused:
            take_refusal(built[which], refused)
        else:
            messages.success(request, _("Set. Open months are posted anew within minutes."))
            return go(request, reverse("contracts"))
    context = {
        "forms": built,
        "contracts": Contract.objects.select_related("organization")[:50],
        "discounts": Discount.objects.select_related("organization", "project", "partition")[:50],
        "overheads": Overhead.objects.select_related("organization")[:50],
        "moment": database_now(),
        "kinds": dict(CUTS) | dict(KINDS),
    }
    return render(request, "pages/billing/contracts.html", context)


@page("POST")
@refusal_as_toast
def end_discount(request: HtmxRequest, uid: str) -> HttpResponse:
    """It counts no more from a day on, or from now on."""
    refuse_unless(may(request.standing, Verb.PRICE_MANAGE))
    row = Discount.objects.filter(uid=uid).first()
    if row is None:
        raise Http404
    said = request.POST.get("day", "")
    at = database_now()
    if said:
        try:
            at = forms.DateTimeField().clean(f"{said} 00:00")
        except forms.ValidationError as wrong:
            raise Invalid(at=_("A day is needed.")) from wrong
    discount_end(discount=row, at=at, actor=Actor.of(request.user))
    messages.success(request, _("Ended. Open months are posted anew within minutes."))
    return go(request, reverse("contracts"))


def _milli(percent: Decimal) -> int:
    return int(percent * 10)


def _contract(given: dict[str, Any], actor: Actor) -> None:
    contract_set(
        organization=given["organization"],
        since=given["since"],
        basis=given["basis"],
        floor_milli=_milli(given["floor"]),
        tax_milli=_milli(given["tax"]),
        minimum_micro=amount_of(given["minimum"], "minimum"),
        stranded_by=given["stranded_by"],
        guarantee_by=given["guarantee_by"],
        idle_by=given["idle_by"],
        down_by=given["down_by"],
        showback=given["showback"],
        actor=actor,
    )


def _discount(given: dict[str, Any], actor: Actor) -> None:
    begin = forms.DateTimeField().clean(f"{given['starts_on']} 00:00")
    end = given["ends_on"] and forms.DateTimeField().clean(
        f"{given['ends_on'] + timedelta(days=1)} 00:00"
    )
    discount_set(
        kind=given["kind"],
        milli=_milli(given["percent"]),
        organization=given["organization"],
        project=given["project"],
        partition=given["partition"],
        since=begin,
        until=end or None,
        from_hour=given["from_hour"],
        to_hour=given["to_hour"],
        days=given["days"],
        actor=actor,
    )


def _overhead(given: dict[str, Any], actor: Actor) -> None:
    overhead_set(
        organization=given["organization"],
        first=given["first"],
        kind=given["overhead"],
        label=given["label"],
        amount_micro=amount_of(given["amount"], "amount"),
        currency=given["currency"],
        shared=given["shared"],
        actor=actor,
    )


_SETS: dict[str, Callable[[dict[str, Any], Actor], None]] = {
    "contract": _contract,
    "discount": _discount,
    "overhead": _overhead,
}
