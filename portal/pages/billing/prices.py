"""The price book: what counts now and next, setting a price, what a share would really cost."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.models import Contract, Discount
from billing.rating.tariffs import Unit
from billing.selectors.holds import database_now
from billing.selectors.prices import price_list
from billing.services.prices import price_set
from nodeagent.protocol.vocabulary import Mode
from pool.errors import PoolError
from pool.events import Actor
from pool.models import Partition
from pool.selectors.partitions import partition_list
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.billing.amounts import amount_of
from portal.pages.billing.effective import effective_context
from portal.pages.calendar.moments import MomentField
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless

UNITS = [
    (Unit.CARD.value, gettext_lazy("A whole card")),
    (Unit.CORE.value, gettext_lazy("A core")),
    (Unit.GIB.value, gettext_lazy("A GiB of memory")),
    (Unit.SEAT.value, gettext_lazy("A licence seat (vGPU)")),
]
MODES = [("", gettext_lazy("Any")), *((one.value, one.value) for one in Mode)]
SOON = 30
MOST = 10**9
"""No sum of the calculator is larger; it counts to a millionth."""


class PriceForm(forms.Form):
    """One dated price."""

    partition = forms.ModelChoiceField(
        label=gettext_lazy("Partition"), queryset=Partition.objects.none(), to_field_name="slug"
    )
    unit = forms.ChoiceField(label=gettext_lazy("Of"), choices=UNITS)
    card_model = forms.CharField(
        label=gettext_lazy("Card model"),
        required=False,
        max_length=80,
        help_text=gettext_lazy("Empty: any other."),
    )
    mode = forms.ChoiceField(label=gettext_lazy("Mode"), required=False, choices=MODES)
    price_class = forms.CharField(
        label=gettext_lazy("Price class"),
        required=False,
        max_length=32,
        help_text=gettext_lazy("As templates name it; empty: any."),
    )
    rate = forms.CharField(label=gettext_lazy("Price per hour"), max_length=30)
    currency = forms.RegexField(r"^[A-Z]{3}$", label=gettext_lazy("Currency"), initial="EUR")
    starts_at = MomentField(
        label=gettext_lazy("From"), required=False, help_text=gettext_lazy("Empty: from now on.")
    )
    rerate = forms.BooleanField(
        label=gettext_lazy("It may begin in an open month: rate again what was held since"),
        required=False,
    )

    def __init__(self, *args: Any, partitions: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["partition"].queryset = partitions  # type: ignore[attr-defined]
        for field in self.fields.values():
            shape = "form-check-input" if isinstance(field, forms.BooleanField) else "form-control"
            if isinstance(field, forms.ChoiceField):
                shape = "form-select"
            field.widget.attrs.setdefault("class", shape)


class CalculatorForm(forms.Form):
    """From what a card costs its owner to a price per hour."""

    purchase = forms.DecimalField(
        label=gettext_lazy("Purchase of one card"), min_value=0, max_value=MOST
    )
    years = forms.DecimalField(
        label=gettext_lazy("Written off over, years"), min_value=Decimal("0.5"), max_value=100
    )
    watts = forms.DecimalField(
        label=gettext_lazy("Power with its share of the node, W"), min_value=0, max_value=MOST
    )
    kwh = forms.DecimalField(
        label=gettext_lazy("Price of a kWh with cooling"), min_value=0, max_value=MOST
    )
    people = forms.DecimalField(
        label=gettext_lazy("People and spares per card and year"), min_value=0, max_value=MOST
    )
    use = forms.DecimalField(
        label=gettext_lazy("Sold part of the time, %"),
        min_value=1,
        max_value=100,
        initial=70,
        help_text=gettext_lazy("What is not sold is paid by what is."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs.setdefault("class", "form-control")


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """Prices of the partitions one may use; a platform admin sets them."""
    manages = may(request.standing, Verb.PRICE_MANAGE)
    partitions = partition_list(standing=request.standing)
    form = PriceForm(request.POST or None, partitions=partitions)
    if request.method == "POST":
        refuse_unless(manages)
        if form.is_valid() and _set(request, form):
            messages.success(request, _("The price is set."))
            return go(request, reverse("prices"))
    now = database_now()
    rows = price_list(user=request.user)
    sums = CalculatorForm(request.GET) if "purchase" in request.GET else CalculatorForm()
    context = {
        "manages": manages,
        "form": form if manages else None,
        "now": rows.filter(valid__contains=now),
        "next": rows.filter(valid__startswith__gt=now).order_by("valid__startswith")[:SOON],
        "calculator": sums,
        **effective_context(request, partitions),
        "result": hourly_price(**sums.cleaned_data) if sums.is_bound and sums.is_valid() else None,
        "contracts": Contract.objects.select_related("organization")[:SOON] if manages else [],
        "discounts": Discount.objects.select_related("organization", "project", "partition")[:SOON]
        if manages
        else [],
    }
    return render(request, "pages/billing/prices.html", context)


def hourly_price(
    *,
    purchase: Decimal,
    years: Decimal,
    watts: Decimal,
    kwh: Decimal,
    people: Decimal,
    use: Decimal,
) -> Decimal:
    """The price per card and sold hour that covers everything; a year has 8766 hours."""
    hours = Decimal(8766)
    fixed = purchase / (years * hours) + people / hours
    power = watts / 1000 * kwh
    return ((fixed + power) / (use / 100)).quantize(Decimal("0.000001"))


def _set(request: HtmxRequest, form: PriceForm) -> bool:
    given = form.cleaned_data
    try:
        price_set(
            partition=given["partition"],
            rate_micro=amount_of(given["rate"], "rate"),
            unit=given["unit"],
            card_model=given["card_model"].strip(),
            mode=given["mode"],
            price_class=given["price_class"].strip(),
            currency=given["currency"],
            starts_at=given["starts_at"],
            rerate=given["rerate"],
            actor=Actor.of(request.user),
        )
    except PoolError as refused:
        take_refusal(form, refused, {"rate_micro": "rate"})
        return False
    return True
