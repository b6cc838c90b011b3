"""Random pools with everything that a snapshot can hold beside nodes, cards and a queue."""

from dataclasses import replace

from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.model import (
    Demand,
    Need,
    PartitionState,
    Promise,
    Reservation,
    Seats,
    TenantShare,
    Window,
)
from tests.builders import NOW

TENANTS = ("o1", "p1", "p2", "p3")
DEMAND = (Need(memory_gb=10), Need(whole=True), Need(memory_gb=40, modes=(Mode.MIG,)))


@st.composite
def furnished(draw, worlds):
    """One of these worlds with a second partition, a calendar, promises, seats and a demand."""
    world = draw(worlds)
    held = {piece.card for piece in world.slices}
    ids = [card.id for card in world.cards]
    some = st.frozensets(st.sampled_from(ids), max_size=3) if ids else st.just(frozenset())
    cards = tuple(
        replace(card, partition=2) if card.id not in held and draw(st.booleans()) else card
        for card in world.cards
    )
    both = draw(st.sampled_from([(1,), (1, 2), (2, 1)]))
    works = tuple(
        replace(work, partitions=both if draw(st.booleans()) else work.partitions)
        for work in world.waiting
    )
    return replace(
        world,
        cards=cards,
        waiting=works,
        partitions=(*world.partitions, PartitionState(id=2, name="other")),
        shares=tuple(
            TenantShare(
                tenant=one,
                usage=draw(st.sampled_from([0.0, 10.0, 1e6])),
                weight=draw(st.sampled_from([1.0, 4.5, 100.0])),
            )
            for one in TENANTS
        ),
        reservations=draw(_several(_reservations(some))),
        windows=draw(_several(_windows(some))),
        promises=tuple(
            Promise(workload=work.id, cards=draw(some), nodes=frozenset(), until_s=NOW + 60.0)
            for work in works
            if draw(st.integers(0, 4)) == 0
        ),
        seats=tuple(
            Seats(id=number, mode=mode, total=3, used=draw(st.integers(0, 3)))
            for number, mode in enumerate((Mode.MPS, Mode.MIG), start=1)
        ),
        demand=tuple(
            Demand(need=need, weight=draw(st.sampled_from([1.0, 5.0]))) for need in DEMAND
        ),
    )


def _several(rows):
    """Up to two rows, numbered from 1."""
    return st.lists(rows, max_size=2).map(
        lambda found: tuple(replace(row, id=number) for number, row in enumerate(found, start=1))
    )


@st.composite
def _reservations(draw, some):
    starts = NOW + draw(st.sampled_from([-60.0, 300.0, 5000.0]))
    return Reservation(
        id=0,
        cards=draw(some),
        tenants=frozenset({draw(st.sampled_from(TENANTS))}),
        starts_s=starts,
        ends_s=starts + 3600.0,
        lends=draw(st.booleans()),
    )


@st.composite
def _windows(draw, some):
    starts = NOW + draw(st.sampled_from([-60.0, 300.0, 5000.0]))
    return Window(
        id=0, cards=draw(some), nodes=frozenset(), starts_s=starts, ends_s=starts + 3600.0
    )
