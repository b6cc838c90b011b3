"""Recorded work: periods that were replayed, and files that people gave."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor
from pool.rules.whatif.lines import MOST_BYTES, MOST_LINES
from pool.selectors.whatif.studies import trace_list
from pool.services.whatif.traces import trace_delete, trace_of_file
from portal.access.guards import found, own, owns
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast
from portal.pages.lists import newest_first
from portal.pages.whatif.reach import enter, home_of
from portal.pages.whatif.words import left_out_said

PAGE = "pages/whatif/records.html"


@page("GET", "POST")
def index(request: HtmxRequest) -> HttpResponse:
    """The list with the form for a file; a POST keeps the file, or says which lines are wrong."""
    enter(request.standing)
    if request.method != "POST":
        return render(request, PAGE, _context(request))
    text, error = _given(request)
    if error:
        return render(request, PAGE, _context(request) | {"errors": [error]}, status=422)
    try:
        made = trace_of_file(
            name=str(request.POST.get("name", "")) or _name(request),
            text=text,
            shape="sacct" if request.POST.get("shape") == "sacct" else "csv",
            user=request.user,
            organization=home_of(request.standing),
            actor=Actor.of(request.user),
        )
    except Invalid as refused:
        told = [line for lines in refused.detail.values() for line in lines]
        return render(request, PAGE, _context(request) | {"errors": told}, status=422)
    messages.success(request, _("%(n)s jobs are kept.") % {"n": made.jobs})
    return go(request, f"{reverse('what-if-new')}?record={made.uid}")


@page("POST")
@refusal_as_toast
def delete(request: HtmxRequest, uid: str) -> HttpResponse:
    """A record that nothing replays any more."""
    row = own(request.standing, found(trace_list(standing=request.standing), uid))
    trace_delete(trace=row, actor=Actor.of(request.user))
    messages.success(request, _("The record is deleted."))
    return go(request, reverse("records"))


def _given(request: HtmxRequest) -> tuple[str, str]:
    """The text of the file, and what is wrong with it as a file."""
    upload = request.FILES.get("file")
    if upload is None or isinstance(upload, list):
        return "", _("Choose a file.")
    if (upload.size or 0) > MOST_BYTES:
        return "", _("A file of at most %(n)s MiB is possible.") % {"n": MOST_BYTES >> 20}
    try:
        return upload.read(MOST_BYTES + 1).decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return "", _("The file is not UTF-8 text.")


def _name(request: HtmxRequest) -> str:
    upload = request.FILES.get("file")
    name = getattr(upload, "name", "") or ""
    return "".join(c for c in name if c.isprintable())[:80]


def _context(request: HtmxRequest) -> dict[str, object]:
    rows = trace_list(standing=request.standing).annotate(used=Count("studies"))
    listed = newest_first(request, rows)
    return {
        "page": listed,
        "rows": [
            (row, left_out_said(row.left_out), owns(request.standing, row)) for row in listed.rows
        ],
        "most_mib": MOST_BYTES >> 20,
        "most_lines": MOST_LINES,
    }
