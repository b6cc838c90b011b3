"""The baseline: a week by hours, as a heat map that names the empty hours."""

from hashlib import sha256
from typing import Any

from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from pool.clock import now
from pool.models import Node
from pool.selectors.alerting.baseline import LEAST_DAYS, Baseline, Hour, baseline_of, waited_in
from pool.selectors.workloads import workload_list
from portal.pages.alerting.ways import WEEK
from portal.pages.htmx import HtmxRequest, page

DAYS = {"7": 7, "14": 14, "28": 28}
SHOWN = {
    "util": gettext_lazy("GPU utilisation, mean"),
    "util_p95": gettext_lazy("GPU utilisation, 95th percentile"),
    "sm": gettext_lazy("SM activity, mean"),
    "sm_p95": gettext_lazy("SM activity, 95th percentile"),
    "occupancy": gettext_lazy("SM occupancy, mean"),
    "occupancy_p95": gettext_lazy("SM occupancy, 95th percentile"),
    "memory": gettext_lazy("Memory in use, mean"),
    "memory_p95": gettext_lazy("Memory in use, 95th percentile"),
    "tasks": gettext_lazy("Tasks, mean"),
    "tasks_p95": gettext_lazy("Tasks, 95th percentile"),
    "wait_s": gettext_lazy("Wait in the queue, mean"),
    "wait_s_p95": gettext_lazy("Wait in the queue, 95th percentile"),
}
"""What the map can be of; all but tasks and waits in per cent."""

PER_CENT = 100.0
NAMED = 8
"""So many empty hours are named."""

KEPT_S = 3600


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Of one node, or of all."""
    nodes = list(Node.objects.exclude(state="retired").order_by("name_folded"))
    node = next((one for one in nodes if one.uid == request.GET.get("node", "")), None)
    days = DAYS.get(request.GET.get("days", ""), 7)
    number = request.GET.get("number", "util")
    number = number if number in SHOWN else "util"
    zone = request.user.zone or "UTC"
    base = baseline_for(node=node, days=days, zone=zone)
    context = {
        "base": base,
        "rows": _rows(base, number),
        "nodes": nodes,
        "node": node,
        "days": days,
        "all_days": DAYS,
        "number": number,
        "numbers": SHOWN,
        "kind": number.removesuffix("_p95"),
        "waited": waited_in(
            rows=workload_list(standing=request.standing), base=base, node=node, zone=zone
        )[:NAMED],
        "zone": zone,
        "empty": [(WEEK[str(one.weekday)], one) for one in base.empty_hours[:NAMED]],
        "least": LEAST_DAYS,
        "hour_names": range(24),
    }
    return render(request, "pages/baseline/index.html", context)


def baseline_for(*, node: Node | None, days: int, zone: str) -> Baseline:
    """The week as it was first asked for in this hour: readings are condensed by the hour, and four
    weeks of all cards are too much to be read at every look.
    """
    at = now()
    said = f"{node.pk if node is not None else 0} {days} {zone} {at:%Y-%m-%d %H}"
    key = f"baseline-{sha256(said.encode()).hexdigest()[:40]}"
    found: Baseline | None = cache.get(key)
    if found is None:
        found = baseline_of(node=node, days=days, at=at, zone=zone)
        cache.set(key, found, KEPT_S)
    return found


def _rows(base: Baseline, number: str) -> list[dict[str, Any]]:
    """Seven rows of 24 fields; `shade` is 0 to 10, or empty where nothing is known.

    What is no share is shaded against the highest of the week.
    """
    most = PER_CENT
    if number.removesuffix("_p95") in {"tasks", "wait_s"}:
        most = max((getattr(one, number) or 0.0 for one in base.hours), default=0.0) or 1.0
    return [
        {
            "day": WEEK[str(weekday)],
            "cells": [
                _cell(one, number, most) for one in base.hours[weekday * 24 : weekday * 24 + 24]
            ],
        }
        for weekday in range(7)
    ]


def _cell(one: Hour, number: str, most: float) -> dict[str, Any]:
    value: float | None = getattr(one, number)
    shade = "" if value is None else str(min(10, max(0, round(value / most * 10))))
    minutes = None if value is None else value / 60
    return {"hour": one, "value": value, "minutes": minutes, "shade": shade}
