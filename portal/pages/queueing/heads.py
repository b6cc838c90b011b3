"""The heads' plan as a small chart: what frees when, and where short work may slip in."""

from datetime import UTC, datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from pool.cycle.outlook import Bar, BarKind, Outlook, outlooks
from pool.models.workloads import Workload
from pool.selectors.memberships import Standing
from pool.selectors.workloads import workload_list
from portal.explained import looked
from portal.pages.htmx import HtmxRequest, page

STALE_S = 5.0
"""The picture may be so old: everybody who watches the queue asks for it at every change."""


@page("GET")
def heads(request: HtmxRequest) -> HttpResponse:
    """The first heads of the queue; others' work is a bar without a name."""
    found = outlooks(looked(stale_s=STALE_S))
    seen = _seen(request.standing, found)
    context = {"heads": [head_context(one, seen) for one in found]}
    return render(request, "pages/queue/_heads.html", context)


def head_context(one: Outlook, seen: dict[int, Workload]) -> dict[str, Any]:
    """One head with its chart; what the reader may not see has no name."""
    name = f"head-{one.lanes[0].card.uuid}" if one.lanes else "head"
    return {
        "work": seen.get(one.workload),
        "frees": seen.get(one.frees or 0),
        "waits_for": one.frees is not None,
        "starts": datetime.fromtimestamp(one.at_s, UTC),
        "now": one.at_s <= one.now_s,
        "more": one.more,
        "id": name,
        "source": f"{name}-data",
        "chart": _chart(one, seen),
        "height": 40 + 28 * len(one.lanes),
    }


def _seen(standing: Standing, found: tuple[Outlook, ...]) -> dict[int, Workload]:
    """The work in the chart that the reader may know of."""
    keys = {bar.workload for one in found for lane in one.lanes for bar in lane.bars}
    keys |= {one.frees for one in found}
    return workload_list(standing=standing).in_bulk([key for key in keys if key])


def _chart(one: Outlook, seen: dict[int, Workload]) -> dict[str, Any]:
    """What the browser draws; times in milliseconds."""
    return {
        "now": one.now_s * 1000,
        "start": one.at_s * 1000,
        "words": {
            "running": _("runs until"),
            "gap": _("free for short work until"),
            "head": _("planned from"),
            "reserved": _("reserved until"),
            "maintenance": _("maintenance until"),
            "guess": _("the end is a guess"),
            "now": _("now"),
        },
        "lanes": [
            {
                "name": f"{lane.node} · {lane.card.index}",
                "what": lane.card.label,
                "bars": [_bar(bar, seen) for bar in lane.bars],
            }
            for lane in one.lanes
        ],
    }


def _bar(bar: Bar, seen: dict[int, Workload]) -> dict[str, Any]:
    work = seen.get(bar.workload or 0)
    hidden = _("another team's work") if bar.kind in (BarKind.RUNNING, BarKind.HEAD) else ""
    return {
        "kind": bar.kind.value,
        "from": bar.from_s * 1000,
        "until": bar.until_s * 1000,
        "known": bar.known,
        "name": hidden if work is None else work.name,
    }
