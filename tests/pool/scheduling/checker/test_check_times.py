"""The checker sees each kind of wrong planned start, and the starts that would delay one."""

from dataclasses import replace

import pytest

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.checker import check
from pool.scheduling.model import (
    NewSlice,
    Part,
    Placed,
    Reservation,
    Topology,
    Window,
)
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole


def _codes(world, made):
    return {fault.code for fault in check(world, made)}


def _waiting(world, number, **changed):
    works = (replace(w, **changed) if w.id == number else w for w in world.waiting)
    return replace(world, waiting=tuple(works))


def _pool(*works):
    """Four cards, three of them busy for ten minutes."""
    world = snapshot().node("n1", cpu=8000).card("A30", count=4, modes=("whole",))
    return world.busy(3, ends=600).queue(*works).made


def test_work_that_slips_in_and_would_run_past_the_heads_start_on_its_cards_is_seen():
    world = _pool(whole(1, 4, declared_s=100.0), whole(2, declared_s=500.0))
    made = plan(world)
    assert [p.workload for p in made.placed] == [2] and check(world, made) == ()
    late = _waiting(world, 2, declared_s=601.0)
    assert _codes(late, made) == {"head_delayed"}
    assert _codes(_waiting(world, 2, declared_s=600.0), made) == set()
    assert _codes(_waiting(world, 2, declared_s=500.0, p90_ratio=1.5), made) == {"head_delayed"}


def test_a_host_share_or_a_limit_that_the_head_would_lack_is_seen():
    world = _pool(
        whole(1, 4, cpu_milli=8000, declared_s=100.0),
        req(2, parts=0, cpu_milli=1000, declared_s=300.0),
    )
    made = plan(world)
    assert [p.workload for p in made.placed] == [2] and check(world, made) == ()
    late = _waiting(world, 2, declared_s=9000.0)
    assert _codes(late, made) == {"head_delayed"} and plan(late).placed == ()
    elsewhere = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(2, ends=600)
    elsewhere = elsewhere.node("n2").card("L40S", modes=("whole",))
    heads = whole(1, 2, declared_s=100.0, labels=frozenset({"A30"}))
    beside = elsewhere.queue(heads, whole(2, declared_s=300.0, labels=frozenset({"L40S"})))
    made = plan(beside.made)
    assert [p.workload for p in made.placed] == [2]
    long = _waiting(beside.quota("o1", limit=2).made, 2, declared_s=9000.0)
    assert _codes(long, made) == {"head_delayed"}
    assert plan(long).placed == (), "what the head needs of the limit is kept for it, too"


def test_nobody_delays_a_head_by_coming_to_a_node_that_takes_one_group_or_nobody_else():
    world = snapshot().node("n1", fence=False, trust="p2").card("A30", count=2, modes=("whole",))
    world = world.slice(1, "whole", mode="whole")
    world = world.running(901, slices=(1,), ends=600, tenant="p2", hosts=((1, 0, 0, 0),))
    world = world.queue(whole(1, declared_s=50.0), whole(2, tenant="p2", declared_s=300.0)).made
    made = plan(world)
    assert [p.workload for p in made.placed] == [2] and check(world, made) == ()
    long = _waiting(world, 2, declared_s=9000.0)
    assert _codes(long, made) == {"head_delayed"}
    assert plan(long).placed == ()
    need = replace(world.waiting[0].need, topology=Topology.WHOLE_NODES)
    entire = replace(_waiting(world, 1, need=need), nodes=(replace(world.nodes[0], fence=True),))
    made = plan(entire)
    assert [p.workload for p in made.placed] == [2]
    long = _waiting(entire, 2, declared_s=9000.0)
    assert _codes(long, made) == {"head_delayed"}
    assert plan(long).placed == ()


def _two_heads():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(2, ends=600)
    return world.queue(whole(1, 2, declared_s=100.0), whole(2, 2, declared_s=100.0)).made


def test_two_heads_on_the_same_cards_are_seen():
    world = _two_heads()
    made = plan(world)
    (start,) = made.starts
    same = replace(start, workload=2, placed=replace(start.placed, workload=2))
    assert _codes(world, replace(made, starts=(start, same))) == {"heads_share_room"}
    after = replace(same, at_s=start.at_s + 100.0)
    assert _codes(world, replace(made, starts=(start, after))) == set()


def test_two_heads_that_count_on_the_same_end_for_their_host_share_are_seen():
    world = snapshot().node("n1", cpu=16_000, cpu_free=0).card("A30", count=4, modes=("whole",))
    for number, ends in ((1, 100), (2, 200)):
        world = world.slice(number, "whole", mode="whole")
        world = world.running(900 + number, slices=(number,), ends=ends, hosts=((1, 8000, 0, 0),))
    made = world.queue(whole(1, cpu_milli=8000), whole(2, cpu_milli=16_000)).made
    found = plan(made)
    assert check(made, found) == ()
    first = next(s for s in found.starts if s.workload == 1)
    assert first.at_s == NOW + 100
    host = replace(first.placed.hosts[0], cpu_milli=16_000)
    part = Part(
        card=4,
        card_micro=1_000_000,
        new=NewSlice(
            mode=Mode.WHOLE,
            profile="whole",
            memory_mib=24_576,
            compute_milli=1000,
            card_micro=1_000_000,
            start=0,
            size=4,
        ),
    )
    placed = Placed(workload=2, partition=1, parts=(part,), hosts=(host,), card_micro=1_000_000)
    other = replace(
        first, workload=2, at_s=NOW + 200, cards=frozenset({4}), nodes=frozenset({1}), placed=placed
    )
    assert "heads_share_room" in _codes(made, replace(found, starts=(first, other)))


@pytest.mark.parametrize(
    ("kept", "code"),
    [
        ({"windows": (Window(id=1, cards=frozenset({1}), nodes=frozenset(), starts_s=NOW + 650,
                             ends_s=NOW + 5000),)}, "planned_maintenance"),
        ({"reservations": (Reservation(id=1, cards=frozenset({2}), tenants=frozenset({"p9"}),
                                       starts_s=NOW + 650, ends_s=NOW + 5000),)},
         "planned_reserved"),
    ],
)  # fmt: skip
def test_a_start_that_is_planned_into_maintenance_or_others_time_is_seen(kept, code):
    world = _pool(whole(1, 4, declared_s=100.0))
    made = plan(world)
    assert check(world, made) == ()
    closed = replace(world, **kept)
    assert code in _codes(closed, made)
    assert check(closed, plan(closed)) == ()
    assert plan(closed).starts[0].at_s >= NOW + 5000


def test_a_winners_start_is_judged_as_of_when_its_victims_have_left():
    world = snapshot().node("n1").card("A30", modes=("whole",)).slice(1, "whole", mode="whole")
    low = {"priority_class": "low", "checkpointed": True, "card_micro": 1_000_000}
    world = world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), ends=9000, **low)
    world = world.queue(whole(1, priority="high", declared_s=100.0)).made
    made = plan(world)
    assert len(made.evictions) == 1 and check(world, made) == ()
    soon = Window(
        id=1, cards=frozenset({1}), nodes=frozenset(), starts_s=NOW + 130, ends_s=NOW + 5000
    )
    closed = replace(world, windows=(soon,))
    assert _codes(closed, made) == {"planned_maintenance"}
    assert plan(closed).evictions == ()


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"at_s": NOW - 1}, "planned_in_the_past"),
        ({"at_s": NOW + 599}, "planned_slice_not_free"),
        ({"cards": frozenset({1})}, "planned_elsewhere"),
        ({"nodes": frozenset()}, "planned_elsewhere"),
        ({"placed": None}, "planned_nowhere"),
        ({"workload": 9}, "planned_but_not_waiting"),
    ],
)
def test_a_planned_start_of_another_time_place_or_work_is_seen(changed, code):
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).busy(2, ends=600)
    world = world.queue(whole(1, 2)).made
    made = plan(world)
    start = made.starts[0]
    if code == "planned_slice_not_free":
        parts = tuple(replace(p, slice=p.card, new=None) for p in start.placed.parts)
        changed = changed | {"placed": replace(start.placed, parts=parts)}
    assert code in _codes(world, replace(made, starts=(replace(start, **changed),)))


def test_a_head_of_the_wrong_shape_is_seen():
    world = _pool(whole(1, 4))
    made = plan(world)
    start = made.starts[0]
    less = replace(start.placed, parts=start.placed.parts[:3])
    short = replace(start, cards=frozenset(part.card for part in less.parts), placed=less)
    assert "planned_parts" in _codes(world, replace(made, starts=(short,)))
