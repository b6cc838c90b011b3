"""The checker sees each kind of wrong plan."""

from dataclasses import replace

import pytest

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.checker import check
from pool.scheduling.model import (
    CarveMove,
    Ceiling,
    CeilingScope,
    Eviction,
    PartitionState,
    Plan,
    PriorityClass,
    Promise,
    Reservation,
    Seats,
    Topology,
    Window,
)
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole


def _codes(world, made):
    return {fault.code for fault in check(world.made, made)}


def _changed(made, **changed):
    first = replace(made.placed[0], **changed)
    return Plan(placed=(first, *made.placed[1:]), waits=made.waits)


def _world():
    world = snapshot().node("n1").card("A100-80GB", count=3, modes=("whole", "mig", "mps"))
    return world.queue(req(1, gb=20, modes=(Mode.MIG,)), whole(2))


def _new(part, **changed):
    return replace(part, new=replace(part.new, **changed))


def test_a_good_plan_has_no_fault():
    assert check(_world().made, plan(_world().made)) == ()


def test_an_unanswered_workload_is_seen():
    assert _codes(_world(), Plan()) == {"unanswered"}


def test_a_workload_started_twice_is_seen():
    made = plan(_world().made)
    assert "answered_twice" in _codes(_world(), Plan(placed=(*made.placed, made.placed[0])))


def test_a_workload_nobody_asked_for_is_seen():
    assert "unknown_workload" in _codes(_world(), _changed(plan(_world().made), workload=9))


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"start": 1}, "illegal_place"),
        ({"profile": "1g.10gb", "size": 1, "start": 0, "memory_mib": 9728}, "too_small"),
        ({"mode": Mode.TIMESLICE}, "mode"),
    ],
)
def test_a_wrong_slice_is_seen(changed, code):
    made = plan(_world().made)
    parts = (_new(made.placed[0].parts[0], **changed),)
    assert code in _codes(_world(), _changed(made, parts=parts))


def test_two_slices_on_one_place_are_seen():
    world = snapshot().node("n1").card("A100-80GB").queue(req(1, gb=20), req(2, gb=20))
    made = plan(world.made)
    same = replace(made.placed[1], parts=made.placed[0].parts, moves=())
    assert "overlap" in _codes(world, Plan(placed=(made.placed[0], same)))


def test_a_slice_given_twice_is_seen():
    world = snapshot().node("n1").card("A30").slice(1, "whole", mode="whole")
    world = world.queue(whole(1), whole(2))
    made = plan(world.made)
    again = replace(made.placed[0], workload=2)
    assert "slice_not_free" in _codes(world, Plan(placed=(made.placed[0], again)))


def test_removing_a_held_slice_is_seen():
    world = snapshot().node("n1").card("A100-80GB", count=2).slice(1, "1g.10gb", start=0)
    world = world.running(900, slices=(1,)).queue(whole(1))
    made = _changed(plan(world.made), moves=(CarveMove(card=1, removes=(1,), mode=Mode.WHOLE),))
    assert "removes_what_is_not_idle" in _codes(world, made)


def test_changing_the_mode_of_a_card_in_use_is_seen():
    world = snapshot().node("n1").card("A100-80GB", count=2).slice(1, "1g.10gb", start=0)
    world = world.running(900, slices=(1,)).queue(whole(1))
    made = _changed(plan(world.made), moves=(CarveMove(card=1, mode=Mode.WHOLE),))
    assert "mode_change_on_a_card_in_use" in _codes(world, made)


def test_soft_shares_past_the_card_are_seen():
    world = snapshot().node("n1").card("L40S", modes=("mps",))
    world = world.queue(req(1, share_milli=600), req(2, share_milli=300))
    made = plan(world.made)
    big = replace(made.placed[1], parts=made.placed[0].parts)
    codes = _codes(world, Plan(placed=(made.placed[0], big)))
    assert {"memory_overcommitted", "compute_overcommitted"} <= codes


def test_strangers_on_one_soft_card_are_seen():
    world = snapshot().node("n1").card("L40S", count=2, modes=("mps",))
    world = world.queue(req(1, gb=5, tenant="p1"), req(2, gb=5, tenant="p2"))
    made = plan(world.made)
    moved = replace(made.placed[1], parts=made.placed[0].parts)
    assert "two_groups_on_a_card" in _codes(world, Plan(placed=(made.placed[0], moved)))


def test_strangers_on_one_open_node_are_seen():
    world = snapshot().node("n1", fence=False).card("A30", count=2).queue(whole(1), whole(2))
    made = plan(world.made)
    stranger = replace(world.made.waiting[1], trust="other")
    mixed = world.have(waiting=(world.made.waiting[0], stranger))
    assert "node_mixes_groups" in _codes(mixed, made)


def test_an_overcommitted_node_and_a_short_host_share_are_seen():
    world = snapshot().node("n1", cpu=4000).card("A30").queue(whole(1, cpu_milli=3000))
    made = plan(world.made)
    host = made.placed[0].hosts[0]
    assert "node_overcommitted" in _codes(
        world, _changed(made, hosts=(replace(host, cpu_milli=5000),))
    )
    assert "host_too_small" in _codes(world, _changed(made, hosts=(replace(host, cpu_milli=1),)))


def test_a_gang_torn_apart_is_seen():
    world = snapshot()
    for name in "ab":
        world = world.node(name, network=name).card("A30", count=2, domain=name)
    world = world.queue(whole(1, 2))
    made = plan(world.made)
    parts = made.placed[0].parts
    torn = _changed(made, parts=(parts[0], replace(parts[1], card=3)))
    assert {"not_one_node", "hosts_elsewhere"} <= _codes(world, torn)
    for topology, code in (
        (Topology.LINKED, "not_linked"),
        (Topology.NETWORK, "not_one_network"),
    ):
        need = replace(world.made.waiting[0].need, topology=topology)
        other = world.have(waiting=(replace(world.made.waiting[0], need=need),))
        assert code in _codes(other, torn)
    need = replace(world.made.waiting[0].need, topology=Topology.SPREAD)
    assert "not_spread" in _codes(
        world.have(waiting=(replace(world.made.waiting[0], need=need),)), made
    )


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (
            {
                "windows": (
                    Window(
                        id=1, cards=frozenset({1}), nodes=frozenset(), starts_s=NOW, ends_s=NOW + 9
                    ),
                )
            },
            "maintenance",
        ),
        (
            {
                "reservations": (
                    Reservation(
                        id=1,
                        cards=frozenset({1}),
                        tenants=frozenset({"p9"}),
                        starts_s=NOW,
                        ends_s=NOW + 9,
                    ),
                )
            },
            "reserved",
        ),
        (
            {
                "promises": (
                    Promise(workload=7, cards=frozenset({1}), nodes=frozenset(), until_s=NOW + 9),
                )
            },
            "promised",
        ),
        ({"partitions": (PartitionState(id=1, name="m", open_to=frozenset({"p9"})),)}, "access"),
        ({"seats": (Seats(mode=Mode.WHOLE, total=1, used=1),)}, "seats"),
        (
            {
                "partitions": (
                    PartitionState(
                        id=1,
                        name="m",
                        ceilings=(
                            Ceiling(
                                scope=CeilingScope.CARD_SUM,
                                purposes=frozenset({"training"}),
                                compute_milli=800,
                            ),
                        ),
                    ),
                )
            },
            "ceiling",
        ),
    ],
)
def test_a_broken_rule_is_seen_and_the_planner_keeps_it(changed, code):
    world = snapshot().node("n1").card("A30", modes=("whole",)).queue(whole(1))
    made = plan(world.made)
    ruled = world.have(**changed)
    assert code in _codes(ruled, made)
    assert plan(ruled.made).placed == ()


def test_a_group_that_the_partition_lets_share_nothing_is_seen_on_a_shared_card():
    world = snapshot().node("n1").card("L40S", modes=("mps",)).queue(req(1, share_milli=300))
    made = plan(world.made)
    part = PartitionState(id=1, name="main", trusts=frozenset({"t9"}))
    assert "distrusted" in _codes(world.have(partitions=(part,)), made)
    assert plan(world.have(partitions=(part,)).made).placed == ()


def test_work_without_a_card_on_a_promised_node_is_seen():
    world = snapshot().node("n1").queue(req(1, parts=0, cpu_milli=1000))
    made = plan(world.made)
    kept = Promise(workload=7, cards=frozenset(), nodes=frozenset({1}), until_s=NOW + 9)
    assert "promised" in _codes(world.have(promises=(kept,)), made)
    assert plan(world.have(promises=(kept,)).made).placed == ()


def test_training_without_a_checkpoint_on_a_mixed_card_is_seen():
    world = snapshot().node("n1").card("L40S", modes=("mps",)).queue(req(1, share_milli=300))
    made = plan(world.made)
    mixed = world.have(cards=tuple(replace(card, mixed=True) for card in world.made.cards))
    assert _codes(world, made) == set()
    assert "unproven_on_a_mixed_card" in _codes(mixed, made)
    assert plan(mixed.made).placed == ()


def test_a_passed_quota_is_seen():
    world = snapshot().node("n1").card("A30").queue(whole(1, cpu_milli=2000))
    made = plan(world.made)
    assert "quota" in _codes(world.quota("p1", limit=0), made)
    assert "quota" in _codes(world.quota("p1", limit=1000, unit="cpu_milli"), made)
    assert plan(world.quota("p1", limit=1000, unit="cpu_milli").made).placed == ()


def test_victims_must_run_be_ordinary_and_give_way_once():
    world = snapshot().node("n1").card("A30").busy(1, priority_class=PriorityClass.CRITICAL)
    world = world.queue(whole(1))
    waits = plan(world.made).waits

    def codes(*victims):
        orders = tuple(Eviction(victim=v, winner=1, lost_card_s=0.0) for v in victims)
        return _codes(world, Plan(waits=waits, evictions=orders))

    assert codes(900) == {"victim_protected"}
    assert codes(5) == {"unknown_victim"}
    assert "victim_twice" in codes(5, 5)


def test_critical_work_on_loan_is_seen():
    world = snapshot().node("n1").card("A30").queue(whole(1, priority="critical"))
    assert "critical_on_loan" in _codes(world, _changed(plan(world.made), borrowed=True))


def test_a_whole_node_with_somebody_on_it_is_seen():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = world.queue(whole(1, topology=Topology.WHOLE_NODES))
    made = plan(world.made)
    shared = world.slice(2, "whole", mode="whole").running(9, slices=(1,), hosts=((1, 0, 0, 0),))
    assert "node_not_empty" in _codes(shared, made)
    assert plan(shared.made).placed == ()
