"""The checker on the headroom: normal starts leave the last free cards of a kind alone."""

from collections import Counter
from collections.abc import Iterator

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.checker.faults import Fault
from pool.scheduling.model import (
    CardState,
    Plan,
    PriorityClass,
    SliceStage,
    SliceState,
    Snapshot,
    Waiting,
)

URGENT = (PriorityClass.CRITICAL, PriorityClass.HIGH)


def headroom_faults(snapshot: Snapshot, plan: Plan) -> Iterator[Fault]:
    """Go through the starts in their order, counting the cards that nobody has touched."""
    bound = _partitions(snapshot)
    if not bound:
        return
    works = {work.id: work for work in snapshot.waiting}
    promised = {promise.workload for promise in snapshot.promises}
    kinds = {card.id: (card.partition, card.label) for card in snapshot.cards}
    total = Counter(kinds.values())
    free = _untouched(snapshot)
    left = Counter(kinds[card] for card in free)
    for placed in plan.placed:
        work = works.get(placed.workload)
        opened = {part.card for part in placed.parts} & free
        free -= opened
        left.subtract(kinds[card] for card in opened)
        if work is None or placed.partition not in bound or _exempt(work, promised):
            continue
        for kind in {kinds[card] for card in opened}:
            wanted = total[kind] * snapshot.rules.headroom_milli // 1000
            if left[kind] < min(wanted, max(0, total[kind] - work.need.parts)):
                yield Fault("headroom", work.id)


def _partitions(snapshot: Snapshot) -> set[int]:
    """Where urgent work runs or waits, and others may have to give way to it."""
    if not snapshot.rules.preemption:
        return set()
    found = {run.partition for run in snapshot.running if run.priority_class in URGENT}
    for work in snapshot.waiting:
        if work.priority_class in URGENT:
            found.update(work.partitions)
    return found - {state.id for state in snapshot.partitions if not state.preemption}


def _exempt(work: Waiting, promised: set[int]) -> bool:
    return work.priority_class in URGENT or work.id in promised or bool(work.kept)


def _untouched(snapshot: Snapshot) -> set[int]:
    """Cards that could be given whole: on offer, and nothing on them that is held or on its way."""
    nodes = {node.id for node in snapshot.nodes if node.offered}
    pieces: dict[int, list[SliceState]] = {}
    for piece in snapshot.slices:
        pieces.setdefault(piece.card, []).append(piece)
    return {
        card.id
        for card in snapshot.cards
        if card.offered and card.node in nodes and _whole(card, pieces.get(card.id, []))
    }


def _whole(card: CardState, pieces: list[SliceState]) -> bool:
    if Mode.WHOLE not in card.modes or any(piece.held_by is not None for piece in pieces):
        return False
    coming = len(pieces) == 1 and pieces[0].mode is Mode.WHOLE
    coming = coming and pieces[0].stage is SliceStage.COMING
    return coming or all(piece.stage is SliceStage.READY for piece in pieces)
