"""Nodes and their cards as lists."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from pool.selectors.nodes import node_map
from pool.selectors.offers import card_facts
from portal.pages.drawing import racks
from portal.pages.htmx import HtmxRequest, page
from portal.pages.map import knows


@page("GET")
def index(request: HtmxRequest) -> HttpResponse:
    """Every node with its cards in numbers."""
    drawn = racks(nodes=node_map(), knows=knows(request.standing))
    return render(request, "pages/nodes/index.html", {"racks": drawn})


@page("GET")
def detail(request: HtmxRequest, uid: str) -> HttpResponse:
    """One node: what it is, how it does, what runs there."""
    node = get_object_or_404(node_map(retired=True), uid=uid)
    context = {
        "rack": racks(nodes=[node], knows=knows(request.standing))[0],
        "facts": [card_facts(card) for card in node.cards.all()],
        "notes": node.host.get("notes", []),
    }
    return render(request, "pages/nodes/detail.html", context)
