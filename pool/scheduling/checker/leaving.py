"""The checker's rules of giving way: who may be told to leave, how many, and for what room."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.scheduling.checker.faults import Fault
from pool.scheduling.checker.returns import limits_after
from pool.scheduling.model import Eviction, Plan, PriorityClass, Running, Snapshot, Waiting

Faults = Iterator[Fault]
Works = Mapping[int, Waiting]
Team = tuple[str, ...]

_STEP = {
    PriorityClass.SCAVENGER: 0,
    PriorityClass.LOW: 1,
    PriorityClass.NORMAL: 2,
    PriorityClass.HIGH: 3,
    PriorityClass.CRITICAL: 4,
}
_LEARNS = ("training", "pretraining")


@dataclass(frozen=True, slots=True)
class Leave:
    """One order with both its sides, as the snapshot knows them."""

    order: Eviction
    run: Running
    work: Waiting


def leave_faults(snapshot: Snapshot, plan: Plan, waiting: Works) -> Faults:
    """Everything that is wrong with the orders to leave, each by itself and all together."""
    running = {run.id: run for run in snapshot.running}
    seen: set[int] = set()
    leaves: list[Leave] = []
    for order in plan.evictions:
        run, work = running.get(order.victim), waiting.get(order.winner)
        if order.victim in seen:
            yield Fault("victim_twice", order.victim)
        seen.add(order.victim)
        if run is None or work is None:
            yield Fault("unknown_victim", order.victim)
        elif run.priority_class is PriorityClass.CRITICAL or run.leaving:
            yield Fault("victim_protected", run.id)
        else:
            leaves.append(Leave(order, run, work))
            yield from _one(snapshot, leaves[-1])
    if plan.evictions and not snapshot.rules.preemption:
        yield Fault("preemption_is_off", plan.evictions[0].victim)
    yield from _fifth(snapshot, leaves)
    yield from _endpoints(snapshot, leaves)
    yield from _wanted(snapshot, plan, leaves)


def without(snapshot: Snapshot, leaving: frozenset[int]) -> Snapshot:
    """The snapshot once these have left: slices gone, host shares and limits given back."""
    snapshot = limits_after(snapshot, leaving)
    gone = {piece for run in snapshot.running if run.id in leaving for piece in run.slices}
    stay = tuple(run for run in snapshot.running if run.id not in leaving)
    used = {node for run in stay for node, *_ in run.hosts}
    back: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for run in snapshot.running:
        for node, *amounts in run.hosts if run.id in leaving else ():
            back[node] = [a + b for a, b in zip(back[node], amounts, strict=True)]
    nodes = tuple(
        replace(
            node,
            cpu_free_milli=node.cpu_free_milli + back[node.id][0],
            memory_free_mib=node.memory_free_mib + back[node.id][1],
            disk_free_mib=node.disk_free_mib + back[node.id][2],
            trust=node.trust if node.id in used else None,
        )
        if node.id in back
        else node
        for node in snapshot.nodes
    )
    pieces = tuple(piece for piece in snapshot.slices if piece.id not in gone)
    return replace(snapshot, nodes=nodes, slices=pieces, running=stay)


def _one(snapshot: Snapshot, leave: Leave) -> Faults:
    """This order alone: the right partition, a reason that holds, its loss, its notice."""
    order, run, work = leave.order, leave.run, leave.work
    if run.partition not in work.partitions:
        yield Fault("victim_of_another_partition", run.id)
    if run.protected_until_s > snapshot.now_s:
        yield Fault("victim_not_run_long_enough", run.id)
    if work.over or work.priority_class is PriorityClass.SCAVENGER:
        yield Fault("winner_may_oust_nobody", work.id)
    if any(promise.workload == work.id for promise in snapshot.promises):
        yield Fault("winner_has_a_promise", work.id)
    if not _reason_holds(snapshot, leave):
        yield Fault("no_reason_to_leave", run.id)
    since = max(0.0, snapshot.now_s - run.lost_since_s)
    if abs(order.lost_card_s - run.card_micro * since / 1e6) > 1e-6 * max(1.0, order.lost_card_s):
        yield Fault("loss", run.id)
    if order.notice_s != _notice_s(snapshot, order, run):
        yield Fault("notice", run.id)


def _reason_holds(snapshot: Snapshot, leave: Leave) -> bool:
    order, run, work = leave.order, leave.run, leave.work
    state = next((p for p in snapshot.partitions if p.id == run.partition), None)
    at_home = bool(work.kept) and bool(_cards(snapshot, run) & work.kept)
    late = run.ends_s is not None and run.ends_s + snapshot.rules.overrun_s < snapshot.now_s
    late = late and _STEP[run.priority_class] <= _STEP[work.priority_class]
    if order.hand_back:
        if at_home:
            return run.borrowed and (run.preemptible or late)
        strangers = not set(run.tenants[1:]) & set(work.tenants[1:])
        return run.borrowed and strangers and (state is None or state.lending)
    if order.overrun:
        return late and (at_home or state is None or state.preemption)
    return (state is None or state.preemption) and _lower(snapshot, leave)


def _lower(snapshot: Snapshot, leave: Leave) -> bool:
    """Plain preemption: of a lower class, or what serves on cards that training may take back."""
    run, work = leave.run, leave.work
    if run.purpose in _LEARNS and not run.checkpointed:
        return False
    if _STEP[run.priority_class] < _STEP[work.priority_class]:
        return run.preemptible or _STEP[run.priority_class] < _STEP[PriorityClass.NORMAL]
    mixed = {card.id for card in snapshot.cards if card.mixed}
    serves = run.kind is WorkloadKind.REPLICA and bool(_cards(snapshot, run))
    same = run.priority_class is work.priority_class and work.purpose in _LEARNS
    return same and serves and _cards(snapshot, run) <= mixed


AT_ONCE_S = 5.0
"""What soaks up idle time has so long to leave."""


def _notice_s(snapshot: Snapshot, order: Eviction, run: Running) -> float:
    rules = snapshot.rules
    if run.priority_class is PriorityClass.SCAVENGER:
        return min(rules.notice_s if run.notice_s is None else run.notice_s, AT_ONCE_S)
    if order.hand_back:
        within = (p.return_within_s for p in snapshot.partitions if p.id == run.partition)
        return float(next(within, rules.inference_notice_s))
    own = rules.notice_s if run.notice_s is None else run.notice_s
    if run.kind is WorkloadKind.REPLICA or run.purpose == "inference":
        return max(own, rules.inference_notice_s)
    return own


def _cards(snapshot: Snapshot, run: Running) -> frozenset[int]:
    return frozenset(piece.card for piece in snapshot.slices if piece.id in run.slices)


def _fifth(snapshot: Snapshot, leaves: list[Leave]) -> Faults:
    """One project's interrupted normal work stays under its share, but for one winner's own set."""
    all_of, out = _ordinary(snapshot)
    sets: dict[int, Counter[Team]] = defaultdict(Counter)
    for leave in leaves:
        if leave.run.priority_class is PriorityClass.NORMAL and not leave.order.hand_back:
            sets[leave.work.id][leave.run.tenants[:2]] += 1
    for winner, counts in sets.items():
        for team, count in counts.items():
            cap = ceil(snapshot.rules.preempt_share_milli * all_of[team] / 1000)
            if out[team] and out[team] + count > cap:
                yield Fault("more_than_a_fifth", winner, "/".join(team))
            out[team] += count


def _ordinary(snapshot: Snapshot) -> tuple[Counter[Team], Counter[Team]]:
    """Each project's normal work that runs or waits interrupted, and how much of it is out."""
    live: list[Running | Waiting] = [*snapshot.running]
    live += [work for work in snapshot.waiting if work.interrupted]
    mine = [one for one in live if one.priority_class is PriorityClass.NORMAL]
    return (
        Counter(one.tenants[:2] for one in mine),
        Counter(one.tenants[:2] for one in mine if one.interrupted),
    )


def _endpoints(snapshot: Snapshot, leaves: list[Leave]) -> Faults:
    told: dict[str, int] = defaultdict(int)
    for leave in leaves:
        told[leave.run.endpoint] += 1
    for run in snapshot.running:
        if run.endpoint and run.spare is not None and told[run.endpoint] > run.spare:
            yield Fault("endpoint_below_its_minimum", run.id, run.endpoint)


def _wanted(snapshot: Snapshot, plan: Plan, leaves: list[Leave]) -> Faults:
    """Each winner has a planned start, once all of its victims have left."""
    starts = {start.workload: start for start in plan.starts}
    for leave in leaves:
        start = starts.get(leave.work.id)
        if start is None or start.placed is None:
            yield Fault("leaves_for_nothing", leave.run.id)
            continue
        if start.at_s < snapshot.now_s + leave.order.notice_s:
            yield Fault("starts_before_they_left", leave.work.id)
