"""The queue: what waits, in order, with the reason in words; others' work only as numbers."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse

from pool.models.workloads import OUT_OF_TURN
from pool.selectors.partitions import partition_list
from pool.selectors.queue import (
    NEW,
    Cursor,
    Part,
    queue_length,
    queue_narrow,
    queue_part,
    queue_reasons,
)
from pool.selectors.tenants import project_list
from portal.access.guards import may
from portal.access.roles import Verb
from portal.pages.htmx import HtmxRequest, fragment, page

SIZE = 60
START: Cursor = (-1, 0)
FILTERS = ("project", "partition", "reason")


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One stretch of the queue, and how many wait for what."""
    asked = {name: request.GET.get(name, "")[:63] for name in FILTERS}
    mine = request.GET.get("whose") == "mine"
    filtered = mine or any(asked.values())
    wanted = queue_narrow(standing=request.standing, mine=mine, **asked)
    part = queue_part(
        standing=request.standing,
        wanted=wanted,
        others=not filtered,
        after=_cursor(request.GET.get("after", "")),
        size=SIZE,
        pieces=bool(asked["reason"]),
    )
    counted = {name: said for name, said in asked.items() if name != "reason"}
    reasons = queue_reasons(wanted=queue_narrow(standing=request.standing, mine=mine, **counted))
    context = {
        "turns": _timed(part),
        "reasons": _groups(request, reasons, asked["reason"]),
        "seen": sum(n for _reason, n in reasons),
        "length": queue_length(),
        "projects": project_list(standing=request.standing),
        "partitions": partition_list(standing=request.standing),
        "mine": mine,
        "asked": asked,
        "filtered": filtered,
        "standing": request.standing,
        "steers": may(request.standing, Verb.QUEUE_STEER),
        **_links(request, part),
    }
    return fragment(request, "pages/queue/index.html", "pages/queue/_rows.html", context)


def planned(waits: Mapping[str, Any] | None) -> dict[str, datetime | None]:
    """When it is expected to start: early and late, None where the plan does not know."""
    told = waits or {}
    early = told.get("starts_p50_s")
    moments = {
        "starts": told.get("starts_s") if early is None else early,
        "late": told.get("starts_p90_s"),
    }
    return {
        name: None if at is None else datetime.fromtimestamp(at, UTC)
        for name, at in moments.items()
    }


def _timed(part: Part) -> list[dict[str, object]]:
    """Each line with its place and its planned start, where the plan knows them."""
    lines: list[dict[str, object]] = []
    for turn in part.turns:
        waits = (turn.work.waits if turn.work else None) or {}
        line = {"work": turn.work, "others": turn.others, "position": waits.get("position")}
        lines.append(line | planned(waits))
    return lines


def _groups(
    request: HtmxRequest, reasons: list[tuple[str, int]], chosen: str
) -> list[dict[str, object]]:
    """A chip for each reason: how many, and the address that shows them alone, or all again."""
    kept = {name: said for name, said in request.GET.items() if name not in ("after", "reason")}
    groups = []
    for reason, n in reasons:
        name = reason or NEW
        on = name == chosen
        query = urlencode(kept if on else {**kept, "reason": name})
        groups.append({"reason": name, "n": n, "on": on, "query": f"?{query}"})
    return groups


def _links(request: HtmxRequest, part: Part) -> dict[str, str]:
    """Addresses of the start and of the next stretch, with the filters kept."""
    kept = {name: said for name, said in request.GET.items() if name != "after" and said}
    there = "" if part.after is None else f"{part.after[0]}.{part.after[1]}"
    return {
        "further": "?" + urlencode({**kept, "after": there}) if there else "",
        "front": "?" + urlencode(kept) if request.GET.get("after") else "",
    }


def _cursor(text: str) -> Cursor:
    """The place named in the address; the start for anything that is none."""
    place, _dot, key = text.partition(".")
    if text.isascii() and place.isdigit() and key.isdigit() and len(key) < 19:
        return (int(place[:11]), int(key)) if int(place[:11]) <= OUT_OF_TURN else START
    return START
