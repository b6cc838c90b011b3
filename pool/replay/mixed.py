"""Made-up or recorded work through the live round on a whole pool: models, slices, quotas, faults.

Where `queue` knows equal whole cards only, this takes the snapshot that the live round takes.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pool.replay.clock import Clock
from pool.scheduling.board import Board, build
from pool.scheduling.model import (
    HostPart,
    Placed,
    Plan,
    Promise,
    Running,
    Snapshot,
    TenantShare,
    Waiting,
)
from pool.scheduling.order import share_weights, weighed
from pool.scheduling.plan import plan_board
from pool.scheduling.quota import charge
from pool.scheduling.take import foresee, vacate

BREAKS, ENDS, LEAVES, MENDS, COMES, COUNTS, STOPS = range(7)
"""At one instant cards break first, then work ends, victims leave, cards return, work comes."""

COUNT_S = 3600.0
"""How often what each tenant has used is counted anew."""

HALF_LIFE_S = 7 * 86_400.0

OUST_S = 3600.0
"""How often somebody is looked for who must give way: it costs a hundred times a plain round."""

RESTART_S = 120.0
"""What a start after an interruption takes before it goes on from its checkpoint."""


class Why(StrEnum):
    """What ended a run: the work was done, others were served, the card broke, time was up."""

    DONE = "done"
    PREEMPTED = "preempted"
    BROKEN = "broken"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Job:
    """Work as the planner sees it, and how long it really runs, in seconds.

    Without `checkpoint_s` it starts over when it was interrupted.
    """

    work: Waiting
    runs_s: float
    checkpoint_s: float | None = None


@dataclass(frozen=True, slots=True)
class Break:
    """A card that is out of service from one moment to another; what runs on it is lost."""

    card: int
    from_s: float
    until_s: float


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a job: from when to when, where, and what ended it. `lost_s` is thrown away."""

    number: int
    start_s: float
    end_s: float
    placed: Placed
    why: Why
    lost_s: float = 0.0


@dataclass(slots=True)
class _Live:
    job: Job
    left_s: float
    turn: int = 0
    started_s: float = 0.0
    restart_s: float = 0.0
    rows: tuple[int, ...] = ()
    placed: Placed | None = None


@dataclass(slots=True)
class _Pool:
    board: Board
    clock: Clock
    live: dict[int, _Live]
    breaks: Sequence[Break]
    waiting: dict[int, Waiting] = field(default_factory=dict)
    running: dict[int, Running] = field(default_factory=dict)
    promises: dict[int, Promise] = field(default_factory=dict)
    heads: frozenset[int] = frozenset()
    preempts: bool = False
    ousted_s: float = float("-inf")
    used: dict[str, float] = field(default_factory=dict)
    homes: dict[str, str | None] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)


def replay(
    snapshot: Snapshot, jobs: Sequence[Job], until_s: float, breaks: Sequence[Break] = ()
) -> Iterator[Run]:
    """Every run up to a moment, as it ends; what runs then is stopped. The pool begins empty."""
    pool = _Pool(
        board=build(replace(snapshot, waiting=(), running=())),
        clock=Clock(now_s=snapshot.now_s),
        live={job.work.id: _Live(job, job.runs_s) for job in jobs},
        breaks=breaks,
        preempts=snapshot.rules.preemption,
        weights=share_weights(snapshot.quotas),
    )
    for job in jobs:
        if job.work.submitted_s < until_s:
            pool.clock.add(job.work.submitted_s, COMES, job.work.id)
    for number, one in enumerate(breaks):
        pool.clock.add(one.from_s, BREAKS, number)
        pool.clock.add(one.until_s, MENDS, number)
    pool.clock.add(snapshot.now_s + COUNT_S, COUNTS, 0)
    pool.clock.add(until_s, STOPS, 0)
    while (events := pool.clock.due()) and pool.clock.now_s < until_s:
        fresh, freed = yield from _happened(pool, events)
        if freed or fresh:
            _rounds(pool, fresh, freed)
    for number in sorted(pool.running):
        yield _leave(pool, pool.live[number], Why.STOPPED, until_s)


def _happened(
    pool: _Pool, events: Sequence[tuple[int, int, int]]
) -> Generator[Run, None, tuple[frozenset[int], frozenset[int]]]:
    """Runs that ended now; returns who came, and in which partitions room was freed."""
    fresh: set[int] = set()
    freed: set[int] = set()
    for rank, number, turn in events:
        if rank == COMES:
            pool.waiting[number] = pool.live[number].job.work
            fresh.add(number)
        elif rank in (ENDS, LEAVES):
            live = pool.live[number]
            if turn == live.turn and number in pool.running:
                freed.add(pool.running[number].partition)
                why = Why.DONE if rank == ENDS else Why.PREEMPTED
                yield _leave(pool, live, why, pool.clock.now_s)
        elif rank == COUNTS:
            _count(pool)
        elif rank in (BREAKS, MENDS):
            freed |= _at(pool, pool.breaks[number])
            yield from _card(pool, pool.breaks[number], broken=rank == BREAKS)
    return frozenset(fresh), frozenset(freed)


def _at(pool: _Pool, one: Break) -> frozenset[int]:
    """The partition of the card."""
    kind = pool.board.kinds[pool.board.cards.kind[pool.board.cards.index[one.card]]]
    return frozenset({kind.partition})


def _card(pool: _Pool, one: Break, *, broken: bool) -> Iterator[Run]:
    """A card goes, with all that ran on it, or comes back."""
    row = pool.board.cards.index[one.card]
    pool.board.cards.offered[row] = not broken
    pool.board.refresh(row)
    if broken:
        for number in sorted(n for n in pool.running if row in pool.live[n].rows):
            yield _leave(pool, pool.live[number], Why.BROKEN, pool.clock.now_s)


def _rounds(pool: _Pool, fresh: frozenset[int], freed: frozenset[int]) -> None:
    """Rounds until one starts nobody. Only newcomers can start, and work where room was freed;
    those with planned starts in the same partitions are looked at so that they keep them.
    """
    while True:
        touched = freed.union(*(pool.waiting[n].partitions for n in fresh if n in pool.waiting))
        seen = {
            n: work
            for n, work in pool.waiting.items()
            if n in fresh
            or not freed.isdisjoint(work.partitions)
            or (n in pool.heads and not touched.isdisjoint(work.partitions))
        }
        if not seen:
            return
        made = plan_board(_now(pool, tuple(seen.values())), tell=False)
        for placed in made.placed:
            _start(pool, placed)
        _notice(pool, made)
        held = frozenset(start.workload for start in made.starts)
        pool.heads = ((pool.heads - seen.keys()) | held) & pool.waiting.keys()
        if len(made.placed) < pool.board.snapshot.rules.placements_per_round:
            return


def _now(pool: _Pool, waiting: tuple[Waiting, ...]) -> Board:
    """The board with this queue, at this time."""
    ousts = pool.preempts and pool.clock.now_s >= pool.ousted_s + OUST_S
    if ousts:
        pool.ousted_s = pool.clock.now_s
    pool.board.snapshot = replace(
        pool.board.snapshot,
        rules=replace(pool.board.snapshot.rules, preemption=ousts),
        now_s=pool.clock.now_s,
        waiting=waiting,
        running=tuple(pool.running.values()),
        promises=tuple(pool.promises.values()),
        shares=_shares(pool),
    )
    return pool.board


def _start(pool: _Pool, placed: Placed) -> None:
    work, now = pool.waiting.pop(placed.workload), pool.clock.now_s
    live = pool.live[work.id]
    pool.promises.pop(work.id, None)
    live.turn += 1
    live.started_s, live.placed = now, placed
    live.rows = tuple(pool.board.cards.index[part.card] for part in placed.parts)
    pool.clock.add(now + live.restart_s + live.left_s, ENDS, work.id, live.turn)
    mine = (piece for row in set(live.rows) for piece in pool.board.cards.pieces[row])
    pool.running[work.id] = Running(
        id=work.id,
        uid=work.uid,
        tenants=work.tenants,
        trust=work.trust,
        purpose=work.purpose,
        priority_class=work.priority_class,
        started_s=now,
        slices=tuple(piece.id for piece in mine if piece.held_by == work.id),
        hosts=tuple((h.node, h.cpu_milli, h.memory_mib, h.disk_mib) for h in placed.hosts),
        kind=work.kind,
        partition=placed.partition,
        card_micro=placed.card_micro,
        ends_s=now + live.restart_s + (work.declared_s or live.left_s),
        lost_since_s=now,
        checkpointed=live.job.checkpoint_s is not None,
        preemptible=work.preemptible,
        borrowed=placed.borrowed,
    )


def _notice(pool: _Pool, made: Plan) -> None:
    """Victims leave when their notice is over; what they free is promised to their winner."""
    latest: dict[int, float] = {}
    for eviction in made.evictions:
        leaves = pool.clock.now_s + eviction.notice_s
        victim = pool.running[eviction.victim]
        pool.running[victim.id] = replace(
            victim, leaving=True, interrupted=not eviction.hand_back, ends_s=leaves
        )
        foresee(pool.board, pool.live[victim.id].rows, pool.running)
        pool.clock.add(leaves, LEAVES, victim.id, pool.live[victim.id].turn)
        latest[eviction.winner] = max(leaves, latest.get(eviction.winner, leaves))
    for start in made.starts:
        if start.workload in latest:
            pool.promises[start.workload] = Promise(
                workload=start.workload,
                cards=start.cards,
                nodes=start.nodes,
                until_s=latest[start.workload] + 1.0,
            )


def _leave(pool: _Pool, live: _Live, why: Why, now: float) -> Run:
    """End a run: for good, or to wait again with what its last checkpoint kept."""
    number, placed = live.job.work.id, live.placed
    assert placed is not None
    vacate(pool.board, number, set(live.rows), placed.hosts)
    _give_back(pool.board, live.job.work, placed)
    del pool.running[number]
    live.turn += 1
    lost = 0.0
    if why in (Why.PREEMPTED, Why.BROKEN):
        lost = _again(pool, live, now)
    return Run(number, live.started_s, now, placed, why, lost)


def _again(pool: _Pool, live: _Live, now: float) -> float:
    """Put it back into the queue; how much of its work was lost."""
    ran = max(0.0, now - live.started_s - live.restart_s)
    before = live.job.runs_s - live.left_s
    every = live.job.checkpoint_s
    kept = max(before, (before + ran) // every * every) if every else 0.0
    live.left_s = live.job.runs_s - kept
    live.restart_s = RESTART_S
    work = live.job.work
    declared = None if work.declared_s is None else max(60.0, work.declared_s - kept)
    pool.waiting[work.id] = replace(
        work, declared_s=declared, interrupted=True, attempts=work.attempts + 1
    )
    return before + ran - kept


def _give_back(board: Board, work: Waiting, placed: Placed) -> None:
    """Take a start out of the quota rows that count it."""
    taken: dict[str, int] = {}
    for part in placed.parts:
        label = board.kinds[board.cards.kind[board.cards.index[part.card]]].label
        taken[label] = taken.get(label, 0) - part.card_micro
    hosts = tuple(
        HostPart(
            node=h.node,
            cpu_milli=-h.cpu_milli,
            memory_mib=-h.memory_mib,
            disk_mib=-h.disk_mib,
        )
        for h in placed.hosts
    )
    charge(board, work, placed.partition, taken, hosts)


def _count(pool: _Pool) -> None:
    """Age what tenants have used by an hour, and add what they held in it."""
    fade = 0.5 ** (COUNT_S / HALF_LIFE_S)
    for tenant in pool.used:
        pool.used[tenant] *= fade
    for run in pool.running.values():
        outer, inner = run.tenants[:2]
        pool.homes |= {outer: None, inner: outer}
        for tenant in (outer, inner):
            more = run.card_micro / 1e6 * min(COUNT_S, pool.clock.now_s - run.started_s)
            pool.used[tenant] = pool.used.get(tenant, 0.0) + more
    pool.clock.add(pool.clock.now_s + COUNT_S, COUNTS, 0)


def _shares(pool: _Pool) -> tuple[TenantShare, ...]:
    """What each tenant has used, with the weight of its guarantees, as a round reads it."""
    told = (
        TenantShare(tenant=one, parent=pool.homes.get(one), usage=pool.used.get(one, 0.0))
        for one in sorted(pool.used.keys() | pool.weights.keys())
    )
    return weighed(told, pool.weights)
