"""Who may be told to give way, at what loss and with what notice, and how many of one team."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.carving.sizes import FULL, MICRO
from pool.rules.yielding import notice_s, serves
from pool.scheduling.board import Board
from pool.scheduling.claims import TRAINING
from pool.scheduling.model import Eviction, PriorityClass, Running, Snapshot, Waiting
from pool.scheduling.order import CLASS_RANK
from pool.scheduling.quota import is_borrowed

MARKED = frozenset({PriorityClass.NORMAL, PriorityClass.HIGH})
"""Classes that give way only when their owner marked the work preemptible."""

DEAR = 1e12
"""Added to the loss of work whose checkpoint is overdue: it is interrupted when nobody else is."""


@dataclass(frozen=True, slots=True)
class Victim:
    """One workload that may be told to leave, with the card-seconds that would be lost.

    `cost` is what the search keeps low; `back` says that it returns a borrowed card, `overrun`
    that it has had the time it declared.
    """

    running: Running
    lost: float
    cost: float
    back: bool
    overrun: bool
    notice_s: float


def lost_card_s(running: Running, now_s: float) -> float:
    """Card-seconds since the last checkpoint (or the start) that leaving now would throw away."""
    return running.card_micro / MICRO * max(0.0, now_s - running.lost_since_s)


@dataclass(frozen=True, slots=True)
class Givers:
    """What kinds of running work there are that may have to give way; a quick look for a round."""

    lowest: int
    borrow: bool
    overran: bool


def givers(snapshot: Snapshot) -> Givers | None:
    """The quick look at this snapshot's running work; None where nobody is ever told to leave."""
    running = snapshot.running if snapshot.rules.preemption else ()
    classes = {run.priority_class for run in running if not run.leaving}
    if not classes:
        return None
    late, borrow, overran = snapshot.now_s - snapshot.rules.overrun_s, False, False
    for run in running:
        if (run.ends_s is not None and run.ends_s < late) and not run.leaving:
            overran = True
        if (run.borrowed or run.kind is WorkloadKind.REPLICA) and not run.leaving:
            borrow = True
    return Givers(min(CLASS_RANK[one] for one in classes), borrow, overran)


def may_oust(found: Givers | None, work: Waiting) -> bool:
    """Whether a search for victims could find any; false spares it."""
    if found is None or work.over or work.priority_class is PriorityClass.SCAVENGER:
        return False
    return found.borrow or found.overran or found.lowest < CLASS_RANK[work.priority_class]


def eligible(board: Board, work: Waiting, gone: Sequence[Eviction]) -> Iterator[Victim]:
    """All that may be told to leave for this work, by id; `gone` were told so in this round."""
    now = board.snapshot.now_s
    told = {eviction.victim for eviction in gone}
    owner = not _borrows(board, work)
    for run in sorted(board.snapshot.running, key=lambda r: r.id):
        if run.leaving or run.id in told or run.priority_class is PriorityClass.CRITICAL:
            continue
        if run.partition not in work.partitions or run.protected_until_s > now:
            continue
        state = board.parts.get(run.partition)
        free = state is None or state.preemption
        kept = bool(work.kept) and _on(board, run, work.kept)
        lends = owner and (state is None or state.lending)
        overrun = (free or kept) and _overran(board, work, run)
        back = lends and _lends_to(work, run)
        if kept:
            back = run.borrowed and (run.preemptible or overrun)
        if back or overrun or (free and _willing(board, work, run)):
            lost = lost_card_s(run, now)
            cost = lost + DEAR * _overdue(board, run)
            yield Victim(run, lost, cost, back, overrun, _notice_s(board, run, back))


def gives_back(work: Waiting, leaving: Sequence[Victim], partition: int) -> bool:
    """Whether each limit that is used up there gets something back when these leave.

    How much that is, the books say when they are told.
    """
    there = [one.running.tenants for one in leaving if one.running.partition == partition]
    spent = (tenant for tenant, where in work.spent if where == partition)
    return all(any(tenant in tenants for tenants in there) for tenant in spent)


def _willing(board: Board, work: Waiting, run: Running) -> bool:
    """Lower class, and marked or of a class that always gives way; training with a checkpoint."""
    if run.purpose in TRAINING and not run.checkpointed:
        return False
    if CLASS_RANK[run.priority_class] < CLASS_RANK[work.priority_class]:
        return run.preemptible or run.priority_class not in MARKED
    equal = run.priority_class is work.priority_class
    return equal and work.purpose in TRAINING and _on_mixed(board, run)


def _on(board: Board, run: Running, cards: frozenset[int]) -> bool:
    rows = (board.words.where.get(piece) for piece in run.slices)
    return any(row is not None and int(board.cards.ids[row]) in cards for row in rows)


def _on_mixed(board: Board, run: Running) -> bool:
    """Whether it serves on cards whose share training may take back (requirement S5)."""
    if run.kind is not WorkloadKind.REPLICA:
        return False
    rows = [board.words.where[s] for s in run.slices if s in board.words.where]
    return bool(rows) and all(board.kinds[board.cards.kind[row]].mixed for row in rows)


def _overran(board: Board, work: Waiting, run: Running) -> bool:
    """Past its declared time and the grace after it, for work of no lower class (S4)."""
    if run.ends_s is None or CLASS_RANK[run.priority_class] > CLASS_RANK[work.priority_class]:
        return False
    return run.ends_s + board.snapshot.rules.overrun_s < board.snapshot.now_s


def _overdue(board: Board, run: Running) -> bool:
    """Whether training has not written a checkpoint for longer than the rule allows."""
    since = board.snapshot.now_s - run.lost_since_s
    return run.purpose in TRAINING and since > board.snapshot.rules.checkpoint_every_s


def _lends_to(work: Waiting, run: Running) -> bool:
    """Whether the run has borrowed what this work's own tenants may claim back."""
    return run.borrowed and not set(run.tenants[1:]) & set(work.tenants[1:])


def _borrows(board: Board, work: Waiting) -> bool:
    """Whether even one card would be borrowed for this work, or nobody owns anything."""
    first = work.partitions[0] if work.partitions else 0
    labels = {kind.label for kind in board.kinds if kind.partition == first}
    return all(is_borrowed(board, work, first, label, 1) for label in labels)


def _notice_s(board: Board, run: Running, back: bool) -> float:
    """How long it has to leave, by the rule of the orders."""
    rules, state = board.snapshot.rules, board.parts.get(run.partition)
    return notice_s(
        hand_back=back,
        serving=serves(run.purpose, run.kind),
        scavenges=run.priority_class is PriorityClass.SCAVENGER,
        grace_s=rules.notice_s if run.notice_s is None else run.notice_s,
        give_back_s=float(state.return_within_s) if state else rules.inference_notice_s,
        drain_s=rules.inference_notice_s,
    )


def allowed(board: Board, chosen: Sequence[Victim], gone: Sequence[Eviction]) -> bool:
    """Whether a winner may have this set: each team's fifth, and each endpoint's minimum."""
    return _under_cap(board, chosen, gone) and _enough_serve(board, chosen, gone)


def _under_cap(board: Board, chosen: Sequence[Victim], gone: Sequence[Eviction]) -> bool:
    """At most a fifth of one project's ordinary work is interrupted, rounded up (S5).

    Borrowed cards that are handed back are not counted. One winner's own set is always allowed
    when the project has nothing interrupted yet.
    """
    snapshot = board.snapshot
    wanted = Counter(project(v.running) for v in chosen if _capped(v.running) and not v.back)
    running = {run.id: run for run in snapshot.running} if wanted else {}
    for one, count in wanted.items():
        mine = [r for r in snapshot.running if _capped(r) and project(r) == one]
        out = sum(r.interrupted for r in mine)
        told = [running[e.victim] for e in gone if e.victim in running and not e.hand_back]
        out += sum(_capped(run) and project(run) == one for run in told)
        back = [w for w in snapshot.waiting if w.interrupted and w.tenants[:2] == one]
        waiting = sum(w.priority_class is PriorityClass.NORMAL for w in back)
        cap = ceil(snapshot.rules.preempt_share_milli * (len(mine) + waiting) / FULL)
        if out + waiting and out + waiting + count > cap:
            return False
    return True


def _enough_serve(board: Board, chosen: Sequence[Victim], gone: Sequence[Eviction]) -> bool:
    """Whether every endpoint keeps its minimum of replicas."""
    asked = Counter(v.running.endpoint for v in chosen if v.running.endpoint)
    if not asked:
        return True
    told = {eviction.victim for eviction in gone}
    for endpoint, count in asked.items():
        mine = [run for run in board.snapshot.running if run.endpoint == endpoint]
        spare = [run.spare for run in mine if run.spare is not None]
        if spare and count + sum(run.id in told for run in mine) > min(spare):
            return False
    return True


def _capped(running: Running) -> bool:
    return running.priority_class is PriorityClass.NORMAL


def project(running: Running) -> tuple[str, ...]:
    """The organization and project whose work it is."""
    return running.tenants[:2]
