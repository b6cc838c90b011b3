"""What happened, for those who answer for it: searched, and taken away."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase

from pool.events import Actor
from pool.selectors.history import event_list
from portal.access.audit import audit_export, audit_narrowed
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless
from portal.pages.lists import newest_first

TEXTS = ("kind", "subject", "actor", "text", "request_id")
DAYS = ("since", "until")


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The log, newest first; by kind, subject, who did it, words in the details, and days."""
    refuse_unless(anywhere(request.standing, Verb.EVENT_SEE))
    said = {name: request.GET.get(name, "").strip() for name in (*TEXTS, *DAYS)}
    rows = audit_narrowed(event_list(standing=request.standing, user=request.user), asked(request))
    query = urlencode({name: value for name, value in said.items() if value})
    context = {
        "page": newest_first(request, rows, 50),
        **said,
        "filtered": any(said.values()),
        "query": query,
    }
    return fragment(request, "pages/events/index.html", "pages/events/_rows.html", context)


@page("POST")
def export(request: HtmxRequest, shape: str) -> HttpResponseBase:
    """What the filters leave, as a file; taking it away is an event."""
    refuse_unless(anywhere(request.standing, Verb.EVENT_SEE))
    if shape not in ("csv", "json"):
        raise Http404
    given = asked(request)
    rows = audit_narrowed(event_list(standing=request.standing, user=request.user), given)
    actor = Actor.of(request.user)
    return audit_export(rows, shape=shape, user=request.user, actor=actor, asked=given)


def asked(request: HtmxRequest) -> dict[str, Any]:
    """The filters of the address; days are the reader's own, the last one included."""
    found: dict[str, Any] = {name: request.GET.get(name, "").strip() for name in TEXTS}
    zone = ZoneInfo(request.user.zone or "UTC")
    for name in DAYS:
        try:
            day = datetime.fromisoformat(request.GET.get(name, "")).replace(tzinfo=zone)
            later = day + timedelta(days=1) if name == "until" else day
            found[name] = later.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    return found
