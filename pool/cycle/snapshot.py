"""Look: the whole pool at one instant, as the planner reads it; so many queries at any size."""

from dataclasses import replace
from datetime import datetime

from pool.cycle import ahead, demand, fairness, lending, mix, supply
from pool.cycle.carried.memory import Memory
from pool.cycle.quotatree.unlent import unlent
from pool.cycle.standing import standing
from pool.scheduling.model import PartitionState, Snapshot


def take(
    at: datetime, *, refused: frozenset[int] = frozenset(), memory: Memory | None = None
) -> Snapshot:
    """The pool now. What changes while it is read is caught when a placement is opened.

    Work in `refused` was stopped by a limit of its own a moment ago and is left out. With a
    `memory` only what has changed since its last look is read; the answer is the same.
    """
    if memory is not None:
        memory.begin()
    parts, rows = supply.partitions()
    slices, on_card = supply.slices(memory)
    cards = supply.cards(on_card, rows, memory)
    hosts = supply.host_holds()
    nodes = supply.nodes(hosts, cards, memory)
    held = demand.running(slices, hosts, memory)
    if memory is not None:
        memory.over()
    limits = demand.limits()
    running, quotas = lending.judge(held.running, limits.rows, held.cards)
    planned = ahead.ahead()
    running = ahead.lent(running, slices, planned)
    queue = tuple(demand.queued())
    waiting = ahead.with_kept(demand.waiting(queue, held.leases), queue, planned)
    promises = demand.promises(at)
    promised = {one.workload for one in promises}
    waiting = standing(waiting, spent=limits.spent, running=running, promised=promised)
    return Snapshot(
        now_s=at.timestamp(),
        nodes=nodes,
        cards=cards,
        slices=slices,
        partitions=parts,
        waiting=tuple(one for one in waiting if one.id not in refused),
        running=running,
        quotas=quotas,
        shares=fairness.shares(queue, limits.rows),
        reservations=(
            *planned.reservations,
            *unlent(limits.lent, cards, slices, running, at.timestamp()),
        ),
        windows=tuple(planned.windows),
        promises=promises,
        seats=tuple(planned.seats),
        demand=mix.recent(),
        rules=replace(planned.rules, preemption=_preempts(parts, planned)),
    )


def _preempts(parts: tuple[PartitionState, ...], planned: ahead.Ahead) -> bool:
    """Whether anybody may have to leave: where partitions allow it, or from cards kept for others.

    Which work that is, each partition's switch and each reservation say.
    """
    return any(one.preemption for one in parts) or bool(planned.kept)
