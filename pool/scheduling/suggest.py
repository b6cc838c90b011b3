"""What would start it now: small changes to a need, each planned again before it is offered."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.calendar import forecast_s
from pool.scheduling.claims import gang_runner
from pool.scheduling.model import Need, Plan, Snapshot, Topology, Waiting
from pool.scheduling.plan import plan

MOST = 3
"""So many changes are offered at most."""

PLANS = 24
"""So many plans are made at most to find them: somebody waits for the answer."""


class Change(StrEnum):
    """What is changed about the need, from the least to the most that it asks of the owner."""

    SHORTER = "shorter"
    OTHER_MODEL = "other_model"
    OTHER_MODE = "other_mode"
    LESS_CPU = "less_cpu"
    LESS_HOST_MEMORY = "less_host_memory"
    ACROSS_NODES = "across_nodes"
    LESS_COMPUTE = "less_compute"
    LESS_MEMORY = "less_memory"
    FEWER_ENCODERS = "fewer_encoders"
    FEWER_DECODERS = "fewer_decoders"
    FEWER_CARDS = "fewer_cards"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One change that was planned and does start the work now. `work` is the changed claim.

    `amount` is the new number in the need's own unit (seconds, thousandths, GB, MiB, engines,
    parts), or 0
    where the change has none.
    """

    change: Change
    amount: int
    work: Waiting


def suggest(
    snapshot: Snapshot,
    work: Waiting,
    made: Plan,
    *,
    barred: frozenset[Change] = frozenset(),
    each: int | None = None,
    plans: int = PLANS,
) -> tuple[Suggestion, ...]:
    """Up to three changes that would start the work now, one of each kind at most.

    `made` is the plan of this snapshot, in which the work waits. Each change is applied to the same
    snapshot and planned again; what does not start the work, or costs another its start, is left
    out. No `barred` change is offered; of one kind at most `each` amounts are planned, and `plans`
    in all, whatever the size of the pool and of the need.
    """
    found: list[Suggestion] = []
    closed, tried = set(barred), Counter[Change]()
    starts = {placed.workload for placed in made.placed}
    for change, amount, other in _changes(snapshot, work, made):
        if len(found) == MOST or tried.total() == plans:
            break
        if change in closed or tried[change] == each:
            continue
        tried[change] += 1
        waiting = tuple(other if w.id == work.id else w for w in snapshot.waiting)
        again = {placed.workload for placed in plan(replace(snapshot, waiting=waiting)).placed}
        if work.id in again and starts <= again:
            found.append(Suggestion(change, amount, other))
            closed.add(change)
    return tuple(found)


Tried = Iterator[tuple[Change, int, Waiting]]


def _changes(snapshot: Snapshot, work: Waiting, made: Plan) -> Tried:
    need = work.need
    for start in made.starts:
        left = int((start.at_s - snapshot.now_s) / max(1.0, work.p90_ratio))
        if 60 <= left < forecast_s(work, snapshot.rules):
            yield Change.SHORTER, left, replace(work, declared_s=float(left))
    if need.labels:
        yield Change.OTHER_MODEL, 0, _with(work, replace(need, labels=frozenset()))
    if not need.whole and need.parts and Mode.MPS not in need.modes and need.modes:
        yield Change.OTHER_MODE, 0, _with(work, replace(need, modes=(*need.modes, Mode.MPS)))
    yield from _host(work)
    if need.topology in (Topology.NODE, Topology.LINKED) and need.whole and need.parts > 1:
        runner = gang_runner(need.runner)
        across = replace(need, topology=Topology.NETWORK, runner=runner)
        yield Change.ACROSS_NODES, need.parts, _with(work, across)
    yield from _smaller(work)


def _host(work: Waiting) -> Tried:
    """Half, then a quarter of the CPU and of the memory."""
    need = work.need
    for part in (2, 4):
        cpu, memory = need.cpu_milli // part, need.host_memory_mib // part
        if cpu:
            yield Change.LESS_CPU, cpu, _with(work, replace(need, cpu_milli=cpu))
        if memory:
            less = replace(need, host_memory_mib=memory)
            yield Change.LESS_HOST_MEMORY, memory, _with(work, less)


def _smaller(work: Waiting) -> Tried:
    """Less of a card, or fewer cards."""
    need = work.need
    for percent in (75, 50, 25):
        if need.compute_milli:
            compute = need.compute_milli * percent // 100
            yield Change.LESS_COMPUTE, compute, _with(work, replace(need, compute_milli=compute))
        memory = (need.memory_gb or 0) * percent // 100
        if memory >= max(1, need.min_size_gb):
            yield Change.LESS_MEMORY, memory, _with(work, replace(need, memory_gb=memory))
    for units in range(need.encoder_units - 1, 0, -1):
        yield Change.FEWER_ENCODERS, units, _with(work, replace(need, encoder_units=units))
    for units in range(need.decoder_units - 1, 0, -1):
        yield Change.FEWER_DECODERS, units, _with(work, replace(need, decoder_units=units))
    for parts in range(need.parts - 1, 0, -1):
        yield Change.FEWER_CARDS, parts, _with(work, _parts(need, parts))


def _parts(need: Need, parts: int) -> Need:
    """The need with fewer parts, and the host share that goes with them."""
    return replace(
        need,
        parts=parts,
        nodes=0,
        cpu_milli=need.cpu_milli * parts // need.parts,
        host_memory_mib=need.host_memory_mib * parts // need.parts,
        disk_mib=need.disk_mib * parts // need.parts,
    )


def _with(work: Waiting, need: Need) -> Waiting:
    return replace(work, need=need)
