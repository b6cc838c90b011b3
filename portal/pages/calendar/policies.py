"""The numbers of scheduling, licence seats, and the history of who changed what and why."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nodeagent.protocol.vocabulary import Mode
from pool.errors import PoolError
from pool.events import Actor
from pool.models.partitions import Partition
from pool.models.policies import PolicyVersion
from pool.models.seats import Seats
from pool.models.tenants import Organization
from pool.rules.policies import MOST_REASON, NUMBERS, Number
from pool.selectors.calendar.policies import history, numbers_now
from pool.selectors.calendar.seats import seats_list
from pool.services.calendar.history import numbers_change
from pool.services.calendar.seats import seats_remove, seats_set
from pool.services.partitions import partition_revert
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.calendar.words import HINTS, LABELS
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless

PAGE = "pages/policies/index.html"


class NumbersForm(forms.Form):
    """Every number with its bounds, and why it changes."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        for name, number in NUMBERS.items():
            field = _switch() if number.is_switch else _whole(number)
            field.label, field.help_text = LABELS[name], HINTS.get(name, "")
            self.fields[name] = field
        self.fields["reason"] = forms.CharField(label=_("Why"), max_length=MOST_REASON)


def _switch() -> forms.Field:
    said = [("yes", _("yes")), ("no", _("no"))]
    return forms.TypedChoiceField(choices=said, coerce=lambda text: text == "yes")


def _whole(number: Number) -> forms.Field:
    return forms.IntegerField(min_value=number.least, max_value=number.most)


class SeatsForm(forms.Form):
    """So many seats of a mode, somewhere."""

    name = forms.CharField(label=gettext_lazy("Licence"), max_length=120)
    mode = forms.ChoiceField(
        label=gettext_lazy("Way of sharing"), choices=[(m.value, m.value) for m in Mode]
    )
    total = forms.IntegerField(label=gettext_lazy("Seats"), min_value=0, max_value=1_000_000)
    organization = forms.ModelChoiceField(
        label=gettext_lazy("Only for"),
        queryset=Organization.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=gettext_lazy("everybody"),
    )
    partition = forms.ModelChoiceField(
        label=gettext_lazy("Only in"),
        queryset=Partition.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=gettext_lazy("every partition"),
    )

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        for name, rows in (("organization", Organization), ("partition", Partition)):
            self.fields[name].queryset = rows._default_manager.all()  # type: ignore[attr-defined]


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The numbers in force with their history; a POST changes them."""
    refuse_unless(may(request.standing, Verb.POLICY_MANAGE))
    form = NumbersForm(request.POST or None, initial=_initial())
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid() and _change(request, form):
            return go(request, reverse("policies"))
    return render(request, PAGE, _context(request) | {"form": form}, status=status)


@page("POST")
@refusal_as_toast
def revert(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take the values of an earlier version again, of the numbers or of a partition."""
    refuse_unless(may(request.standing, Verb.POLICY_MANAGE))
    row = get_object_or_404(PolicyVersion.objects.select_related("partition"), uid=uid)
    told = {"n": row.number}
    reason = request.POST.get("reason", "").replace("\0", "").strip()[:MOST_REASON]
    reason = reason or _("back to version %(n)s") % told
    actor = Actor.of(request.user)
    if row.partition is not None:
        partition_revert(version=row, actor=actor, reason=reason, user=request.user)
        return go(request, reverse("partition", args=[row.partition.uid]))
    numbers_change(values=row.values, actor=actor, reason=reason, user=request.user, reverts=row)
    return go(request, reverse("policies"))


@page("POST")
def seats(request: HtmxRequest) -> HttpResponse:
    """Set the seats of a licence."""
    refuse_unless(may(request.standing, Verb.SEATS_MANAGE))
    form = SeatsForm(request.POST)
    if form.is_valid():
        try:
            seats_set(actor=Actor.of(request.user), **form.cleaned_data)
            return go(request, reverse("policies"))
        except PoolError as refused:
            take_refusal(form, refused)
    context = _context(request) | {"form": NumbersForm(initial=_initial()), "seats_form": form}
    return render(request, PAGE, context, status=422)


@page("POST")
def seats_gone(request: HtmxRequest, uid: str) -> HttpResponse:
    """The licence binds nobody any more."""
    refuse_unless(may(request.standing, Verb.SEATS_MANAGE))
    row = Seats.objects.filter(uid=uid).first()
    if row is None:
        raise Http404
    seats_remove(seats=row, actor=Actor.of(request.user))
    return go(request, reverse("policies"))


def _change(request: HtmxRequest, form: NumbersForm) -> bool:
    data = dict(form.cleaned_data)
    reason = data.pop("reason")
    try:
        made = numbers_change(
            values=data, reason=reason, actor=Actor.of(request.user), user=request.user
        )
    except PoolError as refused:
        take_refusal(form, refused)
        return False
    if made is not None:
        messages.success(request, _("The next round goes by these numbers."))
    return True


def _initial() -> dict[str, Any]:
    return {
        name: ("yes" if value else "no") if isinstance(value, bool) else value
        for name, value in numbers_now().items()
    }


def _context(request: HtmxRequest) -> dict[str, Any]:
    return {
        "steps": history(),
        "seats": seats_list(standing=request.standing),
        "seats_form": SeatsForm(),
    }
