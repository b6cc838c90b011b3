"""What a whole card did: its charts and its weeks by hours, asked for when somebody opens them."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from pool.clock import now
from pool.models.cards import Card
from pool.selectors.telemetry.latest import link_now
from pool.selectors.telemetry.week import DAYS, card_week
from portal.pages.alerting.ways import WEEK
from portal.pages.htmx import HtmxRequest, page
from portal.pages.telemetry.curves import card_series, pool_series


@page("GET")
def card_usage(request: HtmxRequest, uid: str) -> HttpResponse:
    """One card over the span that was chosen; what tenants do on its slices is not in it."""
    card = get_object_or_404(Card.objects.select_related("node"), uid=uid)
    width, generation = link_now(card=card.pk)
    context = {
        "card": card,
        "series": card_series(card.pk, request.GET.get("span", "")),
        "width": width,
        "generation": generation,
        "most_width": card.facts.get("pcie_width_max"),
        "most_generation": card.facts.get("pcie_generation_max"),
    }
    return render(request, "pages/telemetry/_card.html", context)


@page("GET")
def card_weeks(request: HtmxRequest, uid: str) -> HttpResponse:
    """How busy each hour of each weekday was, and in which the card was alerted."""
    card = get_object_or_404(Card.objects.select_related("node"), uid=uid)
    zone = request.user.zone or "UTC"
    hours = card_week(card=card, at=now(), zone=zone)
    cells = [
        {"hour": one, "shade": "" if one.util is None else min(10, max(0, round(one.util / 10)))}
        for one in hours
    ]
    context = {
        "card": card,
        "rows": [
            {"day": WEEK[str(day)], "cells": cells[day * 24 : day * 24 + 24]} for day in range(7)
        ],
        "hour_names": range(24),
        "zone": zone,
        "days": DAYS,
        "known": any(one.util is not None for one in hours),
        "alerts": sum(one.alerts for one in hours),
    }
    return render(request, "pages/telemetry/_weeks.html", context)


@page("GET")
def pool_usage(request: HtmxRequest) -> HttpResponse:
    """All cards together over the span that was chosen; who uses them is not in it."""
    series = pool_series(request.GET.get("span", ""))
    return render(request, "pages/telemetry/_pool.html", {"series": series})
