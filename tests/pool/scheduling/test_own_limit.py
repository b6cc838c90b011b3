"""Work at its own limit: what ends or leaves of the same tenant gives it room again."""

from dataclasses import replace

import pytest

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.board import build
from pool.scheduling.checker import check
from pool.scheduling.model import PartitionState, PriorityClass, Reservation, Seats
from pool.scheduling.plan import plan, plan_board
from tests.builders import NOW, req, snapshot, whole


def _held(cards=1, **rest):
    """A project at its limit of one card by its own low work."""
    world = snapshot().node("n1").card("A30", count=cards, modes=("whole",))
    world = world.slice(1, "whole", mode="whole").quota("p1", limit=1, held=1)
    told = {"priority_class": PriorityClass.LOW, "checkpointed": True, "card_micro": 1_000_000}
    return world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), ends=900, **told | rest)


@pytest.mark.parametrize("cards", [1, 2])
def test_high_work_ousts_its_own_projects_low_work_whether_other_cards_are_free_or_not(cards):
    world = _held(cards).queue(whole(1, priority="high")).made
    made = plan(world)
    assert [(e.victim, e.winner) for e in made.evictions] == [(901, 1)]
    assert check(world, made) == ()


def test_anothers_work_gives_nothing_back_of_the_limit():
    world = _held(2, tenant="p2").queue(whole(1, priority="high")).made
    assert plan(world).evictions == ()


def test_work_at_its_limit_is_told_when_its_own_work_ends():
    world = _held().rules(preemption=False).queue(whole(1)).made
    made = plan(world)
    assert made.waits[1].starts_s == NOW + 900
    assert check(world, made) == ()


def test_work_that_only_its_limit_stops_keeps_no_free_card_from_others():
    world = _held(2).rules(preemption=False).queue(whole(1), whole(2, tenant="p2")).made
    made = plan(world)
    assert [p.workload for p in made.placed] == [2] and made.starts == ()


def test_a_row_that_counts_reserved_cards_gets_nothing_back():
    kept = Reservation(
        id=1, cards=frozenset({1}), tenants=frozenset({"p1"}), starts_s=NOW - 9, ends_s=NOW + 9999
    )
    world = _held().rules(preemption=False).have(reservations=(kept,)).queue(whole(1)).made
    assert plan(world).starts == ()


def test_a_seat_comes_back_with_the_work_that_had_it():
    world = snapshot().node("n1").card("L40S", modes=("mps",))
    world = world.slice(1, "", mode="mps", memory=40_000, compute=800)
    world = world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), ends=900)
    world = world.have(seats=(Seats(id=1, mode=Mode.MPS, total=1, used=1),))
    world = world.queue(req(1, gb=24, trust="p1")).rules(preemption=False).made
    made = plan(world)
    assert made.waits[1].starts_s == NOW + 900
    assert check(world, made) == ()
    none = replace(world, seats=(Seats(id=1, mode=Mode.MPS, total=1, used=2),))
    assert plan(none).starts == ()


@pytest.mark.parametrize(
    ("need", "strong"),
    [
        ({"gb": 40}, True),
        ({"memory_mib": 39_000}, True),
        ({"profile": "4g.40gb"}, True),
        ({"profile": "7g.80gb"}, True),
        ({"share_milli": 900}, True),
        ({"gb": 20}, False),
        ({"profile": "1g.10gb"}, False),
    ],
)
def test_heavy_work_goes_to_the_strong_card_in_whatever_words_it_asks(need, strong):
    world = snapshot().node("n1").card("A100-80GB", modes=("whole", "mig"))
    world = world.node("n2").card("H100-80GB", modes=("whole", "mig")).queue(req(1, **need)).made
    (placed,) = plan(world).placed
    assert {part.card for part in placed.parts} == {2 if strong else 1}


def test_several_shares_at_once_are_heavy():
    world = (
        snapshot().node("n1").card("A100-80GB", modes=("mig",)).card("H100-80GB", modes=("mig",))
    )
    (placed,) = plan(world.queue(req(1, gb=10, parts=2)).made).placed
    assert {part.card for part in placed.parts} == {2}


def _at_its_limit(limit):
    """A project with a job on four cards until 900 s from now, and four free cards of another kind.

    Next in its queue are who wants those four again, and who would take the free ones for long.
    """
    world = snapshot().node("n1").card("A100-80GB", count=4, modes=("whole",))
    world = world.node("n2").card("A30", count=4, modes=("whole",)).rules(preemption=False)
    for card in (1, 2, 3, 4):
        world = world.slice(card, "whole", mode="whole")
    told = {"slices": (1, 2, 3, 4), "ends": 900, "hosts": ((1, 0, 0, 0),)}
    world = world.running(901, card_micro=4_000_000, **told)
    world = world.quota("p1", limit=limit, held=4)
    first = whole(1, 4, labels=frozenset({"A100-80GB"}), declared_s=5000.0)
    other = whole(2, 4, labels=frozenset({"A30"}), declared_s=50_000.0)
    return world.queue(first, other)


@pytest.mark.parametrize(("limit", "starts"), [(8, [2]), (100, [2]), (7, [])])
def test_what_a_head_gets_back_of_its_limit_is_not_counted_twice(limit, starts):
    world = _at_its_limit(limit).made
    made = plan(world)
    assert [placed.workload for placed in made.placed] == starts
    assert made.starts[0].workload == 1 and made.starts[0].at_s == NOW + 900
    assert check(world, made) == ()


def test_two_heads_of_one_project_count_together_in_its_limit():
    """What ends comes back only once: a third of the same project finds no room for long."""
    world = _at_its_limit(8).have(waiting=())
    world = world.node("n3").card("L40S", count=4, modes=("whole",))
    for card in (9, 10, 11, 12):
        world = world.slice(card, "whole", mode="whole")
    slices, hosts = (5, 6, 7, 8), ((3, 0, 0, 0),)
    world = world.running(902, slices=slices, ends=950, hosts=hosts, tenant="p2")
    first = whole(1, 4, labels=frozenset({"A100-80GB"}), declared_s=5000.0)
    second = whole(2, 4, labels=frozenset({"L40S"}), declared_s=5000.0)
    third = whole(3, 4, labels=frozenset({"A30"}), declared_s=50_000.0)
    world = world.queue(first, second, third).made
    made = plan(world)
    assert [(one.workload, one.at_s - NOW) for one in made.starts] == [(1, 900), (2, 950)]
    assert made.placed == () and check(world, made) == ()


def test_a_seat_that_a_head_gets_back_is_not_kept_from_others_twice():
    world = snapshot().node("n1").card("L40S", modes=("mps",)).card("A100-80GB", modes=("mps",))
    world = world.slice(1, "", mode="mps", memory=40_000, compute=800)
    world = world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), ends=900)
    world = world.have(seats=(Seats(id=1, mode=Mode.MPS, total=2, used=1),))
    first = req(1, gb=24, trust="p1", labels=frozenset({"L40S"}), declared_s=5000.0)
    other = req(2, gb=24, labels=frozenset({"A100-80GB"}), declared_s=50_000.0)
    world = world.queue(first, other).rules(preemption=False).made
    made = plan(world)
    assert [placed.workload for placed in made.placed] == [2]
    assert made.starts[0].at_s == NOW + 900 and check(world, made) == ()


@pytest.mark.parametrize("tell", [True, False])
def test_work_at_its_limit_keeps_no_free_card_from_others_in_a_replay_either(tell):
    world = snapshot().node("n1").card("A30", count=5, modes=("whole",))
    world = world.slice(1, "whole", mode="whole").quota("p1", limit=2, held=1)
    world = world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), ends=900, card_micro=1_000_000)
    mine = whole(1, 2, declared_s=5000.0)
    theirs = whole(2, 4, tenant="p2", declared_s=50_000.0)
    world = world.rules(preemption=False).queue(mine, theirs).made
    made = plan_board(build(world), tell=tell)
    assert [placed.workload for placed in made.placed] == [2] and made.starts == ()


def _two_partitions():
    """Partition 1 has free cards and a limit that is used up there; 2 is busy until 900 s."""
    world = snapshot().node("n1").card("A30", count=2, modes=("whole",))
    world = world.card("A30", partition=2, modes=("whole",)).rules(preemption=False)
    world = world.slice(1, "whole", mode="whole").slice(3, "whole", mode="whole")
    world = world.running(901, slices=(1,), hosts=((1, 0, 0, 0),), card_micro=1_000_000)
    told = {"partition": 2, "tenant": "p2", "ends": 900, "hosts": ((1, 0, 0, 0),)}
    world = world.running(902, slices=(2,), card_micro=1_000_000, **told)
    parts = (PartitionState(id=1, name="main"), PartitionState(id=2, name="other"))
    return world.have(partitions=parts).quota("p1", limit=1, held=1, partition=1)


@pytest.mark.parametrize("tell", [True, False])
def test_a_limit_in_one_partition_takes_no_planned_start_in_another(tell):
    both = (1, 2)
    world = _two_partitions().queue(whole(1, partitions=both), whole(2, partitions=both)).made
    made = plan_board(build(world), tell=tell)
    first = made.starts[0]
    assert (first.workload, first.at_s, first.cards) == (1, NOW + 900, {3})
    assert not tell or check(world, made) == ()
    assert not tell or made.waits[1].starts_s == NOW + 900


def test_the_free_cards_where_it_is_at_its_limit_stay_free_for_others():
    mine = whole(1, partitions=(1, 2), declared_s=5000.0)
    theirs = whole(2, tenant="p2", declared_s=50_000.0)
    made = plan(_two_partitions().queue(mine, theirs).made)
    assert [placed.workload for placed in made.placed] == [2]
    assert [start.workload for start in made.starts] == [1]


def test_a_start_beside_a_head_of_its_project_borrows_no_more_than_it_does_now():
    """What the head will need of the guarantee is not taken yet."""
    world = snapshot().node("n1").card("A100-80GB", modes=("whole",)).card("A30", modes=("whole",))
    world = world.slice(1, "whole", mode="whole").quota("p1", limit=1, kind="entitlement")
    told = {"slices": (1,), "hosts": ((1, 0, 0, 0),), "tenant": "p2", "ends": 900}
    world = world.running(901, card_micro=1_000_000, **told).rules(preemption=False)
    first = whole(1, labels=frozenset({"A100-80GB"}), declared_s=5000.0)
    other = whole(2, labels=frozenset({"A30"}), declared_s=50_000.0)
    world = world.queue(first, other).made
    made = plan(world)
    assert [(placed.workload, placed.borrowed) for placed in made.placed] == [(2, False)]
    assert made.starts[0].at_s == NOW + 900 and check(world, made) == ()
