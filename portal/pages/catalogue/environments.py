"""Environments: images and folders of programs, what they need, and where images come from."""

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
from pool.lifecycle.catalogue import EnvironmentKind, InstructionSet
from pool.lifecycle.roles import Role
from pool.models import Environment, Organization, Registry
from pool.selectors.catalogue.lists import environment_list
from pool.services.catalogue.environments import (
    environment_create,
    environment_deprecate,
    environment_remove,
    registry_allow,
    registry_remove,
)
from portal.access.guards import anywhere, found, may
from portal.access.roles import Verb
from portal.api.door import with_text
from portal.api.v1.catalogue.environments import EnvironmentDoor
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import in_order, list_address, text_asked

SETS = {
    InstructionSet.CUDA: gettext_lazy("CUDA (NVIDIA)"),
    InstructionSet.ROCM: gettext_lazy("ROCm (AMD)"),
    InstructionSet.CANN: gettext_lazy("CANN (Ascend)"),
    InstructionSet.CPU: gettext_lazy("processors only"),
}
KINDS = [
    (EnvironmentKind.IMAGE.value, gettext_lazy("a container image")),
    (EnvironmentKind.FOLDER.value, gettext_lazy("a folder of programs on the nodes")),
]


class EnvironmentForm(forms.Form):
    """What one says of an entry."""

    slug = forms.CharField(
        label=gettext_lazy("Short name"),
        max_length=63,
        help_text=gettext_lazy("Small letters, digits and dashes; scripts name it by this."),
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120)
    kind = forms.ChoiceField(label=gettext_lazy("What it is"), choices=KINDS)
    reference = forms.CharField(
        label=gettext_lazy("Image, or path on the nodes"),
        max_length=255,
        help_text=gettext_lazy("registry.example.com/team/torch:2.4, or /opt/torch with bin in it"),
    )
    digest = forms.CharField(
        label=gettext_lazy("Digest of the image"),
        max_length=71,
        required=False,
        help_text=gettext_lazy("sha256:… so that it is the same image tomorrow."),
    )
    instruction_set = forms.ChoiceField(
        label=gettext_lazy("Built for"), choices=[(one.value, words) for one, words in SETS.items()]
    )
    min_driver = forms.CharField(
        label=gettext_lazy("Oldest driver"),
        max_length=40,
        required=False,
        help_text=gettext_lazy("For example 550.54. Older nodes are passed by."),
    )
    tested = forms.CharField(
        label=gettext_lazy("Tested on"),
        max_length=2000,
        required=False,
        help_text=gettext_lazy("Card models with commas between them; others are warned about."),
    )
    organization = forms.ModelChoiceField(
        label=gettext_lazy("Only for the organization"),
        queryset=Organization.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=gettext_lazy("all organizations"),
    )
    note = forms.CharField(label=gettext_lazy("Note"), max_length=200, required=False)

    def __init__(self, *args: Any, request: HtmxRequest, **given: Any) -> None:
        super().__init__(*args, **given)
        field = self.fields["organization"]
        assert isinstance(field, forms.ModelChoiceField)
        rows = Organization.objects.order_by("slug")
        if not request.standing.platform:
            rows = rows.filter(pk__in=request.standing.in_organizations(Role.ORG_ADMIN))
            field.required, field.empty_label = True, None
        field.queryset = rows

    def clean_tested(self) -> list[str]:
        """The models one by one."""
        return [one.strip() for one in self.cleaned_data["tested"].split(",") if one.strip()]


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The list, by what it is built for; a POST adds one."""
    manages = anywhere(request.standing, Verb.ENVIRONMENT_MANAGE)
    form = EnvironmentForm(request.POST or None, request=request) if manages else None
    status = 200
    if request.method == "POST":
        refuse_unless(manages)
        if form is not None and form.is_valid() and _add(request, form):
            return go(request, reverse("environments"))
        status = 422
    built = request.GET.get("set", "")
    rows = environment_list(standing=request.standing)
    built = built if built in SETS else ""
    rows = rows.filter(instruction_set=built) if built else rows
    text = text_asked(request)
    rows = with_text(rows, EnvironmentDoor.searched, text) if text else rows
    listed = in_order(request, rows, {"name": "name"})
    for row in listed.rows:
        row.set_words = SETS[InstructionSet(row.instruction_set)]  # type: ignore[attr-defined]
        row.manages = _manages(request, row)  # type: ignore[attr-defined]
    context = {
        "page": listed,
        "text": text,
        "csv": list_address(
            "environments", request, {"name": "name"}, instruction_set=built, search=text
        ),
        "form": form,
        "set": built,
        "sets": [("", _("all")), *((one.value, words) for one, words in SETS.items())],
        "registries": Registry.objects.all(),
        "rules": may(request.standing, Verb.ENVIRONMENT_MANAGE),
    }
    whole = "pages/catalogue/environments.html"
    part = "pages/catalogue/_environments.html" if request.htmx else whole
    return render(request, part, context, status=status)


@page("POST")
@refusal_as_toast
def deprecate(request: HtmxRequest, uid: str) -> HttpResponse:
    """Warn whoever chooses it, or warn no more."""
    row = found(environment_list(standing=request.standing), uid)
    refuse_unless(_manages(request, row))
    undo = request.POST.get("undo") == "1"
    note = request.POST.get("note", "")
    environment_deprecate(environment=row, actor=Actor.of(request.user), note=note, undo=undo)
    messages.success(request, _("%(name)s is changed.") % {"name": row.name})
    return go(request, reverse("environments"))


@page("POST")
@refusal_as_toast
def remove(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take it out of the catalogue."""
    row = found(environment_list(standing=request.standing), uid)
    refuse_unless(_manages(request, row))
    environment_remove(environment=row, actor=Actor.of(request.user))
    messages.success(request, _("%(name)s is out of the catalogue.") % {"name": row.name})
    return go(request, reverse("environments"))


@page("POST")
@refusal_as_toast
def registry(request: HtmxRequest) -> HttpResponse:
    """Images may come from there."""
    refuse_unless(may(request.standing, Verb.ENVIRONMENT_MANAGE))
    registry_allow(prefix=request.POST.get("prefix", ""), actor=Actor.of(request.user))
    return go(request, reverse("environments"))


@page("POST")
@refusal_as_toast
def registry_gone(request: HtmxRequest, uid: str) -> HttpResponse:
    """No new image from there."""
    refuse_unless(may(request.standing, Verb.ENVIRONMENT_MANAGE))
    registry_remove(registry=found(Registry.objects.all(), uid), actor=Actor.of(request.user))
    return go(request, reverse("environments"))


def _manages(request: HtmxRequest, row: Environment) -> bool:
    return may(request.standing, Verb.ENVIRONMENT_MANAGE, row.organization)


def _add(request: HtmxRequest, form: EnvironmentForm) -> bool:
    try:
        row = environment_create(
            actor=Actor.of(request.user), owner=request.user, **form.cleaned_data
        )
    except PoolError as refused:
        take_refusal(form, refused)
        return False
    messages.success(request, _("%(name)s is in the catalogue.") % {"name": row.name})
    return True
