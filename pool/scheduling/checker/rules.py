"""The checker's rules beside the hardware: access, quota, ceilings, time, promises, seats."""

from collections.abc import Iterator, Mapping, Sequence

from nodeagent.protocol.vocabulary import UNISOLATED, Mode
from pool.scheduling.checker.cards import isolation
from pool.scheduling.checker.faults import Fault
from pool.scheduling.checker.sizes import barred_by, counted_already, length_s, taken_by
from pool.scheduling.model import (
    Ceiling,
    CeilingScope,
    Placed,
    Plan,
    PriorityClass,
    Quota,
    QuotaKind,
    Snapshot,
    Unit,
    Waiting,
)

Faults = Iterator[Fault]
Works = Mapping[int, Waiting]


def rule_faults(snapshot: Snapshot, plan: Plan, waiting: Works) -> Faults:
    """Everything that a rule forbids in the plan."""
    starts = [(p, waiting[p.workload]) for p in plan.placed if p.workload in waiting]
    for placed, work in starts:
        yield from _access(snapshot, placed, work)
        yield from calendar_faults(snapshot, placed, work)
        if placed.borrowed and work.priority_class is PriorityClass.CRITICAL:
            yield Fault("critical_on_loan", work.id)
    yield from sum_faults(snapshot, starts)
    yield from _barred(snapshot, starts)
    yield from _unproven(snapshot, starts)


def sum_faults(snapshot: Snapshot, starts: list[tuple[Placed, Waiting]]) -> Faults:
    """What these starts take too much of together: limits, licences, ceilings of cards."""
    taken = taken_by(snapshot, starts) if snapshot.quotas else []
    for row in snapshot.quotas:
        if row.kind is QuotaKind.LIMIT:
            yield from _quota(row, starts, taken)
    yield from _seats(snapshot, starts)
    yield from _ceilings(snapshot, starts)


def _seats(snapshot: Snapshot, starts: list[tuple[Placed, Waiting]]) -> Faults:
    """No more holders of a mode than there are licences left."""
    modes = {piece.id: piece.mode for piece in snapshot.slices}
    for seats in snapshot.seats:
        taken = sum(
            (part.new.mode if part.new else modes.get(part.slice or 0)) is seats.mode
            for placed, work in starts
            for part in placed.parts
            if seats.tenant in (None, *work.tenants) and seats.partition in (None, placed.partition)
        )
        if taken > max(0, seats.total - seats.used):
            yield Fault("seats", 0, seats.mode)


def start_faults(snapshot: Snapshot, placed: Placed, work: Waiting) -> Faults:
    """What forbids this one start, whenever it comes: access, loans, quota, ceilings, proof."""
    yield from _access(snapshot, placed, work)
    if placed.borrowed and work.priority_class is PriorityClass.CRITICAL:
        yield Fault("critical_on_loan", work.id)
    yield from sum_faults(snapshot, [(placed, work)])
    yield from _barred(snapshot, [(placed, work)])
    yield from _unproven(snapshot, [(placed, work)])


def _access(snapshot: Snapshot, placed: Placed, work: Waiting) -> Faults:
    for state in snapshot.partitions:
        shut = state.open_to is not None and not state.open_to & set(work.tenants)
        if state.id == placed.partition and shut:
            yield Fault("access", work.id)
        barred = work.trust not in (state.trusts or {work.trust})
        if state.id == placed.partition and barred and _unisolated(snapshot, placed):
            yield Fault("distrusted", work.id)


def _unisolated(snapshot: Snapshot, placed: Placed) -> bool:
    """Whether some part lies on a card in a mode that does not keep strangers apart."""
    cards = {card.id: card for card in snapshot.cards}
    modes = {piece.id: piece.mode for piece in snapshot.slices}
    found = (
        (cards.get(part.card), part.new.mode if part.new else modes.get(part.slice or 0))
        for part in placed.parts
    )
    return any(c and mode and isolation(c, mode) in UNISOLATED for c, mode in found)


def calendar_faults(snapshot: Snapshot, placed: Placed, work: Waiting) -> Faults:
    """Nothing that would overlap maintenance, a reservation or another's promise starts."""
    now = snapshot.now_s
    length = length_s(snapshot, work)
    cards = {part.card for part in placed.parts}
    nodes = {host.node for host in placed.hosts}
    for window in snapshot.windows:
        overlaps = window.starts_s < now + length and window.ends_s > now
        if overlaps and (cards & window.cards or nodes & window.nodes):
            yield Fault("maintenance", work.id)
    for kept in snapshot.reservations:
        overlaps = kept.starts_s < now + length and kept.ends_s > now
        theirs = not kept.tenants & set(work.tenants) and not (kept.lends and work.preemptible)
        if overlaps and theirs and cards & kept.cards - work.kept:
            yield Fault("reserved", work.id)
    if work.kept and not cards <= work.kept:
        yield Fault("not_on_kept_cards", work.id)
    others = [p for p in snapshot.promises if p.workload != work.id and p.until_s > now]
    on_nodes = not cards and any(nodes & promise.nodes for promise in others)
    if on_nodes or any(cards & promise.cards for promise in others):
        yield Fault("promised", work.id)


def _quota(
    row: Quota,
    starts: list[tuple[Placed, Waiting]],
    taken: Sequence[Sequence[tuple[str, int]]],
) -> Faults:
    """The plan's starts keep the row at or under its limit, or add nothing to it."""
    added = 0
    for (placed, work), parts in zip(starts, taken, strict=True):
        if row.tenant not in work.tenants or row.partition not in (None, placed.partition):
            continue
        if counted_already(row, work):
            continue
        if row.unit is Unit.CARD_MICRO:
            added += sum(micro for label, micro in parts if row.label in (None, label))
        else:
            added += sum(_host_units(placed, row.unit))
    if added and row.held + added > row.limit:
        yield Fault("quota", row.id, row.tenant)


def _barred(snapshot: Snapshot, starts: list[tuple[Placed, Waiting]]) -> Faults:
    """Nobody starts on a kind of card that its tenant's rows do not name, where they name some."""
    labels = {card.id: card.label for card in snapshot.cards}
    limits = [row for row in snapshot.quotas if row.kind is QuotaKind.LIMIT]
    for placed, work in starts:
        rows = [
            row
            for row in limits
            if row.tenant in work.tenants
            and row.unit is Unit.CARD_MICRO
            and row.partition in (None, placed.partition)
            and not counted_already(row, work)
        ]
        if any(barred_by(rows, labels.get(part.card, "")) for part in placed.parts):
            yield Fault("kind_is_barred", work.id)


def _host_units(placed: Placed, unit: Unit) -> Iterator[int]:
    for host in placed.hosts:
        if unit is Unit.CPU_MILLI:
            yield host.cpu_milli
        elif unit is Unit.MEMORY_MIB:
            yield host.memory_mib
        else:
            yield host.disk_mib


def _unproven(snapshot: Snapshot, starts: list[tuple[Placed, Waiting]]) -> Faults:
    """Training without a checkpoint shares no mixed card (requirement S6)."""
    mixed = {card.id for card in snapshot.cards if card.mixed}
    whole = {piece.id for piece in snapshot.slices if piece.mode is Mode.WHOLE}
    for placed, work in starts:
        if work.checkpointed or work.purpose not in ("training", "pretraining"):
            continue
        for part in placed.parts:
            alone = part.slice in whole or (part.new is not None and part.new.mode is Mode.WHOLE)
            if part.card in mixed and not alone:
                yield Fault("unproven_on_a_mixed_card", work.id)


def _ceilings(snapshot: Snapshot, starts: list[tuple[Placed, Waiting]]) -> Faults:
    """No class takes more of a card than its partition lets it."""
    cards = {card.id: card for card in snapshot.cards}
    existing = {piece.id: piece for piece in snapshot.slices}
    loads: dict[int, list[tuple[str, int]]] = {}
    for piece in snapshot.slices:
        if piece.held_by is not None:
            loads.setdefault(piece.card, []).append((piece.purpose, piece.compute_milli))
    ceilings = {state.id: state.ceilings for state in snapshot.partitions}
    for placed, work in starts:
        binding = [c for c in ceilings.get(placed.partition, ()) if work.purpose in c.purposes]
        for part in placed.parts:
            given, card = part.new or existing.get(part.slice or 0), cards.get(part.card)
            if given is None or card is None:
                continue
            load = loads.setdefault(part.card, [])
            load.append((work.purpose, given.compute_milli))
            share = (given.compute_milli, given.memory_mib * 1000 / card.memory_mib)
            if any(_over(ceiling, share, load, card.mixed) for ceiling in binding):
                yield Fault("ceiling", work.id)


def _over(
    ceiling: Ceiling, share: tuple[int, float], load: list[tuple[str, int]], mixed: bool
) -> bool:
    """Whether a share (compute and memory, in thousandths) or the sum on its card is too much."""
    if ceiling.scope is CeilingScope.CARD_SPLIT and not mixed:
        return False
    if share[0] > ceiling.compute_milli or share[1] > ceiling.memory_milli:
        return True
    if ceiling.scope is CeilingScope.PER_WORKLOAD:
        return False
    return sum(c for purpose, c in load if purpose in ceiling.purposes) > ceiling.compute_milli
