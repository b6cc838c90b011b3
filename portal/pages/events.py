"""What happened, for those who answer for it."""

from django.http import HttpResponse

from pool.selectors.history import event_list
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless
from portal.pages.lists import newest_first


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """The log, newest first; by kind, by subject, by who did it."""
    refuse_unless(anywhere(request.standing, Verb.EVENT_SEE))
    asked = {name: request.GET.get(name, "").strip() for name in ("kind", "subject", "actor")}
    rows = event_list(standing=request.standing, user=request.user)
    if asked["kind"]:
        rows = rows.filter(kind__startswith=asked["kind"])
    if asked["subject"]:
        rows = rows.filter(subject__endswith=asked["subject"])
    if asked["actor"]:
        rows = rows.filter(actor_label=asked["actor"])
    context = {"page": newest_first(request, rows, 50), **asked, "filtered": any(asked.values())}
    return fragment(request, "pages/events/index.html", "pages/events/_rows.html", context)
