"""Team billing: the month so far, what it is made of, who and what, and where money is wasted."""

from datetime import date, timedelta
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from billing.rating.accounts import CARD_PARTS, Account
from billing.rating.days import next_month
from billing.reports.words import HELP, account_words
from billing.selectors.budgets import budget_list, budget_spent
from billing.selectors.newbook import new_book
from billing.selectors.statements import month_now
from billing.selectors.team import GROUPS
from portal.pages.billing.month import month_report
from portal.pages.billing.places import Place, homes, place_at
from portal.pages.htmx import HtmxRequest, fragment, page

BY = {
    "project": gettext_lazy("Project"),
    "person": gettext_lazy("Person"),
    "cost_centre": gettext_lazy("Cost centre"),
    "template": gettext_lazy("Template"),
    "model": gettext_lazy("Card model"),
    "mode": gettext_lazy("Mode"),
}
SHOWN = 12
"""Budgets on this page; all are on their own."""

FIRST, LAST = date(2000, 1, 1), date(2999, 12, 1)
"""Months that one may look at."""

COLOURS = {
    Account.USED: "good",
    Account.HELD_IDLE: "warn",
    Account.HELD_UNKNOWN: "quiet",
    Account.STRANDED: "bad",
}


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One organization's month, or what of it one may see."""
    if not homes(request):
        return render(request, "pages/billing/nothing.html")
    place = place_at(request)
    first = month_asked(request.GET.get("month", ""), month_now(place.organization))
    by = request.GET.get("by", "project")
    if by not in GROUPS:
        raise Http404
    context = {
        "place": place,
        "homes": homes(request),
        "first": first,
        "earlier": (first - timedelta(days=1)).replace(day=1),
        "later": next_month(first) if next_month(first) <= month_now(place.organization) else None,
        "by": by,
        "ways": BY,
        **_month(request, place, first, by),
    }
    return fragment(request, "pages/billing/index.html", "pages/billing/_month.html", context)


def month_asked(said: str, otherwise: date) -> date:
    """The month that is said as 2026-11; `otherwise` where nothing is said.

    Raises:
        Http404: it is no month, or none from 2000 to 2999.
    """
    if not said:
        return otherwise
    try:
        first = date.fromisoformat(f"{said}-01")
    except ValueError as wrong:
        raise Http404 from wrong
    if not FIRST <= first <= LAST:
        raise Http404
    return first


def _month(request: HtmxRequest, place: Place, first: date, by: str) -> dict[str, Any]:
    told = month_report(place=place, first=first, by=by)
    most = max((one.micro for one in told.groups), default=0)
    return {
        "parts": _parts(told.parts),
        "total": told.total,
        "held": sum(micro for name, micro in told.parts.items() if name in CARD_PARTS),
        "forecast": told.forecast,
        "band": told.band,
        "last": told.last,
        "groups": [
            (one, max(0, one.micro) * 100 // most if most > 0 else 0) for one in told.groups
        ],
        "wastes": [(one, *remedy(one.account, one.kind)) for one in told.wastes],
        "days": told.days,
        "lost": told.lost,
        "budgets": _budgets(request, place),
        "new_book": new_book(organization=place.organization, first=first, projects=place.projects),
    }


def _parts(parts: dict[str, int]) -> list[dict[str, Any]]:
    """The bar and its table, in the order of a bill; the widths are of what is positive."""
    positive = sum(micro for micro in parts.values() if micro > 0)
    order = {account.value: place for place, account in enumerate(Account)}
    return [
        {
            "account": name,
            "name": account_words(name),
            "help": HELP.get(name, ""),
            "micro": parts[name],
            "milli": max(0, parts[name]) * 1000 // positive if positive else 0,
            "colour": COLOURS.get(Account(name), "plain"),
        }
        for name in sorted(parts, key=lambda one: order.get(one, 99))
        if parts[name]
    ]


def _budgets(request: HtmxRequest, place: Place) -> list[Any]:
    rows = budget_list(standing=request.standing).filter(organization=place.organization)
    stands = (budget_spent(budget=row) for row in rows[:SHOWN])
    return [one for one in stands if one is not None]


def remedy(account: str, kind: str) -> tuple[str, str]:
    """What would help against a waste: words, and where to do it."""
    if account == Account.STRANDED:
        return _("Choose another size"), reverse("templates")
    if kind == "notebook":
        return _("Look at the idle rule"), reverse("notebooks")
    return _("Look at its use"), ""
