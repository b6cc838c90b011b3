"""The budget of critical work of each organization one may see, month by month."""

from datetime import date
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import Forbidden, Invalid, PoolError
from pool.events import Actor
from pool.models.tenants import Organization
from pool.selectors.critical import critical_months
from pool.selectors.tenants import organization_list
from pool.services.yielding.budgets import critical_budget_set
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, go, page

MOST_DIGITS = 9


@page("GET", "POST")
def critical(request: HtmxRequest, uid: str) -> HttpResponse:
    """This month and those granted ahead; a platform admin grants more, or less, here."""
    organization = get_object_or_404(organization_list(standing=request.standing), uid=uid)
    if not may(request.standing, Verb.QUOTA_SEE, organization):
        raise Forbidden
    refused: PoolError | None = None
    if request.method == "POST":
        if not may(request.standing, Verb.CRITICAL_GRANT, organization):
            raise Forbidden
        try:
            critical_budget_set(
                organization=organization, actor=Actor.of(request.user), **_given(request)
            )
        except PoolError as problem:
            refused = problem
        else:
            return go(request, reverse("critical", args=[organization.uid]))
    context = {
        "organization": organization,
        "months": [_shown(one) for one in critical_months(organization=organization)],
        "may_grant": may(request.standing, Verb.CRITICAL_GRANT, organization),
        "refused": refused,
        "said": request.POST,
    }
    status = refused.status if refused else 200
    return render(request, "pages/yielding/critical.html", context, status=status)


def critical_links(request: HtmxRequest) -> list[Organization]:
    """Organizations whose budget the person may read."""
    rows = organization_list(standing=request.standing)
    return [row for row in rows if may(request.standing, Verb.QUOTA_SEE, row)]


def _given(request: HtmxRequest) -> dict[str, Any]:
    """The form's month and hours.

    Raises:
        Invalid: a field is empty or no number.
    """
    hours, month = request.POST.get("card_hours", ""), request.POST.get("month", "")
    if not (hours.isascii() and hours.isdigit() and len(hours) <= MOST_DIGITS):
        raise Invalid(card_hours=_("A number of hours from 0 to 10,000,000 is needed."))
    try:
        named = date.fromisoformat(f"{month[:7]}-01")
    except ValueError:
        raise Invalid(month=_("A month is named by its first day.")) from None
    return {"month": named, "card_hours": int(hours)}


def _shown(one: dict[str, Any]) -> dict[str, Any]:
    """Seconds as hours, and how full the month is."""
    granted = one["granted_card_seconds"]
    return {
        "month": one["month"],
        "granted": granted / 3600,
        "used": one["used_card_seconds"] / 3600,
        "promised": one["promised_card_seconds"] / 3600,
        "left": (granted - one["used_card_seconds"] - one["promised_card_seconds"]) / 3600,
    }
