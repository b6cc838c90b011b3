"""People, for administrators."""

from django.http import HttpResponse

from pool.selectors.users import user_list
from portal.access.guards import anywhere
from portal.access.roles import Verb
from portal.api.door import with_text
from portal.api.v1.users import UserDoor
from portal.pages.htmx import HtmxRequest, fragment, page, refuse_unless
from portal.pages.lists import in_order, list_address, text_asked
from portal.pages.shell import ROLES

SORTS = {"name": "username"}
"""What the list can be sorted by."""


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Who has an account, and what they are where."""
    refuse_unless(anywhere(request.standing, Verb.USER_MANAGE))
    text = text_asked(request)
    rows = user_list(standing=request.standing)
    rows = with_text(rows, UserDoor.searched, text) if text else rows
    shown = in_order(request, rows, SORTS)
    people = [
        (one, [(ROLES[m.role], m.project or m.organization) for m in one.memberships.all()])  # type: ignore[index]
        for one in shown.rows
    ]
    context = {
        "page": shown,
        "people": people,
        "text": text,
        "standing": request.standing,
        "csv": list_address("users", request, {"name": "username"}, search=text),
    }
    return fragment(request, "pages/users/index.html", "pages/users/_rows.html", context)
