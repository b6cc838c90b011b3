"""Recorded jobs through the live round: who waits how long, with and without preemption."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.replay.clock import Clock
from pool.replay.thin import Thinner
from pool.scheduling.board import Board, build
from pool.scheduling.model import (
    CardState,
    HostPart,
    Need,
    NodeState,
    PartitionState,
    Placed,
    Plan,
    PriorityClass,
    Promise,
    Rules,
    Running,
    Snapshot,
    Topology,
    Waiting,
)
from pool.scheduling.plan import plan_board
from pool.scheduling.take import vacate

PARTITION = 1
ENDS, LEAVES, COMES = range(3)
"""At one instant work ends first, then victims leave, then new jobs come."""


@dataclass(frozen=True, slots=True)
class Job:
    """One recorded job. Times in seconds; without `checkpoint_s` it starts over when preempted."""

    number: int
    submit_s: float
    duration_s: float
    declared_s: float
    gpus: int
    priority: PriorityClass = PriorityClass.NORMAL
    tenant: str = "recorded"
    checkpoint_s: float | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """One run of a job. `lost_s` is work that was thrown away at its end."""

    number: int
    start_s: float
    end_s: float
    placement: str
    lost_s: float


@dataclass(frozen=True, slots=True)
class Shape:
    """The replayed pool and its rules: grace and restart are seconds of a preemption."""

    nodes: int
    cards: int
    policy: str = "live"
    grace_s: float = 60.0
    restart_s: float = 120.0


@dataclass(slots=True)
class Live:
    """A job on its way: what it still has to do, and where it runs now."""

    job: Job
    left_s: float
    turn: int = 0
    started_s: float = 0.0
    restart_s: float = 0.0
    placement: str = ""
    rows: tuple[int, ...] = ()
    hosts: tuple[HostPart, ...] = ()
    preempted: bool = False


@dataclass(slots=True)
class Pool:
    """The replay in flight."""

    shape: Shape
    board: Board
    clock: Clock
    live: dict[int, Live]
    queue: Thinner
    running: dict[int, Running] = field(default_factory=dict)
    promises: dict[int, Promise] = field(default_factory=dict)
    heads: frozenset[int] = frozenset()
    until_s: float = float("inf")


def replay(jobs: Sequence[Job], shape: Shape) -> Iterator[Segment]:
    """Every run of every job, as it ends. A job that fits no pool of this shape never runs."""
    rules = _rules(shape, any(j.priority is not PriorityClass.NORMAL for j in jobs))
    pool = Pool(
        shape=shape,
        board=build(_world(shape, rules)),
        clock=Clock(),
        live={job.number: Live(job, job.duration_s) for job in jobs},
        queue=Thinner(rules),
    )
    for job in jobs:
        pool.clock.add(job.submit_s, COMES, job.number)
    while events := pool.clock.due():
        fresh, freed = [], False
        for rank, number, turn in events:
            live = pool.live[number]
            if rank == COMES:
                pool.queue.add(_waiting(live, shape))
                fresh.append(number)
            elif turn == live.turn and number in pool.running:
                freed = True
                yield _leave(pool, live, ended=rank == ENDS)
        _rounds(pool, frozenset(fresh), freed)


def _rules(shape: Shape, preemption: bool) -> Rules:
    plain = shape.policy != "live"
    return Rules(
        length_most_s=0.0 if plain else Rules().length_most_s,
        heads=1 if plain else Rules().heads,
        backfill=shape.policy != "fifo",
        shortest_first=not plain,
        preemption=preemption and not plain,
        notice_s=shape.grace_s,
        placements_per_round=1,
        preempt_share_milli=1000,
    )


def _world(shape: Shape, rules: Rules) -> Snapshot:
    """Empty nodes of equal cards inside one network domain."""
    nodes = [
        NodeState(
            id=i,
            name=str(i),
            cpu_milli=0,
            memory_mib=0,
            disk_mib=0,
            cpu_free_milli=0,
            memory_free_mib=0,
            disk_free_mib=0,
        )
        for i in range(shape.nodes)
    ]
    cards = [
        CardState(
            id=i,
            uuid=str(i),
            node=i // shape.cards,
            partition=PARTITION,
            label="recorded",
            vendor=Vendor.OTHER,
            memory_mib=1000,
            nominal_gb=1,
            modes=frozenset({Mode.WHOLE}),
            mode=Mode.WHOLE,
            index=i % shape.cards,
        )
        for i in range(shape.nodes * shape.cards)
    ]
    return Snapshot(
        now_s=0.0,
        nodes=tuple(nodes),
        cards=tuple(cards),
        partitions=(PartitionState(id=PARTITION, name="recorded"),),
        rules=rules,
    )


def _waiting(live: Live, shape: Shape) -> Waiting:
    """The job as the planner sees it; what it has yet to do counts as its forecast."""
    job = live.job
    done = job.duration_s - live.left_s
    large = job.gpus > shape.cards
    return Waiting(
        id=job.number,
        uid=str(job.number),
        tenants=(job.tenant,),
        trust=job.tenant,
        need=Need(
            parts=job.gpus, whole=True, topology=Topology.NETWORK if large else Topology.NODE
        ),
        partitions=(PARTITION,),
        submitted_s=job.submit_s,
        purpose="recorded",
        priority_class=job.priority,
        declared_s=max(0.0, job.declared_s - done) + live.restart_s,
        interrupted=live.preempted,
    )


def _rounds(pool: Pool, fresh: frozenset[int], freed: bool) -> None:
    """Rounds until one starts nobody. Where nothing was freed, only newcomers can start.

    A round sees the oldest of each pile of alike jobs, so it starts one job at a time: the next
    of that pile must be seen before anybody behind it.
    """
    now = pool.clock.now_s
    while True:
        if freed or not pool.heads:
            waiting = pool.queue.candidates(now, pool.until_s - now, pool.promises)
        else:
            waiting = pool.queue.some(fresh | pool.heads)
        if not waiting:
            return
        made = plan_board(_now(pool, waiting), tell=False)
        known = {work.id: work for work in waiting}
        for placed in made.placed:
            _start(pool, known[placed.workload], placed)
        _notice(pool, made)
        held = frozenset(start.workload for start in made.starts)
        pool.heads = held if freed else held | pool.heads
        pool.until_s = min((start.at_s for start in made.starts), default=float("inf"))
        if not made.placed:
            return
        freed = True


def _now(pool: Pool, waiting: tuple[Waiting, ...]) -> Board:
    """The board with this queue, at this time."""
    pool.board.snapshot = replace(
        pool.board.snapshot,
        now_s=pool.clock.now_s,
        waiting=waiting,
        running=tuple(pool.running.values()),
        promises=tuple(pool.promises.values()),
    )
    return pool.board


def _start(pool: Pool, work: Waiting, placed: Placed) -> None:
    live, now = pool.live[work.id], pool.clock.now_s
    pool.queue.drop(work)
    pool.promises.pop(work.id, None)
    live.turn += 1
    live.started_s = now
    live.rows = tuple(pool.board.cards.index[part.card] for part in placed.parts)
    live.hosts = placed.hosts
    live.placement = _placement(pool.shape, placed)
    pool.clock.add(now + live.restart_s + live.left_s, ENDS, work.id, live.turn)
    pool.running[work.id] = Running(
        id=work.id,
        uid=work.uid,
        tenants=work.tenants,
        trust=work.trust,
        purpose=work.purpose,
        priority_class=work.priority_class,
        started_s=now,
        slices=tuple(pool.board.cards.pieces[row][-1].id for row in live.rows),
        hosts=tuple((h.node, 0, 0, 0) for h in placed.hosts),
        partition=PARTITION,
        card_micro=placed.card_micro,
        ends_s=now + (work.declared_s or 0.0),
        lost_since_s=now,
        preemptible=True,
    )


def _placement(shape: Shape, placed: Placed) -> str:
    counts: dict[int, int] = {}
    for part in placed.parts:
        node = part.card // shape.cards
        counts[node] = counts.get(node, 0) + 1
    return "-".join(f"{node}:{count}" for node, count in sorted(counts.items()))


def _notice(pool: Pool, made: Plan) -> None:
    """Victims leave when the grace is over; what they free is promised to their winner."""
    leaves = pool.clock.now_s + pool.shape.grace_s
    for eviction in made.evictions:
        victim = pool.running[eviction.victim]
        pool.running[victim.id] = replace(victim, leaving=True, ends_s=leaves)
        pool.board.cards.ends[list(pool.live[victim.id].rows)] = leaves
        pool.clock.add(leaves, LEAVES, victim.id, pool.live[victim.id].turn)
    winners = {eviction.winner for eviction in made.evictions}
    for start in made.starts:
        if start.workload in winners:
            pool.promises[start.workload] = Promise(
                workload=start.workload, cards=start.cards, nodes=start.nodes, until_s=leaves + 1.0
            )


def _leave(pool: Pool, live: Live, *, ended: bool) -> Segment:
    """End a run: for good, or to wait again with what its last checkpoint kept."""
    now, number = pool.clock.now_s, live.job.number
    vacate(pool.board, number, live.rows, live.hosts)
    del pool.running[number]
    lost = 0.0
    if not ended:
        ran = max(0.0, now - live.started_s - live.restart_s)
        before = live.job.duration_s - live.left_s
        every = live.job.checkpoint_s
        kept = max(before, (before + ran) // every * every) if every else 0.0
        lost = before + ran - kept
        live.left_s = live.job.duration_s - kept
        live.restart_s = pool.shape.restart_s
        live.preempted = True
        pool.queue.add(_waiting(live, pool.shape))
    live.turn += 1
    return Segment(number, live.started_s, now, live.placement, lost)
