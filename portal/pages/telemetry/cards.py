"""What a whole card did: its charts, asked for when somebody opens them."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from pool.models.cards import Card
from portal.pages.htmx import HtmxRequest, page
from portal.pages.telemetry.curves import card_series


@page("GET")
def card_usage(request: HtmxRequest, uid: str) -> HttpResponse:
    """One card over the span that was chosen; what tenants do on its slices is not in it."""
    card = get_object_or_404(Card.objects.select_related("node"), uid=uid)
    series = card_series(card.pk, request.GET.get("span", ""))
    return render(request, "pages/telemetry/_card.html", {"card": card, "series": series})
