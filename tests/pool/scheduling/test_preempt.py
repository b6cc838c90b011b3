"""Who must give way: least lost work, whole gangs, minimal sets, the fifth, no thrash."""

from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from pool.scheduling.board import build
from pool.scheduling.checker import check
from pool.scheduling.model import PartitionState, PriorityClass, Promise
from pool.scheduling.offer import offer
from pool.scheduling.plan import plan
from pool.scheduling.take import release
from pool.scheduling.victims import lost_card_s
from tests.builders import NOW, snapshot, whole

LOW = PriorityClass.LOW
NORMAL = PriorityClass.NORMAL


def _victim(world, number, card, count=1, ran=100.0, **rest):
    """Low work on `count` whole cards from `card` on, `ran` seconds since its last checkpoint."""
    slices = []
    for one in range(card, card + count):
        world = world.slice(one, "whole", mode="whole")
        slices.append(len(world.made.slices))
    node = next(c.node for c in world.made.cards if c.id == card)
    told = {"priority_class": LOW, "card_micro": count * 1_000_000, "lost_since_s": NOW - ran}
    told["checkpointed"] = True
    told.update(rest)
    return world.running(number, slices=slices, hosts=((node, 0, 0, 0),), ends=9000, **told)


def _victims(world):
    made = plan(world.made)
    assert check(world.made, made) == ()
    return sorted(eviction.victim for eviction in made.evictions)


def _two():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    return _victim(_victim(world, 901, 1, ran=500.0), 902, 2, ran=100.0)


def test_the_one_that_loses_least_gives_way():
    assert _victims(_two().queue(whole(1, priority="high"))) == [902]


def test_equal_and_critical_work_never_gives_way():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = _victim(world, 901, 1, priority_class=PriorityClass.CRITICAL)
    world = _victim(world, 902, 2, priority_class=PriorityClass.HIGH, preemptible=True)
    assert _victims(world.queue(whole(1, priority="high"))) == []


def test_three_winners_take_two_victims_and_no_more():
    world = _two().queue(*(whole(i, priority="high") for i in (1, 2, 3)))
    made = plan(world.made)
    assert sorted(e.victim for e in made.evictions) == [901, 902]
    assert len({e.winner for e in made.evictions}) == 2


def test_a_winner_with_a_promise_waits_for_its_room_and_takes_nobody_else():
    world = _two().queue(whole(1, priority="high"))
    promise = Promise(workload=1, cards=frozenset({2}), nodes=frozenset(), until_s=NOW + 60)
    leaving = tuple(replace(r, leaving=r.id == 902) for r in world.made.running)
    assert _victims(world.have(promises=(promise,), running=leaving)) == []


def test_freed_room_is_not_given_back_to_the_one_that_left_it():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = _victim(world, 901, 1)
    promise = Promise(workload=1, cards=frozenset({1, 2}), nodes=frozenset(), until_s=NOW + 60)
    waiting = (whole(1, 2, priority="high"), whole(902, priority="low", interrupted=True))
    made = plan(world.queue(*waiting).have(promises=(promise,)).made)
    assert made.placed == ()


def test_a_gang_gives_way_as_a_whole():
    world = snapshot().node("n1").card("A30", count=4, modes=("whole",))
    world = _victim(_victim(world, 901, 1, count=3, ran=10.0), 902, 4, ran=1000.0)
    assert _victims(world.queue(whole(1, 1, priority="high"))) == [901]
    assert _victims(world.queue(whole(1, 4, priority="high"))) == [901, 902]


def test_ordinary_work_gives_way_only_when_marked_preemptible_and_not_protected():
    world = snapshot().node("n1").card("A30", modes=("whole",))
    queue = whole(1, priority="high")
    assert _victims(_victim(world, 901, 1, priority_class=NORMAL).queue(queue)) == []
    willing = _victim(world, 901, 1, priority_class=NORMAL, preemptible=True)
    assert _victims(willing.queue(queue)) == [901]
    young = _victim(world, 901, 1, preemptible=True, protected_until_s=NOW + 5)
    assert _victims(young.queue(queue)) == []


def test_a_partition_that_forbids_preemption_is_left_alone():
    shut = PartitionState(id=1, name="main", preemption=False)
    assert _victims(_two().have(partitions=(shut,)).queue(whole(1, priority="high"))) == []
    assert _victims(_two().rules(preemption=False).queue(whole(1, priority="high"))) == []


def test_at_most_a_fifth_of_a_projects_ordinary_work_is_interrupted():
    world = snapshot().node("n1").card("A30", count=6, modes=("whole",))
    for number in range(1, 7):
        world = _victim(world, 900 + number, number, priority_class=NORMAL, preemptible=True)
    queue = [whole(i, priority="high", tenant="p2") for i in (1, 2, 3)]
    assert len(_victims(world.queue(*queue))) == 2


def test_one_winners_own_set_is_allowed_even_past_the_fifth():
    world = snapshot().node("n1").card("A30", count=4, modes=("whole",))
    for number in range(1, 5):
        world = _victim(world, 900 + number, number, priority_class=NORMAL, preemptible=True)
    assert len(_victims(world.queue(whole(1, 4, priority="high", tenant="p2")))) == 4
    interrupted = whole(50, interrupted=True)
    assert _victims(world.queue(whole(1, 4, priority="high", tenant="p2"), interrupted)) == []


def test_borrowers_give_way_to_owners_of_the_same_class():
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = _victim(world, 901, 1, priority_class=NORMAL, borrowed=True, tenant="p2")
    world = _victim(world, 902, 2, priority_class=NORMAL, tenant="p2")
    world = world.quota("p1", limit=2, kind="entitlement", partition=1)
    made = plan(world.queue(whole(1, tenant="p1")).made)
    assert [(e.victim, e.hand_back) for e in made.evictions] == [(901, True)]
    assert _victims(world.queue(whole(1, tenant="p3"))) == []


@st.composite
def crowded(draw):
    """Up to eight running gangs on two nodes, and one winner."""
    sizes = [draw(st.integers(1, 2)) for _ in range(draw(st.integers(1, 8)))]
    world = snapshot()
    number = 0
    for half in (sizes[::2], sizes[1::2]):
        world = world.node(f"n{number}").card("A30", count=sum(half) or 1, modes=("whole",))
        card = len(world.made.cards) - (sum(half) or 1) + 1
        for size in half:
            number += 1
            ran = draw(st.sampled_from([1.0, 10.0, 100.0, 1000.0]))
            world = _victim(world, 900 + number, card, count=size, ran=ran)
            card += size
    return world.queue(whole(1, draw(st.integers(1, 4)), priority="high")).made


@settings(deadline=None, max_examples=50)
@given(crowded())
def test_the_victims_are_the_cheapest_set_that_brute_force_finds(world):
    made = plan(world)
    work = world.waiting[0]
    chosen = [r for r in world.running if r.id in {e.victim for e in made.evictions}]

    def cost(runs):
        return (sum(lost_card_s(run, NOW) for run in runs), len(runs))

    possible = []
    for count in range(len(world.running) + 1):
        for runs in combinations(world.running, count):
            board = build(world)
            for run in runs:
                release(board, run)
            if offer(board, work) is not None:
                possible.append(cost(runs))
    if made.placed:
        assert not chosen and (0, 0) in possible
    elif possible:
        assert cost(chosen) == min(possible)
    else:
        assert not chosen
