"""Cards added to a pool without work, or taken away: whole machines like those that are there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from pool.replay.whatif.trace import World
from pool.scheduling.model import CardState, NodeState, Snapshot

PER_NODE = 8
"""So many cards a machine has of a model that is not there yet."""

PLENTY = 10**9
"""CPU and memory of a machine that stands beside nothing to be like."""


def with_cards(
    snapshot: Snapshot, world: World, partition: str, model: str, count: int
) -> Snapshot:
    """The pool with so many cards of the model in the partition.

    The last ones go first; new ones come in machines like the fullest that is there.

    Raises:
        LookupError: no such partition, or nobody knows such a card.
    """
    place = next((key for key, name in world.names.items() if name == partition), None)
    if place is None:
        raise LookupError(partition)
    mine = [c for c in snapshot.cards if c.partition == place and c.label == model]
    mine.sort(key=lambda card: (card.node, card.id))
    if count < len(mine):
        return _less(snapshot, mine[count:])
    if count > len(mine):
        return _more(snapshot, world, mine, (place, model), count - len(mine))
    return snapshot


def models_of(world: World) -> dict[tuple[int, str], int]:
    """How many cards of each model each partition has."""
    return dict(Counter((card.partition, card.label) for card in world.snapshot.cards))


def _less(snapshot: Snapshot, gone: Sequence[CardState]) -> Snapshot:
    """Without these cards; a machine that loses its last one goes too."""
    lost = {card.id for card in gone}
    cards = tuple(card for card in snapshot.cards if card.id not in lost)
    bare = {card.node for card in gone} - {card.node for card in cards}
    nodes = tuple(node for node in snapshot.nodes if node.id not in bare)
    return replace(snapshot, cards=cards, nodes=nodes)


def _more(
    snapshot: Snapshot,
    world: World,
    mine: Sequence[CardState],
    place: tuple[int, str],
    count: int,
) -> Snapshot:
    node, pattern = _pattern(snapshot, world, mine, place)
    nodes, cards = list(snapshot.nodes), list(snapshot.cards)
    next_node = max((one.id for one in nodes), default=0) + 1
    next_card = max((one.id for one in cards), default=0) + 1
    while count > 0:
        some = pattern[:count]
        fresh = {card.id: next_card + i for i, card in enumerate(some)}
        nodes.append(replace(node, id=next_node, name=f"new-{next_node}"))
        for card in some:
            links = tuple((fresh[peer], score) for peer, score in card.links if peer in fresh)
            cards.append(
                replace(
                    card,
                    id=fresh[card.id],
                    uuid=f"new-{fresh[card.id]}",
                    node=next_node,
                    partition=place[0],
                    links=links,
                )
            )
        count, next_node, next_card = count - len(some), next_node + 1, next_card + len(some)
    return replace(snapshot, nodes=tuple(nodes), cards=tuple(cards))


def _pattern(
    snapshot: Snapshot, world: World, mine: Sequence[CardState], place: tuple[int, str]
) -> tuple[NodeState, Sequence[CardState]]:
    """A machine and its cards to copy: of this place, of another, or as the model is published."""
    known = {node.id: node for node in world.snapshot.nodes}
    like = list(mine) or [c for c in world.snapshot.cards if c.label == place[1]]
    if like:
        counts = Counter(card.node for card in like)
        most = min(counts, key=lambda node: (-counts[node], node))
        chosen = [card for card in like if card.node == most]
        return known.get(most, _roomy()), sorted(chosen, key=lambda card: card.id)
    patterns = [card for card in world.patterns if card.label == place[1]]
    if not patterns:
        raise LookupError(place[1])
    modes = frozenset().union(*(c.modes for c in snapshot.cards if c.partition == place[0]))
    one = replace(patterns[0], modes=patterns[0].modes & modes or patterns[0].modes)
    return _roomy(), [replace(one, id=i, index=i) for i in range(PER_NODE)]


def _roomy() -> NodeState:
    return NodeState(
        id=0,
        name="new",
        cpu_milli=PLENTY,
        memory_mib=PLENTY,
        disk_mib=PLENTY,
        cpu_free_milli=PLENTY,
        memory_free_mib=PLENTY,
        disk_free_mib=PLENTY,
    )
