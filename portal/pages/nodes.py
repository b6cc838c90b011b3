"""Nodes and their cards as lists; the end of a node, said by a person."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _

from pool.errors import PoolError
from pool.events import Actor
from pool.lifecycle.nodes import NodeState
from pool.selectors.nodes import node_map
from pool.selectors.offers import card_facts
from pool.services.nodes import node_confirm_dead, node_retire
from portal.access.guards import guard, may
from portal.access.roles import Verb
from portal.pages.drawing import racks
from portal.pages.htmx import HtmxRequest, go, page
from portal.pages.map import knows

PAGE = "pages/nodes/detail.html"
ENDS = {"confirm-dead": NodeState.SILENT, "retire": NodeState.LOST}
"""What a person may say of a node, and the state in which it can be said."""


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Every node with its cards in numbers."""
    drawn = racks(nodes=node_map(), knows=knows(request.standing))
    return render(request, "pages/nodes/index.html", {"racks": drawn})


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One node: what it is, how it does, what runs there."""
    return render(request, PAGE, _context(request, uid))


@page("POST")
def end(request: HtmxRequest, uid: str, verb: str) -> HttpResponse:
    """A person vouches that a silent node is dead, or that a lost one never comes back."""
    guard(request.standing, Verb.NODE_MANAGE)
    if verb not in ENDS:
        raise Http404
    node = get_object_or_404(node_map(), uid=uid)
    reason = request.POST.get("reason", "").replace("\0", "").strip()[:200]
    if not reason:
        said = _("Say how you know.")
        return render(request, PAGE, _context(request, uid) | {"refused": said}, status=422)
    act = node_confirm_dead if verb == "confirm-dead" else node_retire
    try:
        act(node=node, actor=Actor.of(request.user), reason=reason)
    except PoolError as error:
        context = _context(request, uid) | {"refused": str(error)}
        return render(request, PAGE, context, status=error.status)
    return go(request, reverse("nodes" if verb == "retire" else "node", args=_named(verb, uid)))


def _named(verb: str, uid: str) -> list[str]:
    return [] if verb == "retire" else [uid]


def _context(request: HtmxRequest, uid: str) -> dict[str, Any]:
    node = get_object_or_404(node_map(retired=True), uid=uid)
    manages = may(request.standing, Verb.NODE_MANAGE)
    ends = [verb for verb, state in ENDS.items() if manages and node.state == state]
    return {
        "end": next(iter(ends), ""),
        "rack": racks(nodes=[node], knows=knows(request.standing))[0],
        "facts": [card_facts(card) for card in node.cards.all()],
        "notes": node.host.get("notes", []),
    }
