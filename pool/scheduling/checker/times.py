"""The checker on planned starts: each is good at its time, and nobody who goes before delays it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pool.scheduling.checker.books import Books, closed, entered, opened
from pool.scheduling.checker.faults import Fault
from pool.scheduling.checker.leaving import without
from pool.scheduling.checker.rules import calendar_faults, start_faults, sum_faults
from pool.scheduling.checker.sizes import length_s
from pool.scheduling.model import Placed, Plan, PlannedStart, Running, Snapshot, Waiting

Faults = Iterator[Fault]
Starts = list[tuple[Placed, Waiting]]

OVERDUE_S = 600.0
"""Work that should have ended already is forecast to run so much longer."""

ABOUT_NODES = ("node_overcommitted", "node_mixes_groups")


@dataclass(frozen=True, slots=True)
class Head:
    """One planned start with its work, where it is to be, and who leaves for it."""

    start: PlannedStart
    work: Waiting
    placed: Placed
    victims: frozenset[int]


def time_faults(snapshot: Snapshot, plan: Plan) -> Faults:
    """Everything that is wrong with the planned starts, by themselves and beside all others."""
    works = {work.id: work for work in snapshot.waiting}
    victims: dict[int, set[int]] = defaultdict(set)
    for order in plan.evictions:
        victims[order.winner].add(order.victim)
    heads: list[Head] = []
    for start in plan.starts:
        work = works.get(start.workload)
        yield from _told(snapshot, plan, start)
        if work is not None and start.placed is not None:
            heads.append(Head(start, work, start.placed, frozenset(victims[work.id])))
    placed = [(p, works[p.workload]) for p in plan.placed if p.workload in works]
    for head in heads:
        yield from _judged(snapshot, head, placed, [h for h in heads if h is not head])


def _told(snapshot: Snapshot, plan: Plan, start: PlannedStart) -> Faults:
    """The time, the cards and the nodes are those of the place, and the work still waits."""
    placed = start.placed
    if start.workload not in plan.waits:
        yield Fault("planned_but_not_waiting", start.workload)
    if [one.workload for one in plan.starts].count(start.workload) > 1:
        yield Fault("planned_twice", start.workload)
    if start.at_s < snapshot.now_s:
        yield Fault("planned_in_the_past", start.workload)
    if placed is None or placed.workload != start.workload:
        yield Fault("planned_nowhere", start.workload)
    elif start.cards != {part.card for part in placed.parts} or start.nodes != {
        host.node for host in placed.hosts
    }:
        yield Fault("planned_elsewhere", start.workload)


def _judged(snapshot: Snapshot, head: Head, placed: Starts, others: Sequence[Head]) -> Faults:
    """The head by itself; then beside the starts of the plan, then beside the other heads."""
    at_s = head.start.at_s
    alone = list(_alone(snapshot, head, [start for start, _ in placed]))
    for fault in alone:
        yield Fault("planned_" + fault.code, head.work.id, fault.detail)
    if alone:
        return
    stays = [one for one in placed if snapshot.now_s + length_s(snapshot, one[1]) > at_s]
    went = [start for start, work in placed if (start, work) not in stays]
    if snapshot.rules.backfill:
        for fault in _beside(snapshot, head, head.victims, stays, went):
            yield Fault("head_delayed", head.work.id, fault.code)
    before = [
        one
        for one in others
        if one.start.at_s <= at_s < one.start.at_s + length_s(snapshot, one.work)
    ]
    gone = head.victims.union(*(one.victims for one in before))
    theirs = [(one.placed, one.work) for one in before]
    for fault in _beside(snapshot, head, gone, theirs, went) if theirs else ():
        yield Fault("heads_share_room", head.work.id, fault.code)


def _alone(snapshot: Snapshot, head: Head, placed: Sequence[Placed]) -> Faults:
    """The head at its time with nobody but those who run now and will run still."""
    then = _then(snapshot, head, head.victims)
    for start in placed:
        _ended(then, head, start)
    yield from _entered(then, head)
    yield from start_faults(then.snapshot, head.placed, head.work)
    yield from calendar_faults(then.snapshot, head.placed, head.work)


def _beside(
    snapshot: Snapshot, head: Head, gone: frozenset[int], starts: Starts, went: Sequence[Placed]
) -> Faults:
    """The head at its time beside these, who run then; what `went` ran and has ended."""
    then = _then(snapshot, head, gone)
    for placed in went:
        _ended(then, head, placed)
    for placed, work in starts:
        list(entered(then, work, placed))
    yield from _entered(then, head)
    yield from sum_faults(then.snapshot, [*starts, (head.placed, head.work)])


def _entered(then: Books, head: Head) -> Faults:
    """What is wrong with the head in these books, on its own cards and nodes."""
    then.ledger.touched.clear()
    yield from entered(then, head.work, head.placed)
    for fault in closed(then):
        if fault.code not in ABOUT_NODES or fault.subject in head.start.nodes:
            yield fault


def _then(snapshot: Snapshot, head: Head, gone: frozenset[int]) -> Books:
    """The books at the head's time; what is promised stays with whom it is promised."""
    at_s = head.start.at_s
    ended = {run.id for run in snapshot.running if _ends_s(snapshot, run) <= at_s}
    kept = tuple(replace(promise, until_s=float("inf")) for promise in snapshot.promises)
    later = without(snapshot, gone | ended)
    return opened(replace(later, now_s=at_s, promises=kept))


def _ended(then: Books, head: Head, placed: Placed) -> None:
    """Let this start have come and gone: idle slices it took away are gone, and the mode is open.

    Not those that the head counts on: it would find their room as free.
    """
    counts = {number for move in head.placed.moves for number in move.removes}
    counts |= {part.slice for part in head.placed.parts if part.slice is not None}
    gone = {number for move in placed.moves for number in move.removes} - counts
    for part in placed.parts:
        pieces = then.ledger.pieces.get(part.card, [])
        then.ledger.pieces[part.card] = [piece for piece in pieces if piece.id not in gone]
        then.ledger.modes[part.card] = None


def _ends_s(snapshot: Snapshot, run: Running) -> float:
    """When running work is forecast to end, as its owner's work has ended so far."""
    now = snapshot.now_s
    if run.ends_s is None:
        until = run.started_s + snapshot.rules.unknown_duration_s
    else:
        declared = max(0.0, run.ends_s - run.started_s)
        over = 0.0 if run.leaving else max(0.0, run.p90_ratio - 1.0)
        until = run.ends_s + over * declared
    if until < now:
        return now if run.leaving else now + OVERDUE_S
    return until
