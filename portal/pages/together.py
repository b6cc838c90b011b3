"""Several requests in the inbox chosen at once: their sum, and one yes to all of them or none."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django_htmx.http import trigger_client_event

from pool.errors import Invalid, PoolError, Stale
from pool.events import Actor
from pool.models.requests import Request
from pool.selectors.approvals.powers import decides_anywhere
from pool.selectors.requests import approval_list
from pool.selectors.together import requests_check_together
from pool.services.decisions import UNDO_SECONDS
from pool.services.together import MOST, requests_approve, requests_undo
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless, toast

WHOLE, PART = "pages/approvals/together.html", "pages/approvals/_together.html"


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The sum of what is chosen; a POST says yes to all of it as it was read."""
    refuse_unless(decides_anywhere(standing=request.standing))
    if request.method != "POST":
        picked = _picked(request, request.GET.getlist("pick"))
        return fragment(request, WHOLE, PART, _context(picked))
    revisions = _revisions(request.POST.getlist("read"))
    picked = _picked(request, list(revisions))
    try:
        if len(picked) != len(revisions):
            raise Invalid(requests=_("Some of them no longer wait for you; nothing was approved."))
        requests_approve(
            requests=picked,
            revisions=revisions,
            user=request.user,
            actor=Actor.of(request.user),
            delay_s=UNDO_SECONDS,
        )
    except PoolError as error:
        said = " ".join(error.detail["requests"]) if isinstance(error, Invalid) else str(error)
        context = _context(_picked(request, list(revisions))) | {"refused": said}
        response = render(request, PART if request.htmx else WHOLE, context, status=409)
        return trigger_client_event(response, "approvals-changed")
    done = _picked(request, list(revisions))
    pending = [one.pending_until for one in done if one.pending_until]
    context = {"done": done, "until": max(pending, default=None)}
    response = toast(fragment(request, WHOLE, PART, context), "success", _("Approved together."))
    return trigger_client_event(response, "approvals-changed")


@page("POST")
def undo(request: HtmxRequest) -> HttpResponse:
    """Take the one yes back from all of them, while it has not taken effect."""
    refuse_unless(decides_anywhere(standing=request.standing))
    uids = request.POST.getlist("pick")
    picked = _picked(request, uids)
    try:
        if len(picked) != len(set(uids)):
            raise Stale
        requests_undo(requests=picked, user=request.user, actor=Actor.of(request.user))
    except PoolError as error:
        context = _context(_picked(request, uids)) | {"refused": str(error)}
        response = render(request, PART if request.htmx else WHOLE, context, status=409)
        return trigger_client_event(response, "approvals-changed")
    response = fragment(request, WHOLE, PART, _context(_picked(request, uids)))
    response = toast(response, "info", _("Taken back. Nothing has changed."))
    return trigger_client_event(response, "approvals-changed")


def _picked(request: HtmxRequest, uids: list[str]) -> list[Request]:
    """Those of the named that wait where the person decides; others' are not there."""
    rows = approval_list(standing=request.standing).filter(uid__in=uids[: MOST + 1])
    return list(rows)


def _revisions(read: list[str]) -> dict[str, int]:
    """What was read of each, from "uid:revision"; a reading that is none is of no revision."""
    found = {}
    for text in read:
        uid, _colon, said = text.partition(":")
        found[uid] = int(said) if said.isascii() and said.isdigit() and len(said) < 9 else -1
    return found


def _context(picked: list[Request]) -> dict[str, Any]:
    return {"picked": picked, "together": requests_check_together(requests=picked)}
