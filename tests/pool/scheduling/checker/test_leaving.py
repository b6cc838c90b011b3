"""The checker sees each kind of wrong order to leave, and accepts every order that is given."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.scheduling.checker import check
from pool.scheduling.model import (
    Eviction,
    PartitionState,
    PlannedStart,
    PriorityClass,
    Promise,
)
from pool.scheduling.plan import plan
from tests.builders import NOW, snapshot, whole
from tests.pool.scheduling.worlds import worlds

LOW, NORMAL, HIGH = PriorityClass.LOW, PriorityClass.NORMAL, PriorityClass.HIGH
LAW = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


def _world(count=2, **rest):
    """Low work that has shown a checkpoint on each of the cards, and high work that waits."""
    world = snapshot().node("n1").card("A30", count=count, modes=("whole",))
    for card in range(1, count + 1):
        world = world.slice(card, "whole", mode="whole")
        told = {"priority_class": LOW, "checkpointed": True, "card_micro": 1_000_000} | rest
        world = world.running(900 + card, slices=(card,), hosts=((1, 0, 0, 0),), ends=9000, **told)
    return world.queue(whole(1, priority="high"))


def _ordered(world, *victims, **changed):
    """The codes of a plan that tells these to leave for work 1, onto the first one's card."""
    made = plan(world.made)
    order = {"lost_card_s": 100.0, "notice_s": 60.0} | changed
    orders = tuple(Eviction(victim=v, winner=1, **order) for v in victims)
    good = plan(_world(count=2).made).starts[0]
    start = PlannedStart(
        workload=1, at_s=NOW + 60, cards=good.cards, nodes=good.nodes, placed=good.placed
    )
    found = check(world.made, replace(made, evictions=orders, starts=(start,)))
    return {fault.code for fault in found}


def test_a_right_order_is_right():
    assert _ordered(_world(), 901) == set()


def test_nobody_leaves_for_work_that_is_not_above_or_without_being_marked():
    assert _ordered(_world(priority_class=HIGH, preemptible=True), 901) == {"no_reason_to_leave"}
    assert _ordered(_world(priority_class=NORMAL), 901) == {"no_reason_to_leave"}
    assert _ordered(_world(priority_class=NORMAL, preemptible=True), 901) == set()


def test_training_that_has_shown_no_checkpoint_does_not_leave():
    assert _ordered(_world(checkpointed=False), 901) == {"no_reason_to_leave"}
    assert _ordered(_world(checkpointed=False, purpose="rendering"), 901) == set()


def test_nobody_leaves_before_its_minimum_run_time_or_in_another_partition():
    young = _ordered(_world(protected_until_s=NOW + 1), 901)
    assert young == {"victim_not_run_long_enough"}
    assert "victim_of_another_partition" in _ordered(_world(partition=7), 901)


def test_switches_of_the_partition_and_of_the_pool_bind():
    shut = PartitionState(id=1, name="main", preemption=False)
    assert _ordered(_world().have(partitions=(shut,)), 901) == {"no_reason_to_leave"}
    assert _ordered(_world().rules(preemption=False), 901) == {"preemption_is_off"}


def test_handing_back_and_overrun_must_be_so():
    assert _ordered(_world(), 901, hand_back=True) == {"no_reason_to_leave", "notice"}
    assert _ordered(_world(), 901, overrun=True) == {"no_reason_to_leave"}
    lent = _world(borrowed=True, tenant="p2")
    assert _ordered(lent, 901, hand_back=True, notice_s=300.0) >= {"starts_before_they_left"}
    assert "no_reason_to_leave" not in _ordered(lent, 901, hand_back=True, notice_s=300.0)


def test_loss_and_notice_are_told_as_they_are():
    assert _ordered(_world(), 901, lost_card_s=99.0) == {"loss"}
    assert _ordered(_world(), 901, notice_s=59.0) == {"notice"}
    serves = {"kind": WorkloadKind.REPLICA, "purpose": "inference"}
    assert _ordered(_world(**serves), 901) == {"notice"}


def test_nobody_leaves_without_need():
    assert _ordered(_world(count=2), 901, 902) == {"leaves_without_need"}
    assert _ordered(_world(count=2), 901) == set()


def test_a_winner_has_a_planned_place_that_is_free_once_they_have_left():
    world = _world()
    made = plan(world.made)
    order = Eviction(victim=901, winner=1, lost_card_s=100.0)
    nothing = replace(made, evictions=(order,), starts=())
    assert {f.code for f in check(world.made, nothing)} == {"leaves_for_nothing"}
    other = replace(made, evictions=(replace(order, victim=902),))
    start = next(s for s in made.starts if s.workload == 1)
    wrong = made.evictions[0].victim == 901 and start.cards == frozenset({1})
    assert wrong, "the plan frees card 1; telling the other to leave does not free it"
    assert {f.code for f in check(world.made, other)} == {"planned_overlap"}


def test_work_that_has_a_promise_or_may_oust_nobody_takes_no_victims():
    held = Promise(workload=1, cards=frozenset({1}), nodes=frozenset(), until_s=NOW + 60)
    assert _ordered(_world().have(promises=(held,)), 901) == {"winner_has_a_promise"}
    world = _world()
    over = tuple(replace(work, over=True) for work in world.made.waiting)
    assert _ordered(world.have(waiting=over), 901) == {"winner_may_oust_nobody"}


def test_the_fifth_counts_what_is_out_already():
    world = _world(priority_class=NORMAL, preemptible=True)
    out = tuple(replace(run, interrupted=run.id == 902) for run in world.made.running)
    assert _ordered(world.have(running=out), 901) == {"more_than_a_fifth"}
    assert _ordered(world, 901) == set(), "one winner's own set is never capped"


def test_an_endpoint_keeps_its_minimum():
    serves = {"kind": WorkloadKind.REPLICA, "purpose": "inference", "endpoint": "ep", "spare": 0}
    assert "endpoint_below_its_minimum" in _ordered(_world(**serves), 901, notice_s=300.0)


@st.composite
def pressed(draw):
    """A pool whose work may leave in every way that there is, and a queue that wants its room."""
    world = draw(worlds())
    running = []
    for run in world.running:
        started = draw(st.sampled_from([0.0, 500.0, 4000.0]))
        changed = {
            "priority_class": draw(st.sampled_from([LOW, NORMAL, HIGH, PriorityClass.SCAVENGER])),
            "preemptible": draw(st.booleans()),
            "borrowed": draw(st.booleans()),
            "checkpointed": draw(st.booleans()),
            "interrupted": draw(st.integers(0, 3)) == 0,
            "lost_since_s": NOW - started,
            "ends_s": draw(st.sampled_from([None, NOW - 1000.0, NOW + 30.0, NOW + 9000.0])),
            "card_micro": 1_000_000 if run.slices else 0,
        }
        running.append(replace(run, **changed))
    waiting = tuple(
        replace(work, interrupted=draw(st.booleans()), preemptible=draw(st.booleans()))
        for work in world.waiting
    )
    rules = replace(world.rules, preemption=True)
    return replace(world, running=tuple(running), waiting=waiting, rules=rules)


@LAW
@given(pressed())
def test_the_checker_accepts_every_order_that_a_plan_gives(world):
    assert check(world, plan(world)) == ()
