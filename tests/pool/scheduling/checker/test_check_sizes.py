"""The checker does its own sums: sizes, costs, loans, moves, and what a card can do at all."""

from dataclasses import replace

import pytest

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.scheduling.checker import check
from pool.scheduling.model import (
    CarveMove,
    Ceiling,
    CeilingScope,
    PartitionState,
    Reservation,
)
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole


def _codes(world, made):
    return {fault.code for fault in check(world, made)}


def _first(made, **changed):
    return replace(made, placed=(replace(made.placed[0], **changed), *made.placed[1:]))


def _part(made, **changed):
    """The plan with the first part of its first start changed, its new slice where that is told."""
    part = made.placed[0].parts[0]
    new = {name: changed.pop(name) for name in list(changed) if name in part.new.__slots__}
    changed = {"new": replace(part.new, **new)} | changed
    return _first(made, parts=(replace(part, **changed), *made.placed[0].parts[1:]))


def _cheap(made, micro):
    """The plan with each part told to cost so little."""
    return replace(
        made,
        placed=tuple(
            replace(
                one,
                card_micro=micro * len(one.parts),
                parts=tuple(
                    replace(part, card_micro=micro, new=replace(part.new, card_micro=micro))
                    for part in one.parts
                ),
            )
            for one in made.placed
        ),
    )


@pytest.mark.parametrize(
    ("modes", "need"),
    [
        (("whole",), {"whole": True}),
        (("mig",), {"profile": "3g.40gb"}),
        (("mps",), {"gb": 10}),
    ],
)
def test_a_wrong_cost_of_a_slice_is_seen(modes, need):
    world = snapshot().node("n1").card("A100-80GB", modes=modes).queue(req(1, **need)).made
    made = plan(world)
    assert check(world, made) == ()
    part = made.placed[0].parts[0]
    assert "wrong_card_micro" in _codes(world, _cheap(made, 1))
    assert "wrong_card_micro" in _codes(world, _part(made, new=replace(part.new, card_micro=1)))
    assert "wrong_card_micro" in _codes(world, _first(made, card_micro=1))


def test_a_limit_counts_what_cards_cost_not_what_the_plan_says():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).queue(whole(1), whole(2))
    two = plan(world.made)
    limited = world.quota("p1", limit=1).made
    assert "quota" in _codes(limited, two)
    assert "quota" in _codes(limited, _cheap(two, 1))


@pytest.mark.parametrize(
    ("modes", "need", "wrong"),
    [
        (("mig",), {"profile": "3g.40gb"}, {"memory_mib": 1}),
        (("mig",), {"profile": "3g.40gb"}, {"compute_milli": 1}),
        (("mig",), {"profile": "3g.40gb"}, {"profile": "3g.41gb"}),
        (("whole",), {"whole": True}, {"memory_mib": 1}),
        (("whole",), {"whole": True}, {"compute_milli": 999}),
        (("mps",), {"gb": 10}, {"memory_mib": 90_000}),
    ],
)
def test_a_slice_of_wrong_sizes_is_seen(modes, need, wrong):
    world = snapshot().node("n1").card("A100-80GB", modes=modes).queue(req(1, **need)).made
    assert "wrong_size" in _codes(world, _part(plan(world), **wrong))


@pytest.mark.parametrize(
    ("need", "wrong"),
    [
        ({"share_milli": 500}, {"memory_mib": 20_000}),
        ({"gb": 20}, {"compute_milli": 100}),
        ({"gb": 20, "compute_milli": 100, "proportional": True}, {"compute_milli": 100}),
        ({"memory_mib": 10, "min_size_gb": 20}, {"memory_mib": 10, "compute_milli": 0}),
    ],
)
def test_a_soft_share_below_the_need_is_seen(need, wrong):
    world = snapshot().node("n1").card("A100-80GB", modes=("mps",)).queue(req(1, **need)).made
    made = plan(world)
    assert check(world, made) == ()
    assert "too_small" in _codes(world, _part(made, **wrong))


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"min_driver": "999.0"}, "cannot_run_there"),
        ({"min_compute_capability": "9.0"}, "cannot_run_there"),
        ({"runner": "enroot"}, "node_lacks"),
        ({"min_size_gb": 200}, "too_small"),
    ],
)
def test_a_card_or_node_that_cannot_run_the_work_is_seen(wanted, code):
    world = snapshot().node("n1")
    world = world.card("A100-80GB", driver="550.1", compute_capability="8.0", modes=("whole",))
    made = plan(world.queue(whole(1)).made)
    asked = world.queue(whole(1, **wanted)).made
    assert code in _codes(asked, made)
    assert plan(asked).placed == ()


def test_plain_work_on_a_node_that_runs_only_containers_is_seen():
    world = snapshot().node("n1").card("A30", modes=("whole",)).queue(whole(1)).made
    made = plan(world)
    nodes = (replace(world.nodes[0], runners=frozenset({"enroot"})),)
    other = replace(world, nodes=nodes)
    assert _codes(other, made) == {"node_lacks"}
    assert plan(other).placed == ()


def test_a_change_of_mode_or_a_reset_that_is_left_out_is_seen():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",)).queue(req(1, gb=20)).made
    made = plan(world)
    (move,) = made.placed[0].moves
    assert move.mode is Mode.MIG and move.reset
    assert _codes(world, _first(made, moves=())) == {"mode_not_changed"}
    assert _codes(world, _first(made, moves=(replace(move, reset=False),))) == {"reset_left_out"}


def test_a_move_of_a_card_that_the_start_does_not_take_is_seen():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = world.slice(2, "whole", mode="whole").queue(whole(1))
    made = plan(world.made)
    other = next(c.id for c in world.made.cards if c.id != made.placed[0].parts[0].card)
    moved = _first(made, moves=(CarveMove(card=other, mode=Mode.WHOLE),))
    assert "moves_another_card" in _codes(world.made, moved)


def _cut(mode, most, *names):
    profiles = tuple(
        Profile(
            name=name,
            profile_id=name,
            compute=1,
            size=1,
            memory_mib=1024 * (at + 1),
            nominal_gb=at + 1,
            starts=(),
            max_instances=most,
        )
        for at, name in enumerate(names)
    )
    return Geometry(
        mode=mode,
        units=8,
        compute_units=8,
        isolation=Isolation.HARDWARE,
        reset_to_enter=False,
        profiles=profiles,
    )


def test_more_of_a_vendors_profile_than_its_maximum_is_seen():
    cut = _cut(Mode.VNPU, 2, "vir01")
    world = snapshot().node("n1").card("910B", modes=("vnpu",), geometries=(cut,))
    queue = world.queue(*(req(n, gb=1) for n in (1, 2, 3))).made
    made = plan(queue)
    assert len(made.placed) == 2 and check(queue, made) == ()
    third = replace(made.placed[0], workload=3, moves=())
    assert "too_many" in _codes(queue, replace(made, placed=(*made.placed, third)))


def test_a_slice_on_its_way_out_still_counts_for_a_vendors_maximum():
    cut = _cut(Mode.VNPU, 1, "vir01")
    world = snapshot().node("n1").card("910B", modes=("vnpu",), geometries=(cut,))
    world = world.slice(1, "vir01", mode="vnpu", stage="going").queue(req(1, gb=1)).made
    assert plan(world).placed == ()


def test_unlike_partitions_on_one_card_are_seen():
    cut = _cut(Mode.AMD_PARTITION, 8, "cpx", "dpx")
    world = snapshot().node("n1").card("MI300X", modes=("amd_partition",), geometries=(cut,))
    queue = world.queue(req(1, profile="cpx"), req(2, profile="dpx")).made
    made = plan(queue)
    assert len(made.placed) == 1 and check(queue, made) == ()
    alone = plan(world.queue(req(2, profile="dpx")).made).placed[0]
    both = replace(made, placed=(*made.placed, replace(alone, moves=())))
    assert "unlike_partitions" in _codes(queue, both)


def test_a_false_word_about_a_loan_is_seen():
    world = snapshot().node("n1").card("A30", modes=("whole",)).queue(whole(1, priority="critical"))
    free = plan(world.made)
    owned = world.quota("p2", limit=1, kind="entitlement", partition=1).made
    assert plan(owned).placed == ()
    assert _codes(owned, free) == {"wrongly_borrowed"}
    assert "wrongly_borrowed" in _codes(world.made, _first(free, borrowed=True))


def test_who_comes_after_those_that_used_the_guarantee_up_borrows():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",)).queue(whole(1), whole(2))
    world = world.quota("p1", limit=1, kind="entitlement", partition=1).made
    made = plan(world)
    assert [p.borrowed for p in made.placed] == [False, True] and check(world, made) == ()
    swapped = replace(made, placed=tuple(replace(p, borrowed=not p.borrowed) for p in made.placed))
    assert _codes(world, swapped) == {"wrongly_borrowed"}


def test_a_lent_card_is_a_loan():
    kept = Reservation(
        id=1,
        cards=frozenset({1}),
        tenants=frozenset({"p9"}),
        starts_s=NOW,
        ends_s=NOW + 99,
        lends=True,
    )
    world = snapshot().node("n1").card("A30", modes=("whole",)).have(reservations=(kept,))
    world = world.queue(whole(1, preemptible=True)).made
    made = plan(world)
    assert made.placed[0].borrowed and check(world, made) == ()
    assert _codes(world, _first(made, borrowed=False)) == {"wrongly_borrowed"}


def test_a_kind_of_card_that_the_allowance_does_not_name_is_seen():
    world = snapshot().node("n1").card("A30", modes=("whole",)).queue(whole(1))
    made = plan(world.made)
    strict = world.quota("p1", limit=5, only=True, label="L40S").made
    assert _codes(strict, made) == {"kind_is_barred"}
    assert plan(strict).placed == ()


def test_more_memory_than_one_workload_may_take_is_seen():
    world = snapshot().node("n1").card("L40S", modes=("mps",)).queue(req(1, gb=24))
    made = plan(world.made)
    bound = Ceiling(
        scope=CeilingScope.PER_WORKLOAD, purposes=frozenset({"training"}), memory_milli=400
    )
    under = world.have(partitions=(PartitionState(id=1, name="main", ceilings=(bound,)),)).made
    assert _codes(under, made) == {"ceiling"}
    assert plan(under).placed == ()


def test_more_holders_than_a_sharing_mode_serves_are_seen():
    world = snapshot().node("n1").card("L40S", modes=("mps",))
    world = world.queue(*(req(n, memory_mib=100) for n in range(1, 50))).made
    made = plan(world)
    assert len(made.placed) == 48 and check(world, made) == ()
    more = replace(made.placed[0], workload=made.waits[max(made.waits)].workload, moves=())
    assert "too_many" in _codes(world, replace(made, placed=(*made.placed, more)))


class Walked(tuple):
    """A tuple that counts how often somebody walks through it."""

    times = 0

    def __iter__(self):
        type(self).times += 1
        return super().__iter__()


def test_more_limits_and_starts_do_not_walk_through_all_cards_more_often():
    def walks(starts, limits):
        world = snapshot().node("n1").card("A30", count=12, modes=("whole",))
        for _ in range(limits):
            world = world.quota("p1", limit=50)
        world = world.queue(*(whole(n) for n in range(1, starts + 1))).made
        made = plan(world)
        assert len(made.placed) == starts
        Walked.times = 0
        assert check(replace(world, cards=Walked(world.cards)), made) == ()
        return Walked.times

    assert walks(2, 1) == walks(12, 30)
