"""Which cards a partition takes: its selector, with its reach before it is saved."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from nodeagent.protocol.vocabulary import Mode
from pool.errors import PoolError
from pool.events import Actor
from pool.models import Card, Node, Partition
from pool.rules.partitions import KEYS, selector_from
from pool.rules.policies import MOST_REASON
from pool.selectors.partitions import partition_list, selector_reach
from pool.services.partitions import partition_change, partition_create
from pool.services.refusals import refusing
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refuse_unless
from portal.templatetags.needs import mode_words

PAGE = "pages/partitions/cards.html"
REACH = "pages/partitions/_reach.html"


class SelectorForm(forms.Form):
    """Lists of names, one a line; every list that is filled must match."""

    vendors = forms.CharField(label=gettext_lazy("Makers"), required=False)
    labels = forms.CharField(
        label=gettext_lazy("Kinds of card"),
        required=False,
        help_text=gettext_lazy("As A100-80GB; several with commas between them."),
    )
    nodes = forms.CharField(label=gettext_lazy("Nodes"), required=False)
    cards = forms.CharField(label=gettext_lazy("Single cards, by UUID"), required=False)
    reason = forms.CharField(label=gettext_lazy("Why"), max_length=MOST_REASON)

    @property
    def selector(self) -> dict[str, list[str]]:
        """As the service takes it."""
        said = {key: self.cleaned_data.get(key, "") for key in KEYS}
        listed = {
            key: [one.strip() for one in text.replace("\n", ",").split(",") if one.strip()]
            for key, text in said.items()
        }
        return {key: names for key, names in listed.items() if names}


class NewForm(SelectorForm):
    """A new partition; its switches are set on its own page."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    slug = forms.CharField(
        label=gettext_lazy("Short name"),
        max_length=63,
        help_text=gettext_lazy("For scripts: small letters, digits and dashes; it stays."),
    )
    modes = forms.MultipleChoiceField(
        label=gettext_lazy("Ways to share"),
        widget=forms.CheckboxSelectMultiple(attrs={"class": "form-check-input"}),
    )
    field_order = ("name", "slug", "vendors", "labels", "nodes", "cards", "modes", "reason")

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        modes = [(one.value, mode_words(one.value)) for one in Mode]
        self.fields["modes"].choices = modes  # type: ignore[attr-defined]


@page("GET", "POST")
def new(request: HtmxRequest) -> HttpResponse:
    """A new partition."""
    refuse_unless(may(request.standing, Verb.PARTITION_MANAGE))
    form = NewForm(request.POST or None, initial={"modes": [Mode.WHOLE.value]})
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            row = partition_create(
                slug=data["slug"],
                name=data["name"],
                selector=form.selector,
                modes=data["modes"],
                actor=Actor.of(request.user),
            )
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Made; who may use it and how is set here."))
            return go(request, reverse("partition", args=[row.uid]))
    return _page(request, form, None)


@page("GET", "POST")
def cards(request: HtmxRequest, uid: str) -> HttpResponse:
    """Change which cards a partition takes."""
    row = found(partition_list(standing=request.standing), uid)
    refuse_unless(may(request.standing, Verb.PARTITION_MANAGE))
    form = SelectorForm(request.POST or None, initial=_start(row))
    if request.method == "POST" and form.is_valid():
        try:
            partition_change(
                partition=row,
                selector=form.selector,
                reason=form.cleaned_data["reason"],
                actor=Actor.of(request.user),
                user=request.user,
            )
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("Changed; the next round goes by it."))
            return go(request, reverse("partition", args=[row.uid]))
    return _page(request, form, row)


@page("POST")
def reach(request: HtmxRequest) -> HttpResponse:
    """What the selector would take, while it is written; nothing is changed."""
    refuse_unless(may(request.standing, Verb.PARTITION_MANAGE))
    form = SelectorForm(request.POST)
    form.is_valid()
    slug = str(request.POST.get("partition", ""))
    row = partition_list(standing=request.standing).filter(slug=slug).first()
    return render(request, REACH, _reach(form, row))


def _page(request: HtmxRequest, form: SelectorForm, row: Partition | None) -> HttpResponse:
    context: dict[str, Any] = {
        "form": form,
        "one": row,
        "kinds": Card.objects.order_by("label").values_list("label", flat=True).distinct(),
        "names": Node.objects.order_by("name").values_list("name", flat=True)[:50],
    }
    if row is not None and not form.is_bound:
        context["reach"] = selector_reach(selector=row.selector, partition=row)
    return render(request, PAGE, context, status=422 if form.is_bound else 200)


def _reach(form: SelectorForm, row: Partition | None) -> dict[str, Any]:
    try:
        with refusing():
            selector = selector_from(form.selector)
    except PoolError as refused:
        return {"unread": str(refused)}
    return {"reach": selector_reach(selector=selector, partition=row)}


def _start(row: Partition) -> dict[str, Any]:
    return {key: ", ".join(row.selector.get(key, ())) for key in KEYS}
