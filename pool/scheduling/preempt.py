"""Who must give way: the least lost work, whole gangs, never critical, capped by project."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from pool.carving.sizes import FULL, MICRO
from pool.scheduling.board import Board
from pool.scheduling.model import (
    Eviction,
    Placed,
    PriorityClass,
    Running,
    Topology,
    Waiting,
)
from pool.scheduling.offer import offer
from pool.scheduling.order import CLASS_RANK
from pool.scheduling.quota import is_borrowed
from pool.scheduling.take import release

EXACT_UP_TO = 8
"""With so few possible victims every set of them is tried, best first."""

ORDINARY = frozenset({PriorityClass.NORMAL, PriorityClass.HIGH})
"""Classes that the cap of requirement S5 protects."""


@dataclass(frozen=True, slots=True)
class Victim:
    """One workload that may be told to leave, and the card-seconds that would be lost."""

    running: Running
    lost: float
    hand_back: bool


@dataclass(frozen=True, slots=True)
class Ousting:
    """A winner's victims, and where it starts once they are gone."""

    evictions: tuple[Eviction, ...]
    placed: Placed
    after: Board


def oust(board: Board, work: Waiting, gone: Sequence[Eviction]) -> Ousting | None:
    """The cheapest set of victims that lets the work start; None when there is none, or no need.

    `gone` are the evictions ordered earlier in this round. A workload that already has a promise
    of room waits for it and takes no more victims.
    """
    snapshot = board.snapshot
    if not snapshot.rules.preemption or work.priority_class is PriorityClass.SCAVENGER:
        return None
    if any(promise.workload == work.id for promise in snapshot.promises):
        return None
    victims = list(_eligible(board, work, gone))
    for chosen in _sets(board, work, victims):
        after = board.copy()
        for victim in chosen:
            release(after, victim.running)
        placed = offer(after, work)
        if placed is not None:
            chosen = _needed(board, work, chosen)
            if not _under_cap(board, chosen, gone):
                return None
            evictions = tuple(_eviction(work, victim) for victim in chosen)
            return Ousting(evictions, placed, after)
    return None


def _eviction(work: Waiting, victim: Victim) -> Eviction:
    return Eviction(
        victim=victim.running.id,
        winner=work.id,
        lost_card_s=victim.lost,
        hand_back=victim.hand_back,
    )


def lost_card_s(running: Running, now_s: float) -> float:
    """Card-seconds since the last checkpoint (or the start) that leaving now would throw away."""
    return running.card_micro / MICRO * max(0.0, now_s - running.lost_since_s)


def _eligible(board: Board, work: Waiting, gone: Sequence[Eviction]) -> Iterator[Victim]:
    """Lower class and willing, or a borrower before its owner; never critical, never protected."""
    now = board.snapshot.now_s
    leaving = {eviction.victim for eviction in gone}
    owner = not _borrows(board, work)
    for run in sorted(board.snapshot.running, key=lambda r: r.id):
        if run.leaving or run.id in leaving or run.priority_class is PriorityClass.CRITICAL:
            continue
        if run.protected_until_s > now or not _lends(board, work, run):
            continue
        back = run.borrowed and owner and not set(run.tenants[1:]) & set(work.tenants[1:])
        below = CLASS_RANK[run.priority_class] < CLASS_RANK[work.priority_class]
        willing = run.preemptible or run.priority_class not in ORDINARY
        if back or (below and willing):
            yield Victim(run, lost_card_s(run, now), back)


def _borrows(board: Board, work: Waiting) -> bool:
    """Whether even one card would be borrowed for this work, or nobody owns anything."""
    first = work.partitions[0] if work.partitions else 0
    labels = {kind.label for kind in board.kinds if kind.partition == first}
    return all(is_borrowed(board, work, first, label, 1) for label in labels)


def _lends(board: Board, work: Waiting, run: Running) -> bool:
    """Whether the victim's partition is one that the work may use and that allows preemption."""
    state = board.parts.get(run.partition)
    return run.partition in work.partitions and (state is None or state.preemption)


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
    ordered = sorted(victims, key=lambda v: (v.lost, v.running.id))
    heap: list[tuple[float, int, tuple[int, ...]]] = []
    if ordered:
        heap.append((ordered[0].lost, 1, (0,)))
    while heap:
        lost, count, chosen = heapq.heappop(heap)
        yield tuple(ordered[i] for i in chosen)
        last, step = chosen[-1], chosen[-1] + 1
        if step < len(ordered):
            more = ordered[step].lost
            heapq.heappush(heap, (lost + more, count + 1, (*chosen, step)))
            swapped = lost - ordered[last].lost + more
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
            lost = sum(victim.lost for victim in chosen)
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
        return (min(victims, key=lambda v: (v.lost, v.running.id)),)
    cards = board.cards
    row = board.nodes.index[node]
    free = int(((cards.node == row) & (cards.whole >= 0) & cards.offered).sum())
    short = work.need.parts - free
    best: dict[int, tuple[float, int, tuple[Victim, ...]]] = {0: (0.0, 0, ())}
    for victim in victims:
        gives = sum(int(cards.node[board.words.where[s]]) == row for s in victim.running.slices)
        for have, (lost, count, chosen) in sorted(best.items(), reverse=True):
            then = min(max(short, 0), have + gives)
            entry = (lost + victim.lost, count + 1, (*chosen, victim))
            if then not in best or entry[:2] < best[then][:2]:
                best[then] = entry
    return best[short][2] if short in best else ()


def _cheapest_first(
    board: Board, work: Waiting, victims: Sequence[Victim]
) -> Iterator[tuple[Victim, ...]]:
    """One more victim at a time; the set is thinned out afterwards."""
    ordered = sorted(victims, key=lambda v: (v.lost, v.running.id))
    step = max(1, work.need.parts // 2)
    for count in range(step, len(ordered) + step, step):
        yield tuple(ordered[:count])


def _needed(board: Board, work: Waiting, chosen: Sequence[Victim]) -> tuple[Victim, ...]:
    """The set without anybody whose leaving is not needed, dearest spared first."""
    kept = sorted(chosen, key=lambda v: (-v.lost, v.running.id))
    for victim in tuple(kept):
        trial = board.copy()
        for other in kept:
            if other is not victim:
                release(trial, other.running)
        if len(kept) > 1 and offer(trial, work) is not None:
            kept.remove(victim)
    return tuple(sorted(kept, key=lambda v: (v.lost, v.running.id)))


def _under_cap(board: Board, chosen: Iterable[Victim], gone: Sequence[Eviction]) -> bool:
    """At most a fifth of one project's ordinary work is interrupted, rounded up.

    Hand-backs of borrowed cards are not counted. One winner's own set is always allowed when the
    project has nothing interrupted yet.
    """
    snapshot = board.snapshot
    running = {run.id: run for run in snapshot.running}
    wanted = Counter(_project(v.running) for v in chosen if _capped(v.running) and not v.hand_back)
    for project, count in wanted.items():
        mine = [r for r in snapshot.running if _capped(r) and _project(r) == project]
        out = sum(r.leaving for r in mine)
        out += sum(e.victim in running and _project(running[e.victim]) == project for e in gone)
        waiting = sum(w.interrupted and w.tenants[:2] == project for w in snapshot.waiting)
        cap = ceil(snapshot.rules.preempt_share_milli * (len(mine) + waiting) / FULL)
        if out + waiting and out + waiting + count > cap:
            return False
    return True


def _capped(running: Running) -> bool:
    return running.priority_class in ORDINARY


def _project(running: Running) -> tuple[str, ...]:
    return running.tenants[:2]
