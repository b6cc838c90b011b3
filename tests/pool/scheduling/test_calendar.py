"""Time keeps cards away: maintenance, reservations, lending; seats and doors beside it."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.calendar import forecast_s
from pool.scheduling.checker import check
from pool.scheduling.model import PartitionState, Policy, Reason, Reservation, Seats, Window
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot
from tests.pool.scheduling.dense import dense_worlds
from tests.pool.scheduling.worlds import worlds

LAW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


@st.composite
def timed_worlds(draw):
    """A random pool with windows and reservations over some of its cards, lending or not."""
    world = draw(st.one_of(worlds(), dense_worlds()))
    ids = [card.id for card in world.cards]
    some = st.sets(st.sampled_from(ids), max_size=4) if ids else st.just(set())
    times = st.tuples(st.integers(-3600, 7200), st.integers(60, 7200))
    windows, kept = [], []
    for number in range(draw(st.integers(0, 2))):
        start, length = draw(times)
        windows.append(
            Window(
                id=number + 1,
                cards=frozenset(draw(some)),
                nodes=frozenset(draw(st.sets(st.sampled_from([n.id for n in world.nodes])))),
                starts_s=NOW + start,
                ends_s=NOW + start + length,
            )
        )
    left = set(ids)
    for number in range(draw(st.integers(0, 2))):
        start, length = draw(times)
        mine = frozenset(draw(some) & left)
        left -= mine
        kept.append(
            Reservation(
                id=number + 1,
                cards=mine,
                tenants=frozenset(),
                starts_s=NOW + start,
                ends_s=NOW + start + length,
                lends=draw(st.booleans()),
            )
        )
    waiting = []
    for work in world.waiting:
        own = draw(st.sampled_from([None, *kept])) if kept else None
        active = own is not None and own.starts_s <= NOW < own.ends_s and own.cards
        waiting.append(
            replace(
                work,
                preemptible=draw(st.booleans()),
                kept=own.cards if active else frozenset(),
            )
        )
    return replace(world, windows=tuple(windows), reservations=tuple(kept), waiting=tuple(waiting))


@LAW
@given(timed_worlds())
def test_reserved_room_and_maintenance_are_never_given_to_work_that_could_overlap_them(world):
    made = plan(world)
    works = {work.id: work for work in world.waiting}
    for placed in made.placed:
        work = works[placed.workload]
        until = NOW + forecast_s(work, world.rules)
        cards = {part.card for part in placed.parts}
        nodes = {host.node for host in placed.hosts}
        for window in world.windows:
            if window.starts_s < until and window.ends_s > NOW:
                assert not cards & window.cards and not nodes & window.nodes
        for one in world.reservations:
            if one.starts_s < until and one.ends_s > NOW and not (one.lends and work.preemptible):
                assert not cards & (one.cards - work.kept)
        assert not work.kept or cards <= work.kept
    assert check(world, made) == ()


def one_card(**given):
    return (
        snapshot().node("n1").card("A100-80GB", modes=("whole", "mig", "mps"), **given).have().made
    )


def whole(number=1, **given):
    return req(number, whole=True, parts=1, modes=(Mode.WHOLE,), **given)


def kept(world, **given):
    words = {"id": 1, "cards": frozenset(c.id for c in world.cards), "tenants": frozenset()}
    times = {"starts_s": NOW - 10, "ends_s": NOW + 3600}
    return replace(world, reservations=(Reservation(**words | times | given),))


@pytest.mark.parametrize(
    ("lends", "preemptible", "starts"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_an_idle_kept_card_is_lent_only_to_work_that_gives_way(lends, preemptible, starts):
    world = kept(one_card(), lends=lends)
    world = replace(world, waiting=(whole(preemptible=preemptible),))
    made = plan(world)
    assert bool(made.placed) == starts
    assert all(placed.borrowed for placed in made.placed)
    if not starts:
        assert made.waits[1].reason is Reason.RESERVED


def test_the_owner_gets_the_kept_card_and_no_other():
    world = one_card(count=2)
    first = frozenset({world.cards[0].id})
    world = kept(world, cards=first)
    works = (whole(1, kept=first), whole(2, kept=first), whole(3))
    made = plan(replace(world, waiting=works))
    assert {p.workload: p.parts[0].card for p in made.placed} == {
        1: world.cards[0].id,
        3: world.cards[1].id,
    }


def test_seats_count_for_whom_and_where_they_are():
    world = one_card(count=3)
    seats = (
        Seats(id=1, mode=Mode.WHOLE, total=2, used=0, partition=world.cards[0].partition),
        Seats(id=2, mode=Mode.WHOLE, total=1, used=0, tenant="org-of-nobody"),
        Seats(id=3, mode=Mode.MIG, total=0, used=0),
    )
    made = plan(replace(world, waiting=(whole(1), whole(2), whole(3)), seats=seats))
    assert len(made.placed) == 2
    assert [told.reason for told in made.waits.values()] == [Reason.LICENCE]


def test_a_class_is_placed_by_its_own_policy_and_only_trusted_groups_share():
    state = PartitionState(
        id=1, name="p", policy=Policy.BINPACK, policies=(("inference", Policy.SPREAD),)
    )
    assert state.policy_for("inference") is Policy.SPREAD
    assert state.policy_for("training") is Policy.BINPACK
    world = one_card()
    part = world.cards[0].partition
    closed = PartitionState(id=part, name="p", trusts=frozenset({"others"}))
    soft = req(1, gb=10, parts=1, modes=(Mode.MPS,), trust="mine")
    made = plan(
        replace(world, partitions=(closed,), waiting=(soft, replace(whole(2), trust="mine")))
    )
    assert [placed.workload for placed in made.placed] == [2]
    assert made.waits[1].reason is Reason.ISOLATION
