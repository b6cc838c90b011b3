"""Work at its own limit: what ends or leaves of the same tenant gives it room again."""

from dataclasses import replace

import pytest

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.checker import check
from pool.scheduling.model import PriorityClass, Reservation, Seats
from pool.scheduling.plan import plan
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
