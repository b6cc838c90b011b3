"""Letting one's project look at a notebook's files, ending that, and looking."""

from datetime import timedelta

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.errors import Forbidden, PoolError
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.models.workloads import Workload
from pool.selectors.notebooks.shares import share_open
from pool.selectors.notebooks.standing import notebook_list
from pool.services.notebooks.shares import notebook_share, notebook_unshare
from portal.access.guards import guard
from portal.access.passes import ticket_issue
from portal.access.roles import Verb
from portal.pages.calendar.moments import MomentField, in_zone
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast


class ShareForm(forms.Form):
    """Until when."""

    until = MomentField(
        label=gettext_lazy("They may look until"),
        help_text=gettext_lazy("At most 30 days from now. You can end it at any time."),
    )


@page("GET", "POST")
def share(request: HtmxRequest, uid: str) -> HttpResponse:
    """Until when the project may look; a POST lets it."""
    row = _one(request, uid)
    guard(request.standing, Verb.NOTEBOOK_OPEN, row)
    if row.owner_id != request.user.pk:
        raise Forbidden
    bound = request.method == "POST"
    form = ShareForm(request.POST or None, initial={"until": now() + timedelta(days=7)})
    in_zone(form, request.user)
    if bound and form.is_valid():
        actor, until = Actor.of(request.user), form.cleaned_data["until"]
        try:
            notebook_share(workload=row, user=request.user, until=until, actor=actor)
        except PoolError as refused:
            take_refusal(form, refused)
        else:
            messages.success(request, _("People of the project may read its files now."))
            return go(request, reverse("notebook", args=[row.uid]))
    context = {"row": row, "form": form, "share": share_open(workload=row)}
    return render(request, "pages/notebooks/share.html", context, status=422 if bound else 200)


@page("POST")
@refusal_as_toast
def unshare(request: HtmxRequest, uid: str) -> HttpResponse:
    """Nobody else may look any more."""
    row = _one(request, uid)
    guard(request.standing, Verb.WORK_STOP, row)
    notebook_unshare(workload=row, actor=Actor.of(request.user))
    return go(request, reverse("notebook", args=[row.uid]))


@page("POST")
@refusal_as_toast
def look(request: HtmxRequest, uid: str) -> HttpResponse:
    """A ticket that only reads, and straight to the gateway with it."""
    row = _one(request, uid)
    session = request.session.session_key or ""
    ticket = ticket_issue(workload=row, user=request.user, session_key=session, reads=True)
    record(EventKind.NOTEBOOK_VIEWED, row, actor=Actor.of(request.user))
    return go(request, f"{settings.GATEWAY_ORIGIN}/enter/{row.uid}?ticket={ticket}")


def _one(request: HtmxRequest, uid: str) -> Workload:
    return get_object_or_404(notebook_list(standing=request.standing), uid=uid)
