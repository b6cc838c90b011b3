"""One round: a snapshot goes in, a plan comes out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pool.scheduling.backfill import (
    Head,
    beside,
    ends_before,
    head_at,
    keep,
    needs_head,
    plan_head,
    slip_order,
)
from pool.scheduling.board import Board, build
from pool.scheduling.calendar import forecast_s, timed
from pool.scheduling.explain import Stops, counted, explain, possible, ruled, stops
from pool.scheduling.headroom import URGENT, keep_headroom
from pool.scheduling.model import (
    Eviction,
    Explanation,
    Level,
    Placed,
    Plan,
    PlannedStart,
    PriorityClass,
    Reason,
    Snapshot,
    Waiting,
)
from pool.scheduling.offer import borrows, offer
from pool.scheduling.order import CLASS_RANK, Rank, ranked
from pool.scheduling.preempt import oust
from pool.scheduling.take import take, take_alike
from pool.scheduling.trial import line_up
from pool.scheduling.victims import Givers, givers, may_oust


@dataclass(slots=True)
class Round:
    """What a round has decided so far. `failed` are the shapes that found no place.

    `stuck` are those for which nobody leaves either: room and victims only grow fewer in a round.
    `guard` is the board without what the heads need; the board itself while there is no head.
    """

    board: Board
    guard: Board
    placed: list[Placed] = field(default_factory=list)
    waits: dict[int, Explanation] = field(default_factory=dict)
    heads: list[Head] = field(default_factory=list)
    evictions: list[Eviction] = field(default_factory=list)
    failed: set[tuple[object, ...]] = field(default_factory=set)
    stuck: set[tuple[object, ...]] = field(default_factory=set)
    givers: Givers | None = None
    tell: bool = True

    @property
    def full(self) -> bool:
        return len(self.placed) >= self.board.snapshot.rules.placements_per_round

    def before(self, work: Waiting) -> list[Head]:
        """The heads that want the same partitions, first one first."""
        return [h for h in self.heads if set(h.work.partitions) & set(work.partitions)]

    def add(self, head: Head) -> None:
        """Keep what the head needs out of everybody's reach who would make it late."""
        self.heads.append(head)
        if self.board.snapshot.rules.backfill:
            if self.guard is self.board:
                self.guard = self.board.copy()
            keep(self.guard, head)


def plan(snapshot: Snapshot) -> Plan:
    """Decide one round. The same snapshot gives the same plan, whatever its input order."""
    return plan_board(build(snapshot))


def plan_board(board: Board, *, tell: bool = True) -> Plan:
    """Decide one round on a board laid out before; it ends as if all had been committed.

    Without `tell` nobody's wait is explained: a replay asks only who starts. Who starts, leaves
    or holds a planned start is the same with and without.
    """
    keep_headroom(board)
    queue = ranked(board)
    line_up(board, (work for work, _ in queue))
    decided = Round(board=board, guard=board, givers=givers(board.snapshot), tell=tell)
    behind = [entry for entry in queue if not _start_or_block(decided, entry[0])]
    rules, now = board.snapshot.rules, board.snapshot.now_s
    behind.sort(key=lambda e: (e[1].band, -_class(e[0]), slip_order(e[0], now, rules)))
    for work, _ in behind:
        if rules.backfill:
            _slip_in(decided, work)
        else:
            decided.waits[work.id] = _waits(work, Reason.BEHIND, Level.ORDER)
    return _told(decided, queue)


def _class(work: Waiting) -> int:
    return CLASS_RANK[work.priority_class]


def _start_or_block(decided: Round, work: Waiting) -> bool:
    """Start the work, or say why not; false when it stands behind the heads and may only slip in.

    The first few that must wait hold a planned start each; none is made late by a later one.
    """
    board = decided.board
    if decided.full:
        decided.waits[work.id] = _waits(work, Reason.ROUND_FULL, Level.ORDER)
        return True
    if work.held_back or work.not_before_s > board.snapshot.now_s:
        decided.waits[work.id] = explain(board, work)
        return True
    before = decided.before(work)
    if before and not _may_hold(decided, before):
        return False
    if _start(decided, _room(decided, work), work, backfilled=bool(before)):
        return True
    counts = counted(board, work) if decided.tell or ruled(board, work) else ()
    head = _head_for(decided, work, stops(counts)) if needs_head(work) else None
    if head is not None:
        decided.add(head)
    if decided.tell:
        told = explain(board, work, before[0].start if before else None, counts)
        starts_s = None if head is None else head.start.at_s
        decided.waits[work.id] = replace(_limited(decided, work, told), starts_s=starts_s)
    return True


def _may_hold(decided: Round, before: Sequence[Head]) -> bool:
    """Whether one more planned start may be held; those whose room is being freed do not count."""
    rules = decided.board.snapshot.rules
    freed = {e.winner for e in decided.evictions}
    freed |= {promise.workload for promise in decided.board.snapshot.promises}
    return rules.backfill and sum(h.work.id not in freed for h in before) < rules.heads


def _room(decided: Round, work: Waiting) -> Board:
    """Where the work may start without making a head late: anywhere when it ends before."""
    return decided.board if ends_before(decided.board, work, decided.heads) else decided.guard


def _head_for(decided: Round, work: Waiting, stopped: Stops) -> Head | None:
    """Room for the head: when running work ends, or sooner by others' leave.

    Not where a rule stops it. Where its own limit alone does it keeps no room from others, unless
    some leave who give back of it.
    """
    ways = _without(work, stopped.barred)
    if not ways.partitions or not possible(decided.board, work):
        return None
    board = beside(decided.board, decided.guard, decided.heads)
    free = _without(ways, stopped.limited)
    limited = work.short is not None or not free.partitions
    natural = None if limited else plan_head(board, free)
    return _sooner(decided, board, ways, natural)


def _without(work: Waiting, shut: frozenset[int]) -> Waiting:
    """The work as if it could not go to these partitions."""
    if shut.isdisjoint(work.partitions):
        return work
    return replace(work, partitions=tuple(p for p in work.partitions if p not in shut))


def _sooner(decided: Round, board: Board, work: Waiting, natural: Head | None) -> Head | None:
    """Order others to leave for this work, unless it would start as soon without."""
    snapshot = decided.board.snapshot
    if natural is not None and natural.start.at_s <= snapshot.now_s + snapshot.rules.notice_s:
        return natural
    alike = _winner(decided.board, work)
    if alike in decided.stuck or not may_oust(decided.givers, work):
        return natural
    ousting = oust(board, work, decided.evictions)
    if ousting is None:
        decided.stuck.add(alike)
        return natural
    if natural is not None and natural.start.at_s <= ousting.at_s:
        return natural
    decided.evictions += ousting.evictions
    return head_at(ousting.after, work, ousting.placed, ousting.at_s)


def _slip_in(decided: Round, work: Waiting) -> None:
    """Start work behind a head, where that cannot make the head late."""
    if not decided.full and _start(decided, _room(decided, work), work, backfilled=True):
        return
    first, board = decided.before(work)[0], decided.board
    ousts = _class(work) >= _class(first.work) and may_oust(decided.givers, work)
    counts = counted(board, work) if decided.tell or (ousts and ruled(board, work)) else ()
    if ousts:
        _oust_behind(decided, work, stops(counts))
    if decided.tell:
        told = explain(board, work, first.start, counts)
        decided.waits[work.id] = _limited(decided, work, told)


def _oust_behind(decided: Round, work: Waiting, stopped: Stops) -> None:
    """Make room for work behind the heads that need not wait for them to start.

    Of alike works for which nobody leaves, the next would have to wait as long as the first.
    """
    alike = ("behind", *_winner(decided.board, work))
    if alike in decided.stuck:
        return
    ordered, rules = len(decided.evictions), decided.board.snapshot.rules
    head = _head_for(decided, work, stopped)
    soon = head is not None and head.start.at_s <= decided.board.snapshot.now_s + rules.notice_s
    if head is not None and (soon or len(decided.evictions) > ordered):
        decided.add(head)
    elif alike[1:] in decided.stuck and not timed(decided.board.snapshot):
        decided.stuck.add(alike)


def _start(decided: Round, room: Board, work: Waiting, *, backfilled: bool = False) -> bool:
    """Place the work on `room`, and take the place from every board of the round."""
    if work.short is not None:
        return False
    shape = (room is decided.guard, *_shape(decided.board, work))
    if shape in decided.failed:
        return False
    placed = offer(room, work)
    if placed is None:
        decided.failed.add(shape)
        return False
    if room is not decided.board:
        borrowed = borrows(decided.board, work, placed.partition, placed.parts)
        placed = replace(placed, borrowed=borrowed)
    if backfilled:
        placed = replace(placed, backfilled=True)
    take(decided.board, work, placed)
    if decided.guard is not decided.board:
        take_alike(decided.guard, decided.board, work, placed)
    decided.placed.append(placed)
    return True


def _shape(board: Board, work: Waiting) -> tuple[object, ...]:
    """What decides whether the work finds a place: alike works fail alike within one round."""
    snapshot = board.snapshot
    timed = snapshot.windows or snapshot.reservations
    promised = any(promise.workload == work.id for promise in snapshot.promises)
    return (
        work.need,
        work.trust,
        work.tenants,
        work.partitions,
        work.purpose,
        work.kind,
        work.avoid,
        work.priority_class is PriorityClass.CRITICAL,
        work.priority_class in URGENT,
        (forecast_s(work, snapshot.rules), work.preemptible, work.kept) if timed else None,
        work.id if promised else None,
    )


def _winner(board: Board, work: Waiting) -> tuple[object, ...]:
    """What decides who may be told to leave for the work: for alike works nobody is alike."""
    return (
        *_shape(board, work),
        work.priority_class,
        work.endpoint,
        work.kept,
        work.short,
        work.spent,
        work.over,
    )


def _limited(decided: Round, work: Waiting, told: Explanation) -> Explanation:
    """The same, unless only waiting for room was told of work that its own limit stops still."""
    if work.short is None or told.level not in (Level.BUSY, Level.ORDER):
        return told
    if any(eviction.winner == work.id for eviction in decided.evictions):
        return told
    return replace(_waits(work, Reason.QUOTA, Level.RULE), shortage=work.short)


def _waits(work: Waiting, reason: Reason, level: Level) -> Explanation:
    return Explanation(workload=work.id, reason=reason, level=level)


def _told(decided: Round, queue: tuple[tuple[Waiting, Rank], ...]) -> Plan:
    places = {work.id: (i + 1, rank.parts) for i, (work, rank) in enumerate(queue)}
    waits = {
        key: replace(told, position=places[key][0], rank=places[key][1])
        for key, told in sorted(decided.waits.items())
    }
    starts: list[PlannedStart] = [head.start for head in decided.heads]
    return Plan(
        placed=tuple(decided.placed),
        waits=waits,
        evictions=tuple(decided.evictions),
        starts=tuple(starts),
    )
