"""Secrets: set, set anew, removed; no value is ever shown."""

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
from pool.models import Project, Secret
from pool.rules.catalogue import MOST_SECRET_BYTES
from pool.selectors.catalogue.lists import secret_list
from pool.selectors.tenants import project_list
from pool.services.catalogue.secrets import secret_remove, secret_set
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.api.door import with_text
from portal.api.v1.catalogue.secrets import SecretDoor
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import in_order, list_address, text_asked


class SecretForm(forms.Form):
    """A name, a value, and whose it is."""

    project = forms.ModelChoiceField(
        label=gettext_lazy("Whose"),
        queryset=Project.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=gettext_lazy("my own, for my work in any project"),
        help_text=gettext_lazy("One of a project can be used by everybody who runs work in it."),
    )
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=63,
        help_text=gettext_lazy("For example HF_TOKEN. The same name again replaces the value."),
    )
    value = forms.CharField(
        label=gettext_lazy("Value"),
        max_length=MOST_SECRET_BYTES,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("It is sealed at once and is never shown again."),
    )
    note = forms.CharField(label=gettext_lazy("Note"), max_length=200, required=False)

    def __init__(self, *args: Any, request: HtmxRequest, **given: Any) -> None:
        super().__init__(*args, **given)
        field = self.fields["project"]
        assert isinstance(field, forms.ModelChoiceField)
        seen = project_list(standing=request.standing).select_related("organization")
        leads = [one.pk for one in seen if may(request.standing, Verb.SECRET_MANAGE, one)]
        field.queryset = Project.objects.filter(pk__in=leads).order_by("slug")


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The list; a POST sets one. What was typed as a value is never sent back."""
    form = SecretForm(request.POST or None, request=request)
    status = 200
    if request.method == "POST":
        if form.is_valid() and _set(request, form):
            return go(request, reverse("secrets"))
        status = 422
    whose = request.GET.get("whose", "")
    rows = secret_list(standing=request.standing)
    whose = whose if whose in ("mine", "projects") else ""
    rows = rows.filter(project__isnull=whose == "mine") if whose else rows
    text = text_asked(request)
    rows = with_text(rows, SecretDoor.searched, text) if text else rows
    listed = in_order(request, rows, {"name": "name"})
    for row in listed.rows:
        row.manages = _manages(request, row)  # type: ignore[attr-defined]
    context = {
        "page": listed,
        "text": text,
        "csv": list_address("secrets", request, {"name": "name"}, whose=whose, search=text),
        "form": form,
        "whose": whose,
        "choices": [("", _("all")), ("mine", _("my own")), ("projects", _("of projects"))],
    }
    part = "pages/catalogue/_secrets.html" if request.htmx else "pages/catalogue/secrets.html"
    return render(request, part, context, status=status)


@page("POST")
@refusal_as_toast
def rotate(request: HtmxRequest, uid: str) -> HttpResponse:
    """A new value for work that starts from now on."""
    row = found(secret_list(standing=request.standing), uid)
    refuse_unless(_manages(request, row))
    secret_set(
        name=row.name,
        value=request.POST.get("value", ""),
        user=row.user,
        project=row.project,
        note=row.note,
        actor=Actor.of(request.user),
    )
    messages.success(request, _("%(name)s has a new value.") % {"name": row.name})
    return go(request, reverse("secrets"))


@page("POST")
@refusal_as_toast
def remove(request: HtmxRequest, uid: str) -> HttpResponse:
    """Forget it for good."""
    row = found(secret_list(standing=request.standing), uid)
    refuse_unless(_manages(request, row))
    secret_remove(secret=row, actor=Actor.of(request.user))
    messages.success(request, _("%(name)s is forgotten.") % {"name": row.name})
    return go(request, reverse("secrets"))


def _manages(request: HtmxRequest, row: Secret) -> bool:
    return row.project is None or may(request.standing, Verb.SECRET_MANAGE, row.project)


def _set(request: HtmxRequest, form: SecretForm) -> bool:
    data = form.cleaned_data
    mine = request.user if data["project"] is None else None
    try:
        row, new = secret_set(actor=Actor.of(request.user), user=mine, **data)
    except PoolError as refused:
        take_refusal(form, refused)
        return False
    text = _("%(name)s is kept.") if new else _("%(name)s has a new value.")
    messages.success(request, text % {"name": row.name})
    return True
