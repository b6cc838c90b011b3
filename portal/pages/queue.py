"""The queue: what waits, in order, with the reason in words; others' work only as numbers."""

from datetime import UTC, datetime
from urllib.parse import urlencode

from django.http import HttpResponse

from pool.selectors.queue import (
    Cursor,
    Part,
    queue_length,
    queue_narrow,
    queue_part,
    queue_reasons,
)
from pool.selectors.tenants import project_list
from portal.pages.htmx import HtmxRequest, fragment, page

SIZE = 60
START: Cursor = (-1, 0)


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """One stretch of the queue, and how many wait for what."""
    mine = request.GET.get("whose") == "mine"
    project = request.GET.get("project", "")
    filtered = mine or bool(project)
    wanted = queue_narrow(mine=mine, project=project, standing=request.standing)
    part = queue_part(
        standing=request.standing,
        wanted=wanted,
        others=not filtered,
        after=_cursor(request.GET.get("after", "")),
        size=SIZE,
    )
    reasons = queue_reasons(wanted=wanted)
    context = {
        "turns": _timed(part),
        "reasons": [{"waits": {"reason": reason, "detail": "…"}, "n": n} for reason, n in reasons],
        "seen": sum(n for _reason, n in reasons),
        "length": queue_length(),
        "projects": project_list(standing=request.standing),
        "mine": mine,
        "project": project,
        "filtered": filtered,
        "standing": request.standing,
        **_links(request, part),
    }
    return fragment(request, "pages/queue/index.html", "pages/queue/_rows.html", context)


def _timed(part: Part) -> list[dict[str, object]]:
    """Each line with its place and its planned start, where the plan knows them."""
    lines: list[dict[str, object]] = []
    for turn in part.turns:
        waits = (turn.work.waits if turn.work else None) or {}
        starts = waits.get("starts_s")
        lines.append(
            {
                "work": turn.work,
                "others": turn.others,
                "position": waits.get("position"),
                "starts": None if starts is None else datetime.fromtimestamp(starts, UTC),
            }
        )
    return lines


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
    if text.isascii() and place.isdigit() and key.isdigit() and max(map(len, (place, key))) < 10:
        return int(place), int(key)
    return START
