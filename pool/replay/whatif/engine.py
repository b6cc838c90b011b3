"""The live round over recorded work: partitions, shares of cards, limits, giving way. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pool.replay.clock import Clock
from pool.replay.thin import Key, Thinner
from pool.replay.whatif.settle import Held, allowed, hold, let_go, may_get_back, rejudged
from pool.replay.whatif.trace import Kind, Trace, Work, waiting_of
from pool.replay.whatif.usage import Usage
from pool.scheduling.board import Board, build
from pool.scheduling.model import Demand, Need, Placed, Plan, Promise, Running, Snapshot, Waiting
from pool.scheduling.offer import offer
from pool.scheduling.order import CLASS_RANK, share_weights
from pool.scheduling.plan import plan_board
from pool.scheduling.take import foresee
from pool.scheduling.victims import givers, may_oust

ENDS, LEAVES, COMES = range(3)
"""At one instant work ends first, then victims leave, then new work comes."""

RESTART_S = 120.0
"""What it costs work to come back after it gave way."""

ROUND_MOST = 64
"""So many start in one round at the most; the rest in the next, at the same instant."""

EACH = 4
"""So many of each pile of alike work a round sees; where all of them start it is made again."""

KINDS_MOST = 50
"""So many kinds of need stand for the recent demand, the most frequent ones, as in a round."""

Part = tuple[str, str, int]
"""Card model, mode, card equivalents in millionths."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a workload: where, on what, and how many seconds of work its end threw away."""

    number: int
    start_s: float
    end_s: float
    partition: int
    parts: tuple[Part, ...]
    lost_s: float
    evicted: bool


@dataclass(slots=True)
class Live:
    """A workload on its way: what it still has to do, and what it holds now."""

    work: Work
    kind: Kind
    left_s: float
    turn: int = 0
    started_s: float = 0.0
    restart_s: float = 0.0
    again: bool = False
    held: Held | None = None

    def waiting(self) -> Waiting:
        """As the planner sees it now."""
        done = self.work.duration_s - self.left_s
        return waiting_of(
            self.work, self.kind, done_s=done, restart_s=self.restart_s, again=self.again
        )


@dataclass(slots=True)
class Pool:
    """The replay in flight; `heads` are the planned starts by workload."""

    board: Board
    clock: Clock
    live: dict[int, Live]
    queue: Thinner
    usage: Usage
    running: dict[int, Running] = field(default_factory=dict)
    promises: dict[int, Promise] = field(default_factory=dict)
    heads: dict[int, float] = field(default_factory=dict)


def replay(
    trace: Trace,
    world: Snapshot,
    *,
    half_life_s: float,
    tick: Callable[[int], None] = lambda ended: None,
) -> Iterator[Run]:
    """Every run of every workload, as it ends; what fits nowhere never runs.

    `tick` is told after each instant how many workloads are over; what it raises ends the replay.
    """
    pool = _pool(trace, world, half_life_s)
    ended = 0
    while events := pool.clock.due():
        fresh, freed = [], False
        for rank, number, turn in events:
            live = pool.live[number]
            if rank == COMES:
                pool.queue.add(live.waiting())
                fresh.append(number)
            elif turn == live.turn and number in pool.running:
                freed = True
                ended += rank == ENDS
                yield _leave(pool, live, ended=rank == ENDS)
        if freed:
            rejudged(pool.board, pool.running, pool.live)
        _rounds(pool, frozenset(fresh), freed)
        tick(ended)


def _pool(trace: Trace, world: Snapshot, half_life_s: float) -> Pool:
    preempts = any(one.preemption for one in world.partitions)
    rules = replace(
        world.rules, placements_per_round=ROUND_MOST, preemption=world.rules.preemption and preempts
    )
    limits = frozenset(row.tenant for row in world.quotas)
    pool = Pool(
        board=build(replace(world, rules=rules, demand=_demand(trace), seats=())),
        clock=Clock(),
        live={w.number: Live(w, trace.kinds[w.kind], w.duration_s) for w in trace.works},
        queue=Thinner(rules, _alike(limits)),
        usage=Usage(half_life_s, share_weights(world.quotas)),
    )
    for work in trace.works:
        pool.clock.add(work.arrives_s, COMES, work.number)
    return pool


def _demand(trace: Trace) -> tuple[Demand, ...]:
    """The recorded mix of needs, the most frequent ones."""
    counts: dict[Need, int] = {}
    for work in trace.works:
        need = trace.kinds[work.kind].need
        if need.parts:
            counts[need] = counts.get(need, 0) + 1
    most = sorted(counts.items(), key=lambda entry: -entry[1])[:KINDS_MOST]
    return tuple(Demand(need=need, weight=float(n)) for need, n in most)


def _alike(limits: frozenset[str]) -> Callable[[Waiting], Key]:
    """Work of one need, project and place fails alike; of one member too, who has a limit."""

    def alike(work: Waiting) -> Key:
        return (
            CLASS_RANK[work.priority_class],
            work.need,
            work.tenants[:2],
            tuple(tenant for tenant in work.tenants[2:] if tenant in limits),
            work.partitions,
            work.trust,
            work.purpose,
            work.kind,
            work.preemptible,
        )

    return alike


def _rounds(pool: Pool, fresh: frozenset[int], freed: bool) -> None:
    """Rounds until one starts nobody of whom more might. Where nothing was freed, only newcomers
    can start.
    """
    now = pool.clock.now_s
    while True:
        if freed or not pool.heads:
            limit = partial(_until, pool)
            waiting = pool.queue.candidates(now, limit, pool.promises, each=EACH)
        else:
            waiting = pool.queue.some(fresh | pool.heads.keys())
        waiting = _worth_a_look(pool, waiting)
        newcomers = not freed and bool(pool.heads)
        if not waiting or (newcomers and _hopeless(pool, waiting)):
            return
        made = _planned(pool, waiting)
        _notice(pool, made)
        starts = {start.workload: start.at_s for start in made.starts}
        pool.heads = starts if freed else pool.heads | starts
        if not _again(pool, waiting, made):
            return
        freed = True


def _worth_a_look(pool: Pool, waiting: Sequence[Waiting]) -> tuple[Waiting, ...]:
    """Those whose limits leave them room, or are given some by who may have to leave for them."""
    board, now = pool.board, pool.clock.now_s
    if not board.quotas:
        return tuple(waiting)
    snapshot = replace(board.snapshot, now_s=now, running=tuple(pool.running.values()))
    back = may_get_back(snapshot, board.quotas)
    return tuple(work for work in waiting if allowed(board, work) or back(work))


def _again(pool: Pool, waiting: Sequence[Waiting], made: Plan) -> bool:
    """Whether more could start at this instant: a round was full, or saw too little of a pile."""
    if len(made.placed) >= ROUND_MOST:
        return True
    known = {work.id: work for work in waiting}
    counts = Counter(pool.queue.alike(known[placed.workload]) for placed in made.placed)
    return any(n >= EACH for n in counts.values())


def _until(pool: Pool, work: Waiting) -> float:
    """How long until somebody who wants the same partitions has a planned start."""
    mine = set(work.partitions)
    starts = (at for n, at in pool.heads.items() if mine & set(pool.live[n].kind.partitions))
    return min(starts, default=math.inf) - pool.clock.now_s


def _hopeless(pool: Pool, waiting: Sequence[Waiting]) -> bool:
    """Whether no newcomer finds room even where nothing is kept, and none may make others leave.

    Then a round would start nobody: who holds a planned start had no room before either.
    """
    board = _look(pool, waiting)
    found = givers(board.snapshot)
    return not any(
        may_oust(found, work) or offer(board, work) is not None
        for work in waiting
        if work.id not in pool.heads
    )


def _planned(pool: Pool, waiting: Sequence[Waiting]) -> Plan:
    """One round of the live planner; who starts has started after it."""
    made = plan_board(_look(pool, waiting), tell=False)
    known = {work.id: work for work in waiting}
    for placed in made.placed:
        _start(pool, known[placed.workload], placed)
    return made


def _look(pool: Pool, waiting: Sequence[Waiting]) -> Board:
    """The board with this queue, at this time."""
    board, now = pool.board, pool.clock.now_s
    board.snapshot = replace(
        board.snapshot,
        now_s=now,
        waiting=tuple(waiting),
        running=tuple(pool.running.values()),
        promises=tuple(pool.promises.values()),
        shares=pool.usage.shares(now),
    )
    return board


def _start(pool: Pool, work: Waiting, placed: Placed) -> None:
    live, now = pool.live[work.id], pool.clock.now_s
    pool.queue.drop(work)
    pool.promises.pop(work.id, None)
    pool.heads.pop(work.id, None)
    live.turn += 1
    live.started_s = now
    live.held = hold(pool.board, work, placed)
    pool.usage.change(work.tenants, live.held.cards, now)
    pool.clock.add(now + live.restart_s + live.left_s, ENDS, work.id, live.turn)
    pool.running[work.id] = Running(
        id=work.id,
        uid=work.uid,
        tenants=work.tenants,
        trust=work.trust,
        purpose=work.purpose,
        priority_class=work.priority_class,
        started_s=now,
        slices=live.held.slices,
        hosts=tuple((h.node, h.cpu_milli, h.memory_mib, h.disk_mib) for h in placed.hosts),
        kind=work.kind,
        partition=placed.partition,
        card_micro=placed.card_micro,
        ends_s=now + (work.declared_s or 0.0),
        lost_since_s=now,
        checkpointed=live.kind.checkpoint_s is not None,
        preemptible=work.preemptible,
        borrowed=placed.borrowed,
        protected_until_s=now + live.kind.protected_s,
        p90_ratio=work.p90_ratio,
        notice_s=live.kind.notice_s,
    )


def _notice(pool: Pool, made: Plan) -> None:
    """Victims leave when their notice is over; what they free is promised to their winner."""
    latest: dict[int, float] = {}
    for eviction in made.evictions:
        leaves = pool.clock.now_s + eviction.notice_s
        victim = pool.running[eviction.victim]
        pool.running[victim.id] = replace(
            victim, leaving=True, interrupted=not eviction.hand_back, ends_s=leaves
        )
        held = pool.live[victim.id].held
        if held is not None:
            foresee(pool.board, held.rows, pool.running)
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


def _leave(pool: Pool, live: Live, *, ended: bool) -> Run:
    """End a run: for good, or to wait again with what its last checkpoint kept."""
    now, number, held = pool.clock.now_s, live.work.number, live.held
    assert held is not None
    let_go(pool.board, held)
    pool.usage.change(live.kind.tenants, -held.cards, now)
    del pool.running[number]
    live.held = None
    lost = 0.0
    if not ended:
        ran = max(0.0, now - live.started_s - live.restart_s)
        before = live.work.duration_s - live.left_s
        every = live.kind.checkpoint_s
        kept = max(before, (before + ran) // every * every) if every else 0.0
        lost = before + ran - kept
        live.left_s = live.work.duration_s - kept
        live.restart_s, live.again = RESTART_S, True
        pool.queue.add(live.waiting())
    live.turn += 1
    return Run(number, live.started_s, now, held.partition, held.parts, lost, not ended)
