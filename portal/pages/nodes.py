"""Nodes and their cards as lists; out of service and back, and the end of a node, by a person."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.clock import now
from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.nodes import NodeState
from pool.models.nodes import Node
from pool.models.windows import Window
from pool.selectors.calendar.windows import Impact, impact_of, reach_of
from pool.selectors.memberships import Standing
from pool.selectors.nodes import node_map
from pool.selectors.offers import card_facts
from pool.services.nodes import (
    node_confirm_dead,
    node_cordon,
    node_drain,
    node_retire,
    node_uncordon,
)
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.pages.adoption.found import found_now
from portal.pages.drawing import Marks, marks_now, racks
from portal.pages.htmx import HtmxRequest, go, page
from portal.pages.map import knows

PAGE = "pages/nodes/detail.html"
ENDS = {"confirm-dead": NodeState.SILENT, "retire": NodeState.LOST}
"""What a person may say of a node, and the state in which it can be said."""
ACTS: dict[str, Callable[..., Node]] = {
    "cordon": node_cordon,
    "drain": node_drain,
    "uncordon": node_uncordon,
    "confirm-dead": node_confirm_dead,
    "retire": node_retire,
}
SERVICE = {
    NodeState.READY: ("cordon", "drain"),
    NodeState.CORDONED: ("uncordon", "drain"),
    NodeState.DRAINING: ("uncordon",),
}
"""What a person may do with a node that answers, by its state."""


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Every node with its cards in numbers."""
    drawn = racks(nodes=node_map(), knows=knows(request.standing), marks=marks_now(now()))
    manages = may(request.standing, Verb.NODE_MANAGE)
    context = {"racks": drawn, "manages": manages, "found": found_now() if manages else 0}
    return render(request, "pages/nodes/index.html", context)


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One node: what it is, how it does, what runs there."""
    return render(request, PAGE, _context(request, uid))


@page("POST")
def end(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """A person takes a node out of service or brings it back, vouches that a silent one is dead, or
    that a lost one never comes back."""
    guard(request.standing, Verb.NODE_MANAGE)
    if verb not in ACTS:
        raise Http404
    node = get_object_or_404(node_map(retired=True), uid=uid)
    reason = request.POST.get("reason", "").replace("\0", "").strip()[:200]
    if not reason and verb in ENDS:
        return _refused(request, uid, verb, _("Say how you know."), 422)
    if not reason and verb != "uncordon":
        return _refused(request, uid, verb, _("Say why: it is shown beside the node."), 422)
    try:
        ACTS[verb](node=node, actor=Actor.of(request.user), reason=reason)
    except PoolError as error:
        return _refused(request, uid, verb, str(error), error.status)
    return go(request, reverse("nodes") if verb == "retire" else reverse("node", args=[uid]))


def _refused(request: HtmxRequest, uid: str, verb: str, said: str, status: int) -> HttpResponse:
    """The node as it stands now, with why not: beside the field where the act is offered still,
    else above all, for the node has moved on since the page was opened."""
    context = _context(request, uid)
    place = "end_" if verb == context["end"] else "service_" if verb in context["service"] else ""
    typed = request.POST.get("reason", "")[:200]
    context |= {f"{place}refused": said, f"{place}reason": typed}
    return render(request, PAGE, context, status=status)


def _context(request: HtmxRequest, uid: str) -> dict[str, Any]:
    node = get_object_or_404(node_map(retired=True), uid=uid)
    manages = may(request.standing, Verb.NODE_MANAGE)
    ends = [verb for verb, state in ENDS.items() if manages and node.state == state]
    marks = marks_now(now())
    service = SERVICE.get(NodeState(node.state), ()) if manages else ()
    return {
        "end": next(iter(ends), ""),
        "service": service,
        "impact": _impact(node) if service else None,
        "windows": _windows(marks, node),
        "rack": racks(nodes=[node], knows=knows(request.standing), marks=marks)[0],
        "facts": [card_facts(card) for card in node.cards.all()],
        "notes": node.host.get("notes", []),
    }


def live_context(uid: str, *, standing: Standing) -> dict[str, Any] | None:
    """The node's cards, as they are now; None where there is none of this uid."""
    node = node_map(retired=True).filter(uid=uid).first()
    if node is None:
        return None
    return {"rack": racks(nodes=[node], knows=knows(standing), marks=marks_now(now()))[0]}


def _impact(node: Node) -> Impact:
    """Who is hit when the node is taken out now."""
    at = now()
    reach = reach_of(cards=[], nodes=[node], partitions=[])
    return impact_of(reach=reach, starts_at=at, ends_at=at + timedelta(hours=1), now=at)


def _windows(marks: Marks, node: Node) -> list[Window]:
    """Maintenance of its cards, each once."""
    found = {one.pk: one for c in node.cards.all() if (one := marks.windows.get(c.pk))}
    return list(found.values())
