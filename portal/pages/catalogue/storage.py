"""Storage: what work may use, where it is, and allowing more of it."""

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
from pool.lifecycle.catalogue import Access, Backing, StorageKind
from pool.models import Organization, Project, User
from pool.selectors.catalogue.lists import storage_list, with_nodes
from pool.services.catalogue.storage import storage_change, storage_create, storage_remove
from portal.access.guards import found, may
from portal.access.roles import Verb
from portal.api.door import with_text
from portal.api.v1.catalogue.storage import StorageDoor
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import in_order, list_address, text_asked

KINDS = {
    StorageKind.HOME: gettext_lazy("home"),
    StorageKind.PROJECT: gettext_lazy("project share"),
    StorageKind.DATASET: gettext_lazy("data set"),
    StorageKind.SCRATCH: gettext_lazy("scratch"),
    StorageKind.CHECKPOINTS: gettext_lazy("checkpoints"),
}
BACKINGS = [
    (Backing.HOST.value, gettext_lazy("a plain folder of the nodes")),
    (Backing.NFS.value, gettext_lazy("NFS, mounted on the nodes")),
    (Backing.LUSTRE.value, gettext_lazy("Lustre, mounted on the nodes")),
    (Backing.S3.value, gettext_lazy("S3, mounted on the nodes")),
]
MODES = [
    (Access.READ.value, gettext_lazy("only read")),
    (Access.WRITE.value, gettext_lazy("read and write")),
]


class StorageForm(forms.Form):
    """What one says of a folder."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=63)
    kind = forms.ChoiceField(
        label=gettext_lazy("What it is for"),
        choices=[(one.value, words) for one, words in KINDS.items()],
        initial=StorageKind.DATASET.value,
    )
    backing = forms.ChoiceField(label=gettext_lazy("What it is"), choices=BACKINGS)
    source = forms.CharField(
        label=gettext_lazy("What is mounted there"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("For example nas:/datasets, or s3://bucket. For people to read."),
    )
    path = forms.CharField(
        label=gettext_lazy("Path on the nodes"),
        max_length=400,
        help_text=gettext_lazy(
            "The same on every node that has it. {user}, {project} and {organization} stand for "
            "whoever runs the work, for example /srv/home/{user}."
        ),
    )
    mode = forms.ChoiceField(label=gettext_lazy("Work may"), choices=MODES)
    create = forms.BooleanField(
        label=gettext_lazy("Nodes make missing folders, from the first word in braces on"),
        required=False,
    )
    project = forms.ModelChoiceField(
        label=gettext_lazy("Only for the project"),
        queryset=Project.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=gettext_lazy("all projects"),
    )
    organization = forms.ModelChoiceField(
        label=gettext_lazy("Only for the organization"),
        queryset=Organization.objects.none(),
        to_field_name="slug",
        required=False,
        empty_label=gettext_lazy("all organizations"),
    )
    user = forms.ModelChoiceField(
        label=gettext_lazy("Only for the person"),
        queryset=User.objects.none(),
        to_field_name="username",
        required=False,
        empty_label=gettext_lazy("everybody"),
    )
    note = forms.CharField(label=gettext_lazy("Note"), max_length=200, required=False)

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        rows = {
            "project": Project.objects.order_by("slug"),
            "organization": Organization.objects.order_by("slug"),
            "user": User.objects.filter(is_active=True).order_by("username"),
        }
        for name, chosen in rows.items():
            self.fields[name].queryset = chosen  # type: ignore[attr-defined]


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The list, by kind; a platform admin's POST allows a folder."""
    manages = may(request.standing, Verb.STORAGE_MANAGE)
    form = StorageForm(request.POST or None) if manages else None
    status = 200
    if request.method == "POST":
        refuse_unless(manages)
        if form is not None and form.is_valid() and _allow(request, form):
            return go(request, reverse("storage"))
        status = 422
    kind = request.GET.get("kind", "")
    rows = storage_list(standing=request.standing)
    kind = kind if kind in KINDS else ""
    rows = rows.filter(kind=kind) if kind else rows
    text = text_asked(request)
    rows = with_text(rows, StorageDoor.searched, text) if text else rows
    listed = in_order(request, rows, {"name": "name"})
    with_nodes(listed.rows)
    for row in listed.rows:
        row.kind_words = KINDS[StorageKind(row.kind)]  # type: ignore[attr-defined]
        row.backing_words = dict(BACKINGS)[row.backing]  # type: ignore[attr-defined]
    context = {
        "page": listed,
        "text": text,
        "csv": list_address("storage", request, {"name": "name"}, kind=kind, search=text),
        "form": form,
        "kind": kind,
        "kinds": [("", _("all")), *((one.value, words) for one, words in KINDS.items())],
        "manages": manages,
    }
    part = "pages/catalogue/_storage.html" if request.htmx else "pages/catalogue/storage.html"
    return render(request, part, context, status=status)


@page("POST")
@refusal_as_toast
def change(request: HtmxRequest, uid: str) -> HttpResponse:
    """Offer it to new work, or no more."""
    row = found(storage_list(standing=request.standing), uid)
    refuse_unless(may(request.standing, Verb.STORAGE_MANAGE))
    active = request.POST.get("active") == "1"
    storage_change(storage=row, actor=Actor.of(request.user), active=active)
    messages.success(request, _("%(name)s is changed.") % {"name": row.name})
    return go(request, reverse("storage"))


@page("POST")
@refusal_as_toast
def remove(request: HtmxRequest, uid: str) -> HttpResponse:
    """Take it out of the catalogue; the files stay where they are."""
    row = found(storage_list(standing=request.standing), uid)
    refuse_unless(may(request.standing, Verb.STORAGE_MANAGE))
    storage_remove(storage=row, actor=Actor.of(request.user))
    messages.success(request, _("%(name)s is out of the catalogue.") % {"name": row.name})
    return go(request, reverse("storage"))


def _allow(request: HtmxRequest, form: StorageForm) -> bool:
    try:
        row = storage_create(actor=Actor.of(request.user), **form.cleaned_data)
    except PoolError as refused:
        take_refusal(form, refused)
        return False
    text = _("%(name)s is allowed. The nodes are looking whether they have it.")
    messages.success(request, text % {"name": row.name})
    return True
