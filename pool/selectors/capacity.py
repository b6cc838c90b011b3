"""What fits now: whole cards, slices by profile and shares that could start without waiting."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from nodeagent.protocol.vocabulary import Mode
from pool.carving.geometry import EMPTY, Cut, Layout, capacity, cut_of, free_places
from pool.lifecycle.cards import CardState
from pool.lifecycle.nodes import NodeState
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.slices import Slice
from pool.selectors.offers import card_facts, geometry_of


@dataclass(slots=True)
class Fits:
    """Room on one model of card. `profiles` counts each kind as if only that kind were asked for.

    `free_milli` sums what is free of compute in thousandths of a card.
    """

    label: str
    nominal_gb: int
    cards: int = 0
    whole: int = 0
    offered: int = 0
    free_milli: int = 0
    profiles: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Room:
    """One card's room: compute and memory held, and how many more of each profile would fit."""

    held_milli: int
    held_mib: int
    profiles: dict[str, int]


def fits_now(*, nodes: Iterable[Node]) -> list[Fits]:
    """Room by model over the nodes of `node_map`; cards that are closed offer nothing."""
    found: dict[str, Fits] = {}
    for node in nodes:
        for card in node.cards.all():
            fits = found.setdefault(card.label, Fits(card.label, card.nominal_gb))
            fits.cards += 1
            if node.state == NodeState.READY and card.state == CardState.READY and card.offered:
                _add(fits, card)
    return sorted(found.values(), key=lambda one: (-one.nominal_gb, one.label))


def _add(fits: Fits, card: Card) -> None:
    room = room_on(card)
    fits.offered += 1
    fits.whole += room.held_milli == 0 and room.held_mib == 0
    fits.free_milli += max(0, 1000 - room.held_milli)
    for name, count in room.profiles.items():
        fits.profiles[name] = fits.profiles.get(name, 0) + count


def room_on(card: Card) -> Room:
    """What the card could still give; idle slices count as room, held ones stay where they are."""
    held = [one for one in card.living if one.now_held]  # type: ignore[attr-defined]
    milli = sum(one.compute_milli for one in held)
    mib = sum(one.memory_mib for one in held)
    mode = held[0].mode if held else Mode.MIG
    geometry = geometry_of(card_facts(card), Mode.MIG)
    if geometry is None or mode != Mode.MIG or Mode.MIG not in _modes(card):
        return Room(milli, mib, {})
    cut = cut_of(geometry)
    layout = _layout(cut, held)
    plain = [i for i, p in enumerate(geometry.profiles) if "+" not in p.name and "-" not in p.name]
    counts = {geometry.profiles[i].name: capacity(cut, layout, i) for i in plain}
    return Room(milli, mib, counts)


def _modes(card: Card) -> list[str]:
    return card.partition.modes if card.partition else []


def _layout(cut: Cut, held: list[Slice]) -> Layout:
    layout = EMPTY
    for one in held:
        index = cut.index(one.profile)
        if index is None or one.span is None:
            continue
        places = free_places(cut, layout, index)
        place = next((p for p in places if p.start == one.span.lower), None)
        layout = layout.plus(place) if place else layout
    return layout
