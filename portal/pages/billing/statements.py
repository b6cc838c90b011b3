"""Statements: their list, one with its lines, files of it, what is behind a line, closing it."""

from collections.abc import Callable
from datetime import date

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from billing.models.months import Dispute, Month
from billing.models.usage import Usage
from billing.reports.paper import bill_pdf
from billing.reports.sheets import bill_csv, bill_xlsx
from billing.reports.words import account_words
from billing.selectors.statements import (
    Bill,
    bill_file,
    bill_of,
    dispute_list,
    line_named,
    line_postings,
    month_list,
    month_now,
    shown_apart,
)
from billing.services.months import (
    dispute_decide,
    dispute_open,
    month_close,
    month_open,
    month_reopen,
    month_review,
)
from pool.errors import Invalid
from pool.events import Actor
from portal.access.guards import anywhere, found, may
from portal.access.roles import Verb
from portal.pages.billing.amounts import amount_of, words_of
from portal.pages.billing.contracts import KINDS
from portal.pages.billing.places import homes, place_of
from portal.pages.billing.team import month_asked
from portal.pages.htmx import HtmxRequest, go, page, refusal_as_toast, refuse_unless
from portal.pages.lists import newest_first

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FILES: dict[str, tuple[str, Callable[[Bill], bytes]]] = {
    "csv": ("text/csv; charset=utf-8", bill_csv),
    "xlsx": (XLSX, bill_xlsx),
    "pdf": ("application/pdf", bill_pdf),
    "erp": ("text/csv; charset=utf-8", lambda bill: bill_file(bill.month)),
}
KIND_WORDS = dict(KINDS)
SHOWN = 200
FIRST = date(2000, 1, 1)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """All months of the organizations whose whole cost one reads, newest first."""
    rows = month_list(standing=request.standing)
    mine = [place_of(request, home) for home in homes(request)]
    context = {
        "page": newest_first(request, rows),
        "places": [one for one in mine if one.whole],
        "disputes": dispute_list(standing=request.standing).filter(state="open")[:20],
    }
    return render(request, "pages/billing/statements.html", context)


@page("POST")
@refusal_as_toast
def open_month(request: HtmxRequest) -> HttpResponse:
    """The statement of a month, made when somebody first asks for it."""
    mine = [place_of(request, home) for home in homes(request)]
    uid = request.POST.get("organization", "")
    home = next(
        (one.organization for one in mine if one.whole and one.organization.uid == uid), None
    )
    if home is None:
        raise Http404
    first = month_asked(request.POST.get("month", ""), month_now(home))
    if not FIRST <= first <= month_now(home):
        raise Invalid(month=_("Choose a month that has begun."))
    return go(request, reverse("statement", args=[month_open(organization=home, first=first).uid]))


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One statement with its lines, and the complaints about them."""
    row = _one(request, uid)
    bill = bill_of(row)
    disputes = list(dispute_list(standing=request.standing).filter(month=row))
    context = {
        "bill": bill,
        "month": row,
        "lines": [(line, account_words(line.what.account)) for line in bill.lines],
        "apart": [(one, KIND_WORDS[one.kind]) for one in shown_apart(row)],
        "disputes": disputes,
        "disputed": {one.line_id for one in disputes if one.state == "open"},
        "closes": may(request.standing, Verb.MONTH_CLOSE, row),
        "over": row.first < month_now(row.organization),
    }
    return render(request, "pages/billing/statement.html", context)


@page("GET")
def file(request: HtmxRequest, uid: str, kind: str) -> HttpResponse:
    """The statement as CSV, Excel, PDF, or for another system."""
    row = _one(request, uid)
    mime, made = FILES[kind]
    ending = "csv" if kind == "erp" else kind
    name = f"{row.organization.slug}-{row.first:%Y-%m}{'-erp' if kind == 'erp' else ''}.{ending}"
    answer = HttpResponse(made(bill_of(row)), content_type=mime)
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


@page("GET")
def line(request: HtmxRequest, uid: str) -> HttpResponse:
    """What is behind one line: each hour with its placement, and from there the events."""
    row = _one(request, uid)
    name = request.GET.get("line", "")
    if not name:
        return go(request, reverse("statement", args=[row.uid]))
    found_line = line_named(bill_of(row), name)
    if found_line is None:
        raise Http404
    start = _start(request)
    found_rows = list(line_postings(row, found_line)[start : start + SHOWN + 1])
    postings, more = found_rows[:SHOWN], len(found_rows) > SHOWN
    named = Usage.objects.select_related(
        "workload", "owner", "hold__placement", "kept__reservation__lease"
    ).in_bulk([one.usage_id for one in postings if one.usage_id is not None])
    context = {
        "month": row,
        "line": found_line,
        "what": account_words(found_line.what.account),
        "rows": [(one, named.get(one.usage_id or 0)) for one in postings],
        "start": start,
        "earlier": max(0, start - SHOWN) if start else None,
        "later": start + SHOWN if more else None,
        "events": anywhere(request.standing, Verb.EVENT_SEE),
        "may_dispute": found_line.what.project is not None,
    }
    return render(request, "pages/billing/line.html", context)


@page("POST")
@refusal_as_toast
def act(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """Review, reopen or close it."""
    row = _one(request, uid)
    refuse_unless(may(request.standing, Verb.MONTH_CLOSE, row))
    if verb not in _ACTS:
        raise Http404
    done = _ACTS[verb](month=row, actor=Actor.of(request.user))
    said = {
        "reviewed": _("Reviewed. It can be closed now."),
        "provisional": _("It is provisional again."),
        "closed": _("Closed. It never changes any more."),
    }
    messages.success(request, said[done.state])
    return go(request, reverse("statement", args=[row.uid]))


_ACTS = {"review": month_review, "reopen": month_reopen, "close": month_close}


@page("POST")
@refusal_as_toast
def dispute(request: HtmxRequest, uid: str) -> HttpResponse:
    """Complain about a line."""
    row = _one(request, uid)
    dispute_open(
        month=row,
        line_id=words_of(request, "line"),
        text=words_of(request, "text"),
        user=request.user,
        actor=Actor.of(request.user),
    )
    messages.success(request, _("Sent. Whoever closes the months decides about it."))
    return go(request, reverse("statement", args=[row.uid]))


@page("POST")
@refusal_as_toast
def decide(request: HtmxRequest, uid: str) -> HttpResponse:
    """Grant a credit, or refuse."""
    row: Dispute = found(dispute_list(standing=request.standing), uid)
    refuse_unless(may(request.standing, Verb.MONTH_CLOSE, row.month))
    accept = request.POST.get("accept") == "1"
    granted = amount_of(request.POST.get("amount", ""), "granted_micro") if accept else 0
    dispute_decide(
        dispute=row,
        accept=accept,
        answer=words_of(request, "answer"),
        granted_micro=granted,
        actor=Actor.of(request.user),
    )
    messages.success(request, _("Decided."))
    return go(request, reverse("statement", args=[row.month.uid]))


def _start(request: HtmxRequest) -> int:
    """From which hour of the line on."""
    said = request.GET.get("from", "0")
    if not said.isascii() or not said.isdigit() or len(said) > 9:
        raise Http404
    return int(said)


def _one(request: HtmxRequest, uid: str) -> Month:
    return found(month_list(standing=request.standing), uid)
