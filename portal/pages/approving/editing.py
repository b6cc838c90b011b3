"""Changing a request that is not decided: a draft, one that waits, one that was asked back."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import Forbidden, PoolError, Stale
from pool.events import Actor
from pool.lifecycle.leases import LeaseKind
from pool.lifecycle.requests import RequestState
from pool.models.requests import Request
from pool.rules.needs import from_mapping, merged, to_mapping
from pool.rules.problems import Problems
from pool.selectors.requests import request_list
from pool.services.approvals.given import own_words, plain_need
from pool.services.catalogue.judging import given_from
from pool.services.requests import request_edit, request_send
from portal.access.guards import found, guard
from portal.access.roles import Verb
from portal.access.weights import weights_of_change
from portal.pages.calendar.moments import in_zone
from portal.pages.catalogue.fields import filled_in, with_the_rest
from portal.pages.forms import take_refusal
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.need_forms import as_filled_in
from portal.pages.requests import OPEN, RENAMED, RequestForm, answered


@page("GET", "POST")
def edit(request: HtmxRequest, uid: str) -> HttpResponse:
    """The form with what was asked; saving restarts the steps of one that waits."""
    one = _own(request, uid)
    bound = request.method == "POST"
    form = RequestForm(request.POST or None, initial=_initial(one), standing=request.standing)
    form.offer_named(given_from(one.given), request.standing)
    form.versions = [one.template_version]
    template = one.template_version.template
    form.fields["template"].choices = [(template.slug, template.name)]  # type: ignore[attr-defined]
    in_zone(form, request.user)
    if bound and form.is_valid() and _saved(request, one, form):
        return go(request, reverse("request", args=[uid]))
    context = {"form": form, "standing": request.standing, "one": one, "editing": True}
    context["keeps_given"] = not own_words(one)
    context["revision"] = request.POST.get("revision", one.revision)
    status = 422 if bound else 200
    return render(
        request, "pages/requests/new.html", context | answered(request, form), status=status
    )


@page("POST")
@refusal_as_toast
def send(request: HtmxRequest, uid: str) -> HttpResponse:
    """Send a draft, or again what was asked back, as it stands."""
    one = _own(request, uid)
    request_send(request=one, user=request.user, actor=Actor.of(request.user))
    messages.success(request, _("Your request was sent."))
    return go(request, reverse("request", args=[uid]))


def _own(request: HtmxRequest, uid: str) -> Request:
    one = found(request_list(standing=request.standing), uid)
    guard(request.standing, Verb.REQUEST_MAKE, one)
    if one.requester_id != request.user.pk:
        raise Forbidden
    return one


def _saved(request: HtmxRequest, one: Request, form: RequestForm) -> bool:
    """Write the changes, and send what is to be sent; a refusal stands in the form."""
    user, data = request.user, form.cleaned_data
    sends = "draft" not in request.POST and one.state != RequestState.SUBMITTED
    revision = request.POST.get("revision", "")
    try:
        if one.state not in OPEN:
            raise Stale
        words = _words(one, form)
        if own_words(one):
            named = with_the_rest(form.given, given_from(one.given))
            words |= {"given": named, "image": data["image"]}
        words["weights"] = weights_of_change(request=one, changes=words)
        changed = request_edit(
            request=one,
            user=user,
            actor=Actor.of(user),
            revision=int(revision) if revision.isdigit() and len(revision) < 9 else -1,
            title=data["title"],
            purpose=data["purpose"],
            **words,
        )
        if sends:
            request_send(request=changed, user=user, actor=Actor.of(user))
    except PoolError as refused:
        take_refusal(form, refused, RENAMED)
        return False
    except Problems as wrong:
        form.add_error(None, str(wrong))
        return False
    messages.success(request, _("Saved and sent.") if sends else _("Saved."))
    return True


def _words(one: Request, form: RequestForm) -> dict[str, Any]:
    """The words as services take them; of the need what differs, so that a word left out goes."""
    need = to_mapping(merged(from_mapping(one.template_version.need), form.overrides))
    was = plain_need(one)
    differs = sorted(name for name in {*was, *need} if was.get(name) != need.get(name))
    words: dict[str, Any] = {
        "need": {name: need.get(name) for name in differs},
        "copies": form.cleaned_data["copies"],
        "duration_seconds": form.seconds,
        "lease_kind": LeaseKind.RESERVED if form.reserved else LeaseKind.ON_DEMAND,
        "starts_at": form.cleaned_data.get("starts_at"),
    }
    if form.places:
        words["partitions"] = tuple(form.places)
    return words


def _initial(one: Request) -> dict[str, Any]:
    return {
        **as_filled_in(one.need, one.template_version),
        "project": one.project.slug,
        "copies": one.copies,
        "kind": one.lease_kind,
        "starts_at": one.starts_at,
        "title": one.title,
        "purpose": one.purpose,
        "time_value": one.duration_seconds,
        **filled_in(given_from(one.given)),
        "image": one.image,
        "apart": one.need.get("isolation") == "hardware",
    }
