"""The last free cards of a kind stay free for urgent work, while there is such work."""

from dataclasses import replace

from pool.scheduling.checker import check
from pool.scheduling.model import Level, PartitionState, PriorityClass, Promise, Reason
from pool.scheduling.plan import plan
from tests.builders import NOW, req, snapshot, whole


def _pool(**rules):
    """Four cards; an urgent workload runs on the first; one card of four is to stay free."""
    world = snapshot().node("n1").card("A100-80GB", count=4, modes=("whole", "mig"))
    world = world.busy(1, ends=900, priority_class=PriorityClass.HIGH)
    return world.rules(**{"preemption": True, "headroom_milli": 250, **rules})


def _started(world):
    made = plan(world.made)
    assert check(world.made, made) == ()
    return [placed.workload for placed in made.placed]


def test_normal_work_leaves_the_last_card_free_and_is_told_so():
    world = _pool().queue(whole(1, 2), whole(2, 1))
    assert _started(world) == [1]
    told = plan(world.made).waits[2]
    assert (told.reason, told.level) == (Reason.HEADROOM, Level.BUSY)
    assert (Reason.HEADROOM, 1) in told.counts


def test_urgent_work_takes_what_was_kept_free():
    assert _started(_pool().queue(whole(1, 1), whole(2, 1, priority="high"))) == [2, 1]
    assert _started(_pool().queue(whole(1, 2), whole(2, 1, priority="high"))) == [2]
    world = _pool().queue(whole(1, 3), whole(2, 3, priority="critical"))
    assert _started(world) == [2]


def test_nothing_is_kept_free_where_nothing_is_urgent_or_nobody_gives_way():
    calm = snapshot().node("n1").card("A30", count=4, modes=("whole",)).busy(1)
    calm = calm.rules(preemption=True, headroom_milli=250)
    assert _started(calm.queue(whole(1, 3))) == [1]
    assert _started(_pool(preemption=False).queue(whole(1, 3))) == [1]
    assert _started(_pool(headroom_milli=0).queue(whole(1, 3))) == [1]
    part = PartitionState(id=1, name="main", preemption=False)
    assert _started(_pool().have(partitions=(part,)).queue(whole(1, 3))) == [1]


def test_urgent_work_that_waits_is_reason_enough():
    world = snapshot().node("n1").card("A30", count=4, modes=("whole",))
    world = world.rules(preemption=True, headroom_milli=250)
    urgent = whole(2, 1, priority="high", held_back="not yet")
    assert _started(world.queue(whole(1, 4), urgent)) == [1]
    assert _started(world.queue(whole(1, 3), whole(3, 1), urgent)) == [1]


def test_a_slice_on_a_cut_card_is_no_harm_but_a_fresh_card_is():
    world = _pool().slice(2, "4g.40gb", start=0).slice(3, "whole", mode="whole")
    world = world.running(950, slices=(2,)).running(951, slices=(3,))
    assert _started(world.queue(req(1, gb=40), req(2, gb=40))) == [1]


def test_what_could_never_start_beside_the_headroom_may_have_it():
    world = snapshot().node("n1").card("A30", count=4, modes=("whole",))
    world = world.rules(preemption=True, headroom_milli=500)
    urgent = whole(2, 1, priority="high", held_back="not yet")
    assert _started(world.queue(whole(1, 4), urgent)) == [1]
    assert _started(world.queue(whole(1, 3), urgent)) == [1]


def test_who_was_promised_room_may_have_it_down_to_the_last_card():
    mine = Promise(workload=1, cards=frozenset({2, 3, 4}), nodes=frozenset(), until_s=NOW + 9)
    assert _started(_pool().have(promises=(mine,)).queue(whole(1, 3))) == [1]


def test_a_planned_start_counts_the_cards_that_stay_free():
    """Alone, three cards are free at once; with the headroom the fourth must end first."""
    made = plan(_pool().queue(whole(1, 3)).made)
    assert [(s.workload, s.at_s) for s in made.starts] == [(1, NOW + 900)]


def test_the_planned_start_is_held():
    first = _pool().queue(whole(1, 3, declared_s=50.0), whole(2, 1, declared_s=1000.0))
    assert _started(first) == []
    later = _pool().queue(whole(1, 3, declared_s=50.0), whole(2, 1, declared_s=800.0))
    assert _started(later) == [2]
    ended = snapshot().node("n1").card("A100-80GB", count=4, modes=("whole", "mig"))
    ended = ended.rules(preemption=True, headroom_milli=250)
    urgent = whole(9, 1, priority="high", held_back="not yet")
    assert _started(ended.queue(whole(1, 3), urgent)) == [1]


def test_the_checker_finds_who_took_the_headroom():
    world = _pool().queue(whole(1, 3)).made
    free = replace(world, rules=replace(world.rules, headroom_milli=0))
    assert [fault.code for fault in check(world, plan(free))] == ["headroom"]
