"""Who must give way: the cheapest set that makes room, whole gangs, nobody without need."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pool.scheduling.board import Board
from pool.scheduling.calendar import at, timed
from pool.scheduling.model import (
    Eviction,
    Placed,
    PriorityClass,
    Topology,
    Waiting,
)
from pool.scheduling.offer import has_room, offer
from pool.scheduling.take import release
from pool.scheduling.victims import Victim, allowed, eligible, gives_back

EXACT_UP_TO = 8
"""With so few possible victims every set of them is tried, best first."""


@dataclass(frozen=True, slots=True)
class Ousting:
    """A winner's victims, and where it starts at `at_s`, once they are gone."""

    evictions: tuple[Eviction, ...]
    placed: Placed
    after: Board
    at_s: float


def oust(board: Board, work: Waiting, gone: Sequence[Eviction]) -> Ousting | None:
    """The cheapest set of victims that lets the work start; None when there is none, or no need.

    `gone` are the evictions ordered earlier in this round. A workload that already has a promise
    of room waits for it and takes no more victims. One that has room, and is stopped by its own
    limit alone, waits for that.
    """
    snapshot = board.snapshot
    if not snapshot.rules.preemption or work.over or work.priority_class is PriorityClass.SCAVENGER:
        return None
    if any(promise.workload == work.id for promise in snapshot.promises):
        return None
    victims = list(eligible(board, work, gone))
    if not any(gives_back(work, victims, partition) for partition in work.partitions):
        return None
    if _waits_for_its_limit(board, work) or _all_do_not_do(board, work, victims):
        return None
    for chosen in _sets(board, work, victims):
        if not _makes_room(board, work, chosen):
            continue
        chosen = _needed(board, work, chosen)
        if allowed(board, chosen, gone):
            return _ousting(board, work, chosen)
    return None


def _waits_for_its_limit(board: Board, work: Waiting) -> bool:
    """Whether it has room, and is stopped by its own limit alone."""
    return work.short is not None and has_room(board, work) is not None


def _all_do_not_do(board: Board, work: Waiting, victims: Sequence[Victim]) -> bool:
    """Whether there would be no room even if all left: then no set of them need be tried.

    Only where room that some make is there too when all leave, wherever the work would then go.
    """
    placed = work.spent or timed(board.snapshot) or not (work.need.whole or work.need.parts == 1)
    if len(victims) < 2 or placed or work.priority_class is PriorityClass.CRITICAL:
        return False
    return not _makes_room(board, work, victims)


def _makes_room(board: Board, work: Waiting, chosen: Sequence[Victim]) -> bool:
    """Whether the work could start once these have left, by the room and by its used-up limits."""
    partition = has_room(_without(board, chosen), work)
    return partition is not None and gives_back(work, chosen, partition)


def _without(board: Board, chosen: Sequence[Victim]) -> Board:
    """The board once these have left, judged as of then."""
    after = board.copy()
    after.headroom = None
    if timed(board.snapshot):
        after.snapshot = at(board.snapshot, _left_s(board, chosen))
    for victim in chosen:
        release(after, victim.running)
    return after


def _ousting(board: Board, work: Waiting, chosen: Sequence[Victim]) -> Ousting | None:
    after = _without(board, chosen)
    placed = offer(after, work)
    if placed is None:
        return None
    orders = tuple(_eviction(work, victim) for victim in chosen)
    return Ousting(orders, placed, after, _left_s(board, chosen))


def _left_s(board: Board, chosen: Sequence[Victim]) -> float:
    """When the last of them has had its time to leave."""
    return board.snapshot.now_s + max(victim.notice_s for victim in chosen)


def _eviction(work: Waiting, victim: Victim) -> Eviction:
    return Eviction(
        victim=victim.running.id,
        winner=work.id,
        lost_card_s=victim.lost,
        hand_back=victim.back,
        overrun=victim.overrun and not victim.back,
        notice_s=victim.notice_s,
    )


def _sets(board: Board, work: Waiting, victims: Sequence[Victim]) -> Iterator[tuple[Victim, ...]]:
    """Sets of victims, least lost work first, then the fewest of them."""
    if len(victims) <= EXACT_UP_TO:
        yield from _growing(victims)
    elif work.need.topology in (Topology.NODE, Topology.LINKED):
        yield from _by_node(board, work, victims)
    else:
        yield from _cheapest_first(board, work, victims)


def _growing(victims: Sequence[Victim]) -> Iterator[tuple[Victim, ...]]:
    """Every set, in order of lost work and number: exact."""
    ordered = sorted(victims, key=lambda v: (v.cost, v.running.id))
    heap: list[tuple[float, int, tuple[int, ...]]] = []
    if ordered:
        heap.append((ordered[0].cost, 1, (0,)))
    while heap:
        lost, count, chosen = heapq.heappop(heap)
        yield tuple(ordered[i] for i in chosen)
        last, step = chosen[-1], chosen[-1] + 1
        if step < len(ordered):
            more = ordered[step].cost
            heapq.heappush(heap, (lost + more, count + 1, (*chosen, step)))
            swapped = lost - ordered[last].cost + more
            heapq.heappush(heap, (swapped, count, (*chosen[:-1], step)))


def _by_node(
    board: Board, work: Waiting, victims: Sequence[Victim]
) -> Iterator[tuple[Victim, ...]]:
    """Node by node, the cheapest victims that free enough cards there; cheapest nodes first."""
    on: dict[int, list[Victim]] = {}
    for victim in victims:
        for node in {host[0] for host in victim.running.hosts}:
            on.setdefault(node, []).append(victim)
    found = []
    for node, here in sorted(on.items()):
        chosen = _enough(board, work, node, here)
        if chosen:
            lost = sum(victim.cost for victim in chosen)
            found.append((lost, len(chosen), node, chosen))
    for _, _, node, chosen in sorted(found, key=lambda entry: entry[:3]):
        yield chosen
        if len(on[node]) <= EXACT_UP_TO and not work.need.whole:
            yield from _growing(on[node])
        elif set(chosen) != set(on[node]):
            yield tuple(on[node])


def _enough(
    board: Board, work: Waiting, node: int, victims: Sequence[Victim]
) -> tuple[Victim, ...]:
    """The cheapest victims whose cards, with those free, are as many as the work needs.

    Exact for whole cards held whole; for shares the single cheapest victim is a first guess.
    """
    if not work.need.whole:
        return (min(victims, key=lambda v: (v.cost, v.running.id)),)
    cards = board.cards
    row = board.nodes.index[node]
    free = int(((cards.node == row) & (cards.whole >= 0) & cards.offered).sum())
    short = work.need.parts - free
    best: dict[int, tuple[float, int, tuple[Victim, ...]]] = {0: (0.0, 0, ())}
    for victim in victims:
        gives = sum(int(cards.node[board.words.where[s]]) == row for s in victim.running.slices)
        for have, (lost, count, chosen) in sorted(best.items(), reverse=True):
            then = min(max(short, 0), have + gives)
            entry = (lost + victim.cost, count + 1, (*chosen, victim))
            if then not in best or entry[:2] < best[then][:2]:
                best[then] = entry
    return best[short][2] if short in best else ()


def _cheapest_first(
    board: Board, work: Waiting, victims: Sequence[Victim]
) -> Iterator[tuple[Victim, ...]]:
    """One more victim at a time; the set is thinned out afterwards."""
    ordered = sorted(victims, key=lambda v: (v.cost, v.running.id))
    step = max(1, work.need.parts // 2)
    for count in range(step, len(ordered) + step, step):
        yield tuple(ordered[:count])


def _needed(board: Board, work: Waiting, chosen: Sequence[Victim]) -> tuple[Victim, ...]:
    """The set without anybody whose leaving is not needed, dearest spared first."""
    kept = sorted(chosen, key=lambda v: (-v.cost, v.running.id))
    for victim in tuple(kept):
        others = [other for other in kept if other is not victim]
        if others and _makes_room(board, work, others):
            kept = others
    return tuple(sorted(kept, key=lambda v: (v.cost, v.running.id)))
