"""One round, on small worlds."""

from dataclasses import replace

import pytest

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.checker import check
from pool.scheduling.model import (
    Ceiling,
    CeilingScope,
    Level,
    PartitionState,
    Policy,
    Promise,
    Reason,
    Topology,
)
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole
from tests.pool.scheduling.worlds import settled

SOFT = ("mps",)


def _planned(world):
    made = plan(world.made)
    assert check(world.made, made) == ()
    return made


def _placed(made, number):
    return next(placed for placed in made.placed if placed.workload == number)


def _run(world, *works):
    """The world after these workloads, one after the other, were placed where planned."""
    for work in works:
        world = settled(world.queue(work), _planned(world.queue(work)))
    return world


def test_a_3g_goes_behind_so_that_a_later_4g_fits():
    world = snapshot().node("n1").card("A100-80GB")
    world = _run(world, req(1, profile="3g.40gb", tenant="p1"))
    assert world.made.slices[0].start == 4
    made = _planned(world.queue(req(2, profile="4g.40gb", tenant="p2")))
    assert _placed(made, 2).parts[0].new.start == 0


def test_twenty_three_shares_of_2000_mib_run_and_the_24th_says_what_is_short():
    world = snapshot().node("n1").card("L40S", modes=SOFT)
    made = _planned(world.queue(*(req(i, memory_mib=2000) for i in range(1, 25))))
    assert len(made.placed) == 23
    told = made.waits[24]
    assert (told.reason, told.level) == (Reason.MEMORY, Level.BUSY)
    assert (told.shortage.needed, told.shortage.free) == (2000, 68)


@pytest.mark.parametrize(("share", "asked", "runs"), [(330, 4, 3), (340, 3, 2), (100, 11, 10)])
def test_fractions_of_a_card_never_pass_it(share, asked, runs):
    world = snapshot().node("n1").card("L40S", modes=SOFT)
    made = _planned(world.queue(*(req(i, share_milli=share) for i in range(1, asked + 1))))
    assert len(made.placed) == runs


def test_a_share_ends_and_the_one_that_waits_takes_its_room():
    world = snapshot().node("n1").card("L40S", modes=SOFT)
    works = [req(i, memory_mib=2000) for i in range(1, 24)]
    world = world.queue(*works)
    world = settled(world, _planned(world), ended=(7,))
    made = _planned(world.queue(req(50, memory_mib=2000)))
    assert _placed(made, 50).parts[0].slice is not None


def test_a_large_job_keeps_its_place_while_a_small_one_starts_elsewhere():
    world = snapshot().node("n1").card("A100-80GB", count=8).busy(4, ends=3600)
    world = world.node("n2").card("A100-80GB", count=4).busy(3, ends=3600, first=950)
    made = _planned(world.queue(whole(1, 5, declared_s=300.0), whole(2, 1, declared_s=600.0)))
    assert [p.workload for p in made.placed] == [2]
    assert _placed(made, 2).hosts[0].node == 2
    told = made.waits[1]
    assert (told.reason, told.position) == (Reason.TOPOLOGY, 1)
    assert (told.shortage.needed, told.shortage.free, told.shortage.where) == (5, 4, "n1")


def test_whole_cards_of_one_job_lie_in_the_best_linked_set():
    world = snapshot().node("n1").card("A100-80GB", count=4, modes=("whole",))
    links = {1: ((2, 20), (3, 300)), 3: ((1, 300), (4, 20)), 2: ((4, 300),), 4: ((2, 300),)}
    cards = tuple(replace(c, links=links[c.id]) for c in world.made.cards)
    made = _planned(world.have(cards=cards).queue(whole(1, 2)))
    assert sorted(p.card for p in _placed(made, 1).parts) in ([1, 3], [2, 4])


def test_a_linked_job_never_crosses_a_domain():
    world = snapshot().node("n1").card("A100-80GB", count=2, domain="a", modes=("whole",))
    world = world.card("A100-80GB", count=2, domain="b", modes=("whole",))
    made = _planned(world.queue(whole(1, 3, topology=Topology.LINKED)))
    assert made.waits[1].reason is Reason.TOPOLOGY
    made = _planned(world.queue(whole(1, 2, topology=Topology.LINKED)))
    assert len({p.card in (1, 2) for p in _placed(made, 1).parts}) == 1


def test_a_gang_larger_than_a_node_takes_whole_nodes_and_one_remainder():
    world = snapshot()
    for name in "abc":
        world = world.node(name, network="x").card("A100-80GB", count=4, modes=("whole",))
    world = world.busy(1)
    made = _planned(world.queue(whole(1, 7, topology=Topology.NETWORK)))
    counts = {h.node: 0 for h in _placed(made, 1).hosts}
    for part in _placed(made, 1).parts:
        counts[(part.card - 1) // 4 + 1] += 1
    assert sorted(counts.items()) == [(1, 4), (3, 3)]


def test_a_gang_stays_inside_one_network_domain():
    world = snapshot()
    for name in "ab":
        world = world.node(name, network=name).card("A100-80GB", count=4, modes=("whole",))
    made = _planned(world.queue(whole(1, 8, topology=Topology.NETWORK)))
    assert made.waits[1].level is Level.NEVER


def test_idle_slices_are_recut_and_busy_ones_stay():
    world = snapshot().node("n1").card("A100-80GB")
    for start in range(7):
        world = world.slice(1, "1g.10gb", start=start)
    world = world.running(900, slices=(2,))
    made = _planned(world.queue(req(1, profile="3g.40gb")))
    move = _placed(made, 1).moves[0]
    assert set(move.removes) == {5, 6, 7}
    assert _placed(made, 1).parts[0].new.start == 4


def test_an_idle_slice_of_the_right_size_is_given_without_a_move():
    world = snapshot().node("n1").card("A100-80GB", count=2)
    world = world.slice(2, "2g.20gb", start=4)
    made = _planned(world.queue(req(1, gb=20, compute_milli=300)))
    assert _placed(made, 1).parts[0].slice == 1 and _placed(made, 1).moves == ()


def test_a_card_in_use_is_cut_further_before_an_untouched_one():
    world = snapshot().node("n1").card("A100-80GB", count=3)
    world = _run(world, req(1, gb=20), req(2, gb=10))
    assert len({s.card for s in world.made.slices}) == 1


def test_tenants_that_do_not_trust_each_other_get_cards_of_their_own_in_soft_modes():
    world = snapshot().node("n1").card("L40S", modes=SOFT)
    world = _run(world, req(1, gb=5, tenant="p1"))
    assert _planned(world.queue(req(2, gb=5, tenant="p2"))).waits[2].reason is Reason.ISOLATION
    assert _placed(_planned(world.queue(req(3, gb=5, tenant="p1"))), 3).parts[0].card == 1


def test_a_node_without_a_fence_takes_one_trust_group_even_for_mig():
    world = snapshot().node("n1", fence=False).card("A100-80GB", count=2)
    world = _run(world, req(1, gb=10, tenant="p1"))
    made = _planned(world.queue(req(2, gb=10, tenant="p2")))
    assert made.waits[2].reason is Reason.ISOLATION


def test_time_slicing_is_given_only_when_named():
    world = snapshot().node("n1").card("RTX4090", modes=("timeslice",))
    assert _planned(world.queue(req(1, gb=5))).waits[1].reason is Reason.MODE
    made = _planned(world.queue(req(1, gb=5, modes=(Mode.TIMESLICE,))))
    assert _placed(made, 1).parts[0].new.mode is Mode.TIMESLICE


def test_partitions_are_tried_in_the_order_asked():
    world = snapshot().node("n1").card("A30").card("A100-80GB", partition=2)
    world = world.have(partitions=(*world.made.partitions, PartitionState(id=2, name="big")))
    made = _planned(world.queue(req(1, gb=6, partitions=(2, 1)), req(2, gb=6, partitions=(1, 2))))
    assert {p.workload: p.partition for p in made.placed} == {1: 2, 2: 1}


def test_a_closed_partition_is_no_answer():
    shut = PartitionState(id=1, name="main", open_to=frozenset({"p9"}))
    world = snapshot().node("n1").card("A30").have(partitions=(shut,))
    assert _planned(world.queue(req(1, gb=6))).waits[1].reason is Reason.ACCESS


def test_a_quota_gates_the_start_by_card_equivalents():
    world = snapshot().node("n1").card("A100-80GB", count=4).quota("p1", limit=2, held=1)
    made = _planned(world.queue(whole(1), whole(2)))
    assert len(made.placed) == 1
    told = made.waits[2]
    assert (told.reason, told.level, told.shortage.free) == (Reason.QUOTA, Level.RULE, 0)


def test_light_work_goes_to_weak_cards_and_heavy_work_to_strong_ones():
    world = snapshot().node("n1").card("A100-80GB").card("A30")
    made = _planned(world.queue(req(1, gb=6)))
    assert _placed(made, 1).parts[0].card == 2
    world = snapshot().node("n1").card("A100-80GB").card("H100-80GB")
    assert _placed(_planned(world.queue(whole(1))), 1).parts[0].card == 2


def test_cpu_only_work_prefers_nodes_without_cards():
    world = snapshot().node("gpu").card("A30").node("plain")
    made = _planned(world.queue(req(1, parts=0, cpu_milli=2000)))
    assert _placed(made, 1).hosts[0].node == 2


def test_spread_puts_replicas_on_different_nodes():
    world = snapshot()
    for name in "abc":
        world = world.node(name).card("A100-80GB", count=2)
    made = _planned(world.queue(req(1, gb=10, parts=3, topology=Topology.SPREAD)))
    assert len(_placed(made, 1).hosts) == 3


def test_a_spreading_partition_uses_the_emptiest_card():
    spread = PartitionState(id=1, name="main", policy=Policy.SPREAD)
    world = snapshot().node("n1").card("A100-80GB", count=2).have(partitions=(spread,))
    made = _planned(world.queue(req(1, gb=10), req(2, gb=10)))
    assert len({p.parts[0].card for p in made.placed}) == 2


def test_a_round_stops_at_its_size_and_says_so():
    world = snapshot().node("n1").card("A100-80GB", count=3).rules(placements_per_round=2)
    made = _planned(world.queue(*(whole(i) for i in (1, 2, 3))))
    assert len(made.placed) == 2
    assert made.waits[3].reason is Reason.ROUND_FULL


def test_work_on_hold_waits_with_its_own_words():
    world = snapshot().node("n1").card("A30")
    made = _planned(
        world.queue(whole(1, held_back="waits for wl-7"), whole(2, not_before_s=NOW + 9))
    )
    assert made.waits[1].detail == "waits for wl-7"
    assert {told.reason for told in made.waits.values()} == {Reason.HELD_BACK}


def test_parts_on_one_card_stay_under_its_class_ceiling_together():
    ceiling = Ceiling(
        scope=CeilingScope.CARD_SUM, purposes=frozenset({"training"}), compute_milli=800
    )
    part = PartitionState(id=1, name="main", ceilings=(ceiling,))
    world = snapshot().node("n1").card("L40S", modes=SOFT).have(partitions=(part,))
    assert _planned(world.queue(req(1, share_milli=400, parts=2))).placed
    told = _planned(world.queue(req(1, share_milli=450, parts=2))).waits[1]
    assert told.level is not Level.ORDER


def test_a_class_at_its_ceiling_gets_no_further_slice_of_the_card():
    ceiling = Ceiling(
        scope=CeilingScope.CARD_SUM, purposes=frozenset({"training"}), compute_milli=800
    )
    part = PartitionState(id=1, name="main", ceilings=(ceiling,))
    world = snapshot().node("n1").card("A100-80GB").have(partitions=(part,))
    world = _run(world, req(1, profile="4g.40gb"))
    made = _planned(world.queue(req(3, profile="3g.40gb"), req(4, profile="1g.10gb")))
    assert [p.workload for p in made.placed] == [4]
    assert made.waits[3].reason is Reason.CEILING


def test_work_that_room_is_being_made_for_takes_no_second_card_apart():
    world = snapshot().node("n1").card("A100-80GB", count=2)
    world = world.slice(1, "1g.10gb", start=4, stage="going").slice(2, "1g.10gb", start=4)
    queue = world.queue(req(1, profile="7g.80gb"))
    assert _placed(_planned(queue), 1).moves[0].removes == (2,)
    promise = Promise(workload=1, cards=frozenset({1}), nodes=frozenset(), until_s=NOW + 60)
    assert _planned(queue.have(promises=(promise,))).placed == ()


def test_who_has_room_kept_removes_what_those_who_left_have_left_there():
    """A victim's slice stays on the card, of another shape than the winner's."""
    world = snapshot().node("n1").card("A100-80GB", count=2, modes=("mig",))
    world = world.slice(1, "7g.80gb", start=0).slice(2, "7g.80gb", start=0)
    queue = world.queue(req(1, profile="3g.40gb"))
    for card in (1, 2):
        kept = Promise(workload=1, cards=frozenset({card}), nodes=frozenset(), until_s=NOW + 60)
        (placed,) = _planned(queue.have(promises=(kept,))).placed
        assert [(move.card, move.removes) for move in placed.moves] == [(card, (card,))]


def test_nothing_more_is_removed_of_a_card_while_slices_of_it_go():
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",))
    world = world.slice(1, "3g.40gb", start=4, stage="going").slice(1, "4g.40gb", start=0)
    queue = world.queue(req(1, profile="3g.40gb"))
    kept = Promise(workload=1, cards=frozenset({1}), nodes=frozenset(), until_s=NOW + 60)
    assert _planned(queue.have(promises=(kept,))).placed == ()
