"""The list of what-ifs: what was asked, how far it is, what it showed in one line."""

from operator import attrgetter
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _

from pool.lifecycle.studies import STUDY, Share, StudyState
from pool.models import Study
from pool.selectors.whatif.studies import TOTALS, Reader, study_list, with_totals
from portal.pages.htmx import HtmxRequest, fragment, page
from portal.pages.lists import newest_first
from portal.pages.whatif.reach import enter
from portal.pages.whatif.words import SHARES, changes_said

WHOLE, ROWS = "pages/whatif/index.html", "pages/whatif/_rows.html"
SHOWN_CHANGES = 3


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """All that the person may read, newest first, by state or owner."""
    enter(request.standing)
    state, mine = request.GET.get("state", ""), request.GET.get("mine", "") == "1"
    rows = with_totals(study_list(standing=request.standing))
    if state in set(StudyState):
        rows = rows.filter(state=state)
    if mine:
        rows = rows.filter(owner=request.user)
    found = newest_first(request, rows)
    reader = Reader.of(request.standing)
    context = {
        "page": found,
        "rows": [_row(reader, study) for study in found.rows],
        "state": state,
        "mine": mine,
        "states": [("", _("All")), *((one.value, _word(one)) for one in StudyState)],
        "live": any(study.state in STUDY.live for study in found.rows),
    }
    return fragment(request, WHOLE, ROWS, context)


def _row(reader: Reader, study: Study) -> dict[str, Any]:
    said = changes_said(study, *reader.changes(study))
    return {
        "study": study,
        "said": said[:SHOWN_CHANGES],
        "more": max(0, len(said) - SHOWN_CHANGES),
        **dict(zip(TOTALS, attrgetter(*TOTALS)(study), strict=True)),
        "share": SHARES[Share(study.share)],
        "live": study.state in STUDY.live,
        "percent": study.progress_milli // 10,
    }


def _word(state: StudyState) -> str:
    return {
        StudyState.WAITING: _("Waiting"),
        StudyState.RUNNING: _("Running"),
        StudyState.DONE: _("Done"),
        StudyState.FAILED: _("Failed"),
        StudyState.CANCELLED: _("Cancelled"),
    }[state]
