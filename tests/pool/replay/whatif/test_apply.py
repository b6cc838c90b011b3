"""A scenario changes what it names and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.replay.whatif.apply import (
    CardCount,
    OtherClass,
    Scenario,
    Switches,
    TeamLimit,
    applied,
)
from pool.replay.whatif.engine import Run, replay
from pool.replay.whatif.figures import Days, at_share, figures
from pool.replay.whatif.trace import Trace
from pool.scheduling.model import CardState, Need, Policy, PriorityClass, Quota, QuotaKind, Unit
from pool.scheduling.order import share_weights
from tests.pool.replay.whatif.made import HALF_LIFE_S, busy, kind, trace, world


def _cards(snapshot):
    found = {}
    for card in snapshot.cards:
        found.setdefault(card.node, []).append(card.id)
    return found


def test_without_changes_all_is_as_it_was():
    told, made = busy(1, 20), world(2, 8)
    work, snapshot = applied(told, made, Scenario())
    assert (work, snapshot) == (told, made.snapshot)


@given(st.integers(0, 40))
def test_so_many_cards_as_asked_for_on_machines_like_the_others(count):
    told, made = busy(1, 5), world(2, 8)
    one = CardCount(partition="main", model="A100-80GB", count=count)
    _, snapshot = applied(told, made, Scenario(cards=(one,)))
    assert len(snapshot.cards) == count
    assert len({card.id for card in snapshot.cards}) == count
    assert {card.node for card in snapshot.cards} == {node.id for node in snapshot.nodes}
    assert all(len(ids) <= 8 for ids in _cards(snapshot).values())


def test_cards_of_a_model_that_is_not_there_come_as_published():
    made = world(1, 4)
    pattern = made.snapshot.cards[0]
    other = CardState(**{n: getattr(pattern, n) for n in pattern.__slots__} | {"label": "H100"})
    made = type(made)(snapshot=made.snapshot, patterns=(other,), places=made.places)
    one = CardCount(partition="main", model="H100", count=12)
    _, snapshot = applied(busy(1, 5), made, Scenario(cards=(one,)))
    fresh = [card for card in snapshot.cards if card.label == "H100"]
    assert len(fresh) == 12 and len({card.node for card in fresh}) == 2


@pytest.mark.parametrize(("partition", "model"), [("none", "A100-80GB"), ("main", "no such card")])
def test_what_nobody_knows_is_refused(partition, model):
    one = CardCount(partition=partition, model=model, count=9)
    with pytest.raises(LookupError):
        applied(busy(1, 5), world(1, 4), Scenario(cards=(one,)))


def test_a_limit_takes_the_place_of_the_teams_own_or_takes_it_away():
    own = Quota(
        id=7,
        tenant="project:vision",
        kind=QuotaKind.LIMIT,
        unit=Unit.CARD_MICRO,
        limit=1,
        held=1,
    )
    made = world(1, 4, quotas=(own,))
    told = trace([kind("vision")], [(0, 0, 1)])
    more = Scenario(limits=(TeamLimit(team="vision", cards=3.5), TeamLimit(team="x", cards=1)))
    _, snapshot = applied(told, made, more)
    assert [(row.limit, row.held) for row in snapshot.quotas] == [(3_500_000, 0)]
    _, snapshot = applied(told, made, Scenario(limits=(TeamLimit(team="vision", cards=None),)))
    assert snapshot.quotas == ()
    guarantee = TeamLimit(team="vision", cards=2, partition="main", guarantee=True)
    _, snapshot = applied(told, made, Scenario(limits=(guarantee,)))
    assert {row.kind for row in snapshot.quotas} == set(QuotaKind)
    weights = share_weights(snapshot.quotas)
    assert weights == {"project:vision": 2.0, "org:1": 2.0}, "it ranks by it, as in a round"


def test_classes_needs_switches_and_numbers_change_where_they_are_named():
    kinds = [kind("vision", template="tune"), kind("speech", template="tune")]
    told = trace(kinds, [(0, 0, 1), (1, 0, 1)])
    scenario = Scenario(
        classes=(OtherClass(priority=PriorityClass.HIGH, team="speech"),),
        needs={"tune": Need(memory_gb=10, compute_milli=100)},
        switches=(Switches(policy=Policy.SPREAD, preemption=False),),
        numbers={"heads": 1, "backfill": False},
    )
    work, snapshot = applied(told, world(1, 4), scenario)
    assert [one.priority.value for one in work.works] == ["normal", "high"]
    assert {one.need.memory_gb for one in work.kinds} == {10}
    assert not any(one.need.whole for one in work.kinds)
    (place,) = snapshot.partitions
    assert (place.policy, place.preemption, place.lending) == (Policy.SPREAD, False, True)
    assert (snapshot.rules.heads, snapshot.rules.backfill) == (1, False)


def test_more_cards_let_nobody_wait_longer_in_the_mean():
    told, made = busy(2, 150, every_s=15.0), world(2, 8)

    def mean(count):
        one = CardCount(partition="main", model="A100-80GB", count=count)
        work, snapshot = applied(told, made, Scenario(cards=(one,)))
        runs = replay(work, snapshot, half_life_s=HALF_LIFE_S)
        return figures(work, snapshot, runs, made.names)["total"]["mean_wait_s"]

    assert mean(32) < mean(16)


def test_figures_count_cards_teams_and_time():
    kinds = [kind("vision", whole=True, parts=2), kind("speech", memory_gb=40)]
    told = trace(kinds, [(0, 0, 100), (1, 0, 50), (0, 10, 100)], until=200.0)
    made = world(1, 3)
    runs = list(replay(told, made.snapshot, half_life_s=HALF_LIFE_S))
    found = figures(told, made.snapshot, runs, made.names)
    vision = found["teams"]["vision"]
    assert (vision["jobs"], vision["never"], vision["longest_wait_s"]) == (2, 0, 90.0)
    assert vision["card_hours"] == round(2 * 190 / 3600, 2)
    (model,) = found["models"]
    assert (model["partition"], model["cards"]) == ("main", 3)
    spent = sum(row[5] for row in found["spent"])
    assert spent == pytest.approx(3600 * found["total"]["card_hours"], abs=40)
    held = found["picture"]["step_s"] * sum(found["picture"]["cards"])
    assert held == pytest.approx(spent, rel=0.02)
    waited = found["picture"]["step_s"] * sum(found["picture"]["waiting"])
    assert waited == pytest.approx(90.0, rel=0.02)


def test_a_share_of_values_is_passed_by_none_of_that_share():
    assert at_share([1.0, 9.0], 0.5) == 1.0
    assert at_share([float(one) for one in range(1, 21)], 0.95) == 19.0
    assert at_share([1.0, 2.0, 3.0], 0.5) == 2.0 and at_share([4.0], 0.05) == 4.0
    assert at_share([1.0, 2.0], 1.0) == 2.0 and at_share([], 0.5) is None


@given(st.floats(0, 2e6), st.floats(0, 2e6), st.floats(0, 1e6))
def test_the_days_of_a_run_add_up_to_it_whenever_the_period_begins(since, starts, length):
    """Sums of days and a begin need not be exact: the day after is counted on."""
    until = since + 40 * 86_400.0
    told = Trace(since_s=since, until_s=until, kinds=(), works=())
    run = Run(1, since + starts, since + starts + length, 1, (), 0.0, evicted=False)
    days = Days()
    days.add(run, told, 2.0)
    inside = max(0.0, min(run.end_s, until) - run.start_s)
    assert sum(days.days) == pytest.approx(2.0 * inside, abs=0.01)
    assert len(days.days) <= 41
