"""Which cards are kept for a reserved lease, judged on what is known of them over the span."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

NODE, SPREAD, NETWORK = "node", "spread", "network"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One card that could carry the need, over the asked span.

    `kept` is true when another reservation or a maintenance window has it at some time of the
    span. `busy_until` is when its present work is expected to end, None when it is idle; work that
    gives way (preemptible) does not count. `per_card` parts fit on it when it is empty. `mine` are
    the cards of the lease that this one goes on from; they are kept before all others.
    """

    card: int
    node: int
    label: str
    per_card: int
    kept: bool = False
    busy_until: datetime | None = None
    strength: int = 0
    mine: bool = False


def cards_to_keep(
    candidates: Iterable[Candidate], *, copies: int, parts: int, topology: str, starts_at: datetime
) -> tuple[int, ...] | None:
    """The cards to keep for so many copies of `parts` parts each, None when there are not enough.

    All of one kind. The parts of a copy lie on one node unless the need spreads them. Idle cards
    are kept before busy ones, and fewest cards before many; ids break ties.
    """
    free = [one for one in candidates if _open(one, starts_at)]
    for label in sorted({one.label for one in free}, key=lambda name: _dearness(free, name)):
        of_kind = [one for one in free if one.label == label]
        found = _of_one_kind(of_kind, copies, parts, topology)
        if found is not None:
            return found
    return None


def _open(one: Candidate, starts_at: datetime) -> bool:
    late = one.busy_until is not None and one.busy_until > starts_at
    return one.per_card > 0 and not one.kept and not late


def _dearness(free: Sequence[Candidate], label: str) -> tuple[int, str]:
    """Weak kinds first: the strong ones are for work that needs them."""
    return min(one.strength for one in free if one.label == label), label


def _of_one_kind(
    cards: Sequence[Candidate], copies: int, parts: int, topology: str
) -> tuple[int, ...] | None:
    ordered = sorted(cards, key=lambda one: (not one.mine, one.busy_until is not None, one.card))
    if topology in (SPREAD, NETWORK):
        return _spread(ordered, copies, parts, topology)
    left: dict[int, list[Candidate]] = {}
    for one in ordered:
        left.setdefault(one.node, []).append(one)
    chosen: list[int] = []
    room: dict[int, int] = {}
    for _ in range(copies):
        node = _node_for(left, room, parts)
        if node is None:
            return None
        while room.get(node, 0) < parts:
            card = left[node].pop(0)
            chosen.append(card.card)
            room[node] = room.get(node, 0) + card.per_card
        room[node] -= parts
    return tuple(sorted(chosen))


def _node_for(left: dict[int, list[Candidate]], room: dict[int, int], parts: int) -> int | None:
    """The node that needs fewest cards more for another copy; the fullest of those."""
    best: tuple[int, int, int] | None = None
    for node, cards in left.items():
        have, more = room.get(node, 0), 0
        for card in cards:
            if have >= parts:
                break
            have, more = have + card.per_card, more + 1
        if have >= parts:
            key = (more, len(cards), node)
            best = min(best, key) if best else key
    return best[2] if best else None


def _spread(
    ordered: Sequence[Candidate], copies: int, parts: int, topology: str
) -> tuple[int, ...] | None:
    """Parts over many cards: each part of a copy on another node when they are to be spread."""
    wanted = copies * parts
    if topology == SPREAD:
        nodes: dict[int, list[Candidate]] = {}
        for one in ordered:
            nodes.setdefault(one.node, []).append(one)
        if len(nodes) < parts:
            return None
        chosen = []
        for node in sorted(nodes)[:parts]:
            taken = _enough(nodes[node], copies)
            if taken is None:
                return None
            chosen += taken
        return tuple(sorted(chosen))
    taken = _enough(ordered, wanted)
    return None if taken is None else tuple(sorted(taken))


def _enough(cards: Sequence[Candidate], parts: int) -> list[int] | None:
    chosen, have = [], 0
    for one in cards:
        if have >= parts:
            break
        chosen.append(one.card)
        have += one.per_card
    return chosen if have >= parts else None
