"""Pools of any size for the plan benchmark, four fifths full, with a queue."""

from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.scheduling.model import (
    CardState,
    NodeState,
    PartitionState,
    PriorityClass,
    Rules,
    Running,
    SliceStage,
    SliceState,
    Snapshot,
)
from tests.builders import CARDS, NOW, mig, req, whole

LABELS = ("A100-80GB", "L40S", "A30")


def _node(number):
    return NodeState(
        id=number,
        name=f"n{number}",
        cpu_milli=128_000,
        memory_mib=1_000_000,
        disk_mib=1_000_000,
        cpu_free_milli=64_000,
        memory_free_mib=500_000,
        disk_free_mib=1_000_000,
    )


def _card(number, node, busy):
    label = LABELS[node % 3]
    vendor, nominal, usable, table, strength = CARDS[label]
    return CardState(
        id=number,
        uuid=f"GPU-{number}",
        node=node,
        partition=1,
        label=label,
        vendor=Vendor(vendor),
        memory_mib=usable,
        nominal_gb=nominal,
        modes=frozenset({Mode.WHOLE, Mode.MIG} if table else {Mode.WHOLE, Mode.MPS}),
        geometries=(mig(table),) if table else (),
        mode=Mode.WHOLE if busy else None,
        trust="p1" if busy else None,
        strength=strength,
    )


def _held(card):
    return SliceState(
        id=card.id,
        card=card.id,
        mode=Mode.WHOLE,
        profile="whole",
        memory_mib=card.memory_mib,
        compute_milli=1000,
        stage=SliceStage.READY,
        start=0,
        size=8,
        held_by=card.id,
        trust="p1",
    )


def _run(card):
    return Running(
        id=card.id,
        uid=f"wl-{card.id}",
        tenants=("o1", "p1"),
        trust="p1",
        purpose="training",
        priority_class=PriorityClass.NORMAL,
        started_s=NOW - 100,
        slices=(card.id,),
        hosts=((card.node, 8000, 60_000, 0),),
        partition=1,
        ends_s=NOW + card.id % 1000 * 10,
        card_micro=1_000_000,
    )


def _wait(number):
    told = {"tenant": f"p{number % 5}", "declared_s": 600.0 + number, "cpu_milli": 2000}
    if number % 7 < 2:
        return whole(1_000_000 + number, (1, 2, 4, 8)[number % 4], **told)
    if number % 7 < 5:
        return req(1_000_000 + number, gb=(10, 20, 40)[number % 3], **told)
    return req(1_000_000 + number, share_milli=(200, 500)[number % 2], **told)


def pool(cards, waiting):
    """A snapshot of so many cards on nodes of eight, and so many waiting workloads."""
    made = [_card(n, (n - 1) // 8 + 1, n * 7919 % 10 < 8) for n in range(1, cards + 1)]
    busy = [card for card in made if card.trust]
    return Snapshot(
        now_s=NOW,
        nodes=tuple(_node(n) for n in range(1, (cards - 1) // 8 + 2)),
        cards=tuple(made),
        slices=tuple(_held(card) for card in busy),
        partitions=(PartitionState(id=1, name="main"),),
        waiting=tuple(_wait(n) for n in range(waiting)),
        running=tuple(_run(card) for card in busy),
        rules=Rules(placements_per_round=1_000_000),
    )
