"""One plan through the checker, start by start."""

from collections import defaultdict
from collections.abc import Sequence

from pool.scheduling.checker.books import Books, Faults, closed, entered, opened
from pool.scheduling.checker.faults import Fault
from pool.scheduling.checker.leaving import leave_faults, without
from pool.scheduling.checker.room import headroom_faults
from pool.scheduling.checker.rules import rule_faults, start_faults
from pool.scheduling.checker.sizes import loan_faults
from pool.scheduling.checker.times import time_faults
from pool.scheduling.model import Placed, Plan, Snapshot, Waiting


def check(snapshot: Snapshot, plan: Plan) -> tuple[Fault, ...]:
    """Everything that is wrong with the plan; empty means that it may be committed."""
    books = opened(snapshot)
    faults = [*_answers(books, plan), *leave_faults(snapshot, plan, books.waiting)]
    faults += [*_winners(books, plan), *time_faults(snapshot, plan)]
    starts = [(p, books.waiting[p.workload]) for p in plan.placed if p.workload in books.waiting]
    for placed, work in starts:
        faults += entered(books, work, placed)
    faults += [*closed(books), *loan_faults(snapshot, starts)]
    faults += rule_faults(snapshot, plan, books.waiting)
    faults += headroom_faults(snapshot, plan)
    return tuple(faults)


def _answers(books: Books, plan: Plan) -> Faults:
    """Each waiting workload is placed or explained, exactly once."""
    starts = [placed.workload for placed in plan.placed]
    for number in sorted(set(starts)):
        if starts.count(number) > 1 or number in plan.waits:
            yield Fault("answered_twice", number)
        if number not in books.waiting:
            yield Fault("unknown_workload", number)
    for number in sorted(books.waiting):
        if number not in plan.waits and number not in starts:
            yield Fault("unanswered", number)
    for number in starts:
        work = books.waiting.get(number)
        late = work is not None and work.not_before_s > books.snapshot.now_s
        if work is not None and (work.held_back or late):
            yield Fault("held_back", number)


def _winners(books: Books, plan: Plan) -> Faults:
    """Each winner's planned place is good once its own victims have left, and only then."""
    sets: dict[int, set[int]] = defaultdict(set)
    for eviction in plan.evictions:
        sets[eviction.winner].add(eviction.victim)
    for start in plan.starts:
        work = books.waiting.get(start.workload)
        if start.workload in sets and work is not None and start.placed is not None:
            for fault in _start(books, frozenset(sets[work.id]), work, start.placed):
                yield Fault("planned_" + fault.code, work.id, fault.detail)
            leaving = frozenset(sets[work.id])
            yield from _needless(books, leaving, work, start.placed, plan.placed)


def _needless(
    books: Books, leaving: frozenset[int], work: Waiting, placed: Placed, starts: Sequence[Placed]
) -> Faults:
    """Nobody leaves whose staying would leave the place good, and who gives no limit back.

    What the plan starts meanwhile takes its room, too.
    """
    spent = {tenant for tenant, _ in work.spent}
    for run in books.snapshot.running:
        if run.id not in leaving or spent & set(run.tenants):
            continue
        then = opened(without(books.snapshot, leaving - {run.id}))
        for one in starts:
            if one.workload in books.waiting:
                list(entered(then, books.waiting[one.workload], one))
        if not any(_entered(then, work, placed)):
            yield Fault("leaves_without_need", run.id)


def _start(books: Books, gone: frozenset[int], work: Waiting, placed: Placed) -> Faults:
    """One start alone, once these have left: hardware, shape, hosts, and the rows it counts in."""
    yield from _entered(opened(without(books.snapshot, gone)), work, placed)


def _entered(then: Books, work: Waiting, placed: Placed) -> Faults:
    yield from entered(then, work, placed)
    yield from closed(then)
    yield from start_faults(then.snapshot, placed, work)
