"""Who may be told to leave at all: checkpoints, overruns, endpoints, natural ends, notices."""

from dataclasses import replace

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.scheduling.model import PartitionState, PriorityClass, Promise, Reason, Shortage
from pool.scheduling.plan import plan
from tests.builders import NOW, snapshot, whole

LOW, NORMAL, HIGH = PriorityClass.LOW, PriorityClass.NORMAL, PriorityClass.HIGH
WINNER = whole(1, priority="high")


def _pool(count=2):
    return snapshot().node("n1").card("A30", count=count, modes=("whole",))


def _run(world, number, card, ends=9000, **rest):
    """Low work on one whole card that ran 100 s since its last checkpoint."""
    world = world.slice(card, "whole", mode="whole")
    told = {"priority_class": LOW, "checkpointed": True, "card_micro": 1_000_000} | rest
    held = (len(world.made.slices),)
    return world.running(number, slices=held, hosts=((1, 0, 0, 0),), ends=ends, **told)


def _orders(world, *queue):
    return plan(world.queue(*(queue or (WINNER,))).made).evictions


def _victims(world, *queue):
    return sorted(order.victim for order in _orders(world, *queue))


def test_training_that_has_shown_no_checkpoint_is_not_interrupted():
    assert _victims(_run(_pool(1), 901, 1, checkpointed=False)) == []
    assert _victims(_run(_pool(1), 901, 1, checkpointed=False, purpose="rendering")) == [901]
    pre = _run(_pool(1), 901, 1, checkpointed=False, purpose="pretraining", preemptible=True)
    assert _victims(pre) == []


def test_an_overdue_checkpoint_makes_nobody_a_cheap_victim():
    world = _run(_pool(), 901, 1, lost_since_s=NOW - 1801, card_micro=1)
    world = _run(world, 902, 2, lost_since_s=NOW - 1799)
    assert _victims(world) == [902]
    assert _victims(world, whole(1, 2, priority="high")) == [901, 902]


def test_nobody_is_told_to_leave_where_work_ends_by_itself_within_the_notice():
    world = _run(_run(_pool(), 901, 1, ends=60), 902, 2)
    made = plan(world.queue(WINNER).made)
    assert made.evictions == ()
    assert made.starts[0].at_s == NOW + 60
    assert _victims(_run(_run(_pool(), 901, 1, ends=61), 902, 2)) == [901]


def test_two_winners_do_not_wait_for_the_same_natural_end():
    world = _run(_run(_pool(), 901, 1, ends=30), 902, 2)
    orders = _orders(world, WINNER, whole(2, priority="high"))
    assert [(order.victim, order.winner) for order in orders] == [(902, 2)]


def test_work_past_its_declared_time_gives_way_to_what_waits_after_a_grace():
    late = {"priority_class": NORMAL, "checkpointed": False}
    assert _victims(_run(_pool(1), 901, 1, ends=-299, **late), whole(1)) == []
    orders = _orders(_run(_pool(1), 901, 1, ends=-301, **late), whole(1))
    assert [(order.victim, order.overrun) for order in orders] == [(901, True)]
    above = late | {"priority_class": HIGH}
    assert _victims(_run(_pool(1), 901, 1, ends=-301, **above), whole(1)) == []
    never = late | {"priority_class": PriorityClass.CRITICAL}
    assert _victims(_run(_pool(1), 901, 1, ends=-301, **never), WINNER) == []


def test_work_past_its_declared_time_stays_where_nobody_waits():
    assert plan(_run(_pool(1), 901, 1, ends=-9000).made).evictions == ()


def test_an_endpoint_keeps_its_minimum():
    serves = {"kind": WorkloadKind.REPLICA, "endpoint": "ep", "purpose": "inference"}
    world = _pool(3)
    for card in (1, 2, 3):
        world = _run(world, 900 + card, card, spare=1, **serves)
    assert len(_victims(world)) == 1
    assert _victims(world, whole(1, 2, priority="high")) == []
    assert len(_victims(world, WINNER, whole(2, priority="high"))) == 1


def test_what_serves_is_drained_first_and_a_borrower_has_its_partitions_time():
    serves = {"kind": WorkloadKind.REPLICA, "purpose": "inference"}
    assert [o.notice_s for o in _orders(_run(_pool(1), 901, 1, **serves))] == [300.0]
    job = {"purpose": "inference", "notice_s": 30.0}
    assert [o.notice_s for o in _orders(_run(_pool(1), 901, 1, **job))] == [300.0]
    assert [o.notice_s for o in _orders(_run(_pool(1), 901, 1, **job | {"notice_s": 900.0}))] == [
        900.0
    ]
    assert [o.notice_s for o in _orders(_run(_pool(1), 901, 1))] == [60.0]
    assert [o.notice_s for o in _orders(_run(_pool(1), 901, 1, notice_s=30.0))] == [30.0]
    part = PartitionState(id=1, name="main", return_within_s=120)
    world = _run(_pool(1), 901, 1, borrowed=True, tenant="p2").have(partitions=(part,))
    world = world.quota("p1", limit=1, kind="entitlement", partition=1)
    orders = _orders(world, whole(1, tenant="p1"))
    assert [(o.hand_back, o.notice_s) for o in orders] == [(True, 120.0)]
    replicas = tuple(replace(run, **serves) for run in world.made.running)
    orders = _orders(world.have(running=replicas), whole(1, tenant="p1"))
    assert [(o.hand_back, o.notice_s) for o in orders] == [(True, 120.0)]


def test_training_takes_back_what_serves_on_a_mixed_card():
    serves = {"kind": WorkloadKind.REPLICA, "purpose": "inference", "priority_class": NORMAL}
    world = _run(_pool(1), 901, 1, **serves)
    assert _victims(world, whole(1)) == []
    mixed = tuple(replace(card, mixed=True) for card in world.made.cards)
    assert _victims(world.have(cards=mixed), whole(1)) == [901]


def test_only_work_told_to_give_way_counts_against_the_fifth():
    world = _pool(3)
    told = {"priority_class": NORMAL, "preemptible": True}
    world = _run(_run(world, 901, 1, leaving=True, **told), 902, 2, **told)
    world = _run(world, 903, 3, **told)
    assert _victims(world) == [902]
    out = tuple(replace(r, interrupted=r.id == 901) for r in world.made.running)
    assert _victims(world.have(running=out)) == []


def test_high_work_is_not_ordinary_and_is_not_counted():
    told = {"priority_class": HIGH, "preemptible": True}
    world = _run(_run(_pool(), 901, 1, **told), 902, 2, **told)
    critical = [whole(i, priority="critical") for i in (1, 2)]
    assert _victims(world, *critical) == [901, 902]


def test_a_victim_waits_for_room_that_it_did_not_free():
    world = _run(_pool(), 901, 1)
    kept = Promise(workload=1, cards=frozenset({2}), nodes=frozenset(), until_s=NOW + 60)
    back = whole(902, priority="low", interrupted=True)
    made = plan(world.queue(WINNER, back).have(promises=(kept,)).made)
    assert [placed.workload for placed in made.placed] == [1]
    assert made.evictions == ()


def test_nobody_leaves_for_work_that_a_limit_would_stop_still():
    world = _run(_pool(1), 901, 1)
    assert _victims(world, whole(1, priority="high", over=True)) == []
    assert _victims(world) == [901]


def test_only_who_gives_back_of_a_used_up_limit_makes_room():
    world = _run(_pool(1), 901, 1)
    spent = {"short": Shortage(unit="workloads", needed=1, free=0), "priority": "high"}
    theirs = plan(world.queue(whole(1, spent=frozenset({("p9", 1)}), **spent)).made)
    assert (theirs.evictions, theirs.waits[1].reason) == ((), Reason.QUOTA)
    own = frozenset({(world.made.running[0].tenants[-1], 1)})
    assert _victims(world, whole(1, spent=own, **spent)) == [901]
