"""Nodes, their cards, and what lies on them now."""

from django.db.models import Prefetch, QuerySet

from pool.lifecycle.nodes import NodeState
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.slices import Slice


def open_holds() -> QuerySet[Hold]:
    """Holds that still hold, with who holds."""
    return Hold.objects.filter(held__upper_inf=True).select_related(
        "placement__attempt__workload__project__organization",
        "placement__attempt__workload__owner",
        "placement__attempt__workload__template_version",
    )


def living_slices() -> QuerySet[Slice]:
    """Slices that are not gone, each with its open hold in `now_held`."""
    held = Prefetch("holds", queryset=open_holds(), to_attr="now_held")
    return Slice.objects.filter(lived__upper_inf=True).prefetch_related(held).order_by("span", "pk")


def node_map(*, retired: bool = False) -> QuerySet[Node]:
    """Nodes → cards → living slices → holders, in four queries whatever the size."""
    slices = Prefetch("slices", queryset=living_slices(), to_attr="living")
    cards = Card.objects.select_related("partition").prefetch_related(slices).order_by("index")
    rows = Node.objects.prefetch_related(Prefetch("cards", queryset=cards))
    if not retired:
        rows = rows.exclude(state=NodeState.RETIRED)
    return rows.order_by("name_folded")


def card_list() -> QuerySet[Card]:
    """Cards with node, partition and living slices."""
    slices = Prefetch("slices", queryset=living_slices(), to_attr="living")
    return Card.objects.select_related("partition", "node").prefetch_related(slices)
