"""Use, demand and evidence of planted weeks: exact, and in a constant number of queries."""

from datetime import UTC, datetime, timedelta

import pytest

from pool.models import Card
from pool.rules.planning.scatter import Corner
from pool.rules.planning.verdict import Choice, judge
from pool.selectors.memberships import Standing, standing
from pool.selectors.planning.demand import demand_by_model
from pool.selectors.planning.evidence import ALL, evidence, period
from pool.selectors.planning.use import dots, pool_use, teams_held
from tests import rows
from tests.pool.selectors.planning.planted import hours, measured, ran

pytestmark = pytest.mark.django_db
UNTIL = datetime(2026, 6, 29, tzinfo=UTC)
SINCE = UNTIL - timedelta(days=28)
DAY = timedelta(days=1)


@pytest.fixture
def cards():
    rows.partition()
    rows.node(cards=4)
    return list(Card.objects.order_by("index"))


def use_whole(card, into, *, busy, memory_share=0.5, days=28, waited=0.0, version=None):
    begin = UNTIL - timedelta(days=days)
    _work, attempt, piece = ran(
        card=card, into=into, since=begin, until=UNTIL, waited=waited, version=version
    )
    memory = memory_share * card.memory_mib
    at = hours(begin, 24 * days)
    measured(card=card, hours=at, sm=busy)
    measured(card=card, hours=at, piece=piece, attempt=attempt, sm=busy, memory_mib=memory)


def test_the_pools_use_is_the_mean_of_what_was_measured_and_says_how_much_that_is(cards):
    measured(card=cards[0], hours=hours(SINCE, 24 * 28), sm=80)
    measured(card=cards[1], hours=hours(SINCE, 24 * 14), util=20)
    found = pool_use(since=SINCE, until=UNTIL)
    assert (found.days, found.cards, found.use_milli) == (28, 4, 600)
    assert found.known_milli == 375, "42 of 112 days of cards"


def test_a_day_with_few_hours_is_no_day(cards):
    measured(card=cards[0], hours=hours(SINCE, 24 + 11), sm=80)
    assert pool_use(since=SINCE, until=UNTIL).days == 1
    assert pool_use(since=UNTIL, until=UNTIL + DAY).use_milli is None


def test_what_a_team_held_is_exact_and_only_what_lies_in_the_span(cards):
    into = rows.project()
    ran(card=cards[0], into=into, since=SINCE - DAY, until=SINCE + DAY)
    ran(card=cards[1], into=into, since=UNTIL - timedelta(minutes=30), until=UNTIL + DAY)
    held = teams_held(since=SINCE, until=UNTIL, standing=ALL)
    assert held[into.pk].card_hours == pytest.approx(24.5)
    assert held[into.pk].use_milli is None


def test_a_planted_idle_team_is_told_to_give_back_and_planted_hot_ones_to_buy(cards):
    idle, hot, warm = rows.project(), rows.project(), rows.project()
    rows.node(cards=1)
    for card in (*cards[:2], Card.objects.order_by("pk").last()):
        use_whole(card, idle, busy=10)
    use_whole(cards[2], hot, busy=90, waited=20_000)
    use_whole(cards[3], warm, busy=80, waited=20_000)
    told = judge(evidence(until=UNTIL))
    assert told.choice is Choice.OPTIMISE
    assert [(t.slug, t.spare_cards) for t in told.spare] == [(idle.slug, 2)]
    assert {t.slug for t in told.busy} == {hot.slug, warm.slug}


def test_hot_teams_alone_speak_for_buying(cards):
    hot, warm = rows.project(), rows.project()
    for card in cards[:2]:
        use_whole(card, hot, busy=95, waited=20_000)
    for card in cards[2:]:
        use_whole(card, warm, busy=90, waited=20_000)
    told = judge(evidence(until=UNTIL))
    assert (told.choice, told.wanted_cards) == (Choice.BUY, 2)


def test_six_days_are_too_few(cards):
    use_whole(cards[0], rows.project(), busy=90, days=6)
    told = judge(evidence(until=UNTIL))
    assert (told.choice, told.missing_days) == (Choice.TOO_EARLY, 1)


def test_dots_are_kinds_of_work_with_the_corner_that_they_call_for(cards):
    into = rows.project()
    full, lazy = rows.template(), rows.template()
    use_whole(cards[0], into, busy=40, memory_share=0.9, version=full)
    use_whole(cards[1], into, busy=10, memory_share=0.1, version=lazy, days=10)
    found = dots(since=SINCE, until=UNTIL, standing=ALL)
    assert [(d.key, d.corner) for d in found] == [
        (full.template.uid, Corner.RECUT),
        (lazy.template.uid, Corner.SMALLER),
    ]
    assert found[0].memory_milli == pytest.approx(900, abs=1)
    assert [round(d.card_hours) for d in found] == [28 * 24, 240]


def test_demand_counts_what_waited_and_the_95th_percentile_of_each_week(cards):
    into = rows.project()
    week = timedelta(days=7)
    for number in range(3):
        begin = UNTIL - (3 - number) * week
        for card in cards[: number + 1]:
            ran(card=card, into=into, since=begin, until=begin + week)
    found = {one.label: one for one in demand_by_model(until=UNTIL)}
    assert found["A100-80GB"].cards == 4
    assert found["A100-80GB"].weeks == [1.0, 2.0, 3.0]
    late = UNTIL - timedelta(days=2)
    ran(card=cards[3], into=into, since=late, until=late + DAY, waited=3 * 86_400)
    found = {one.label: one for one in demand_by_model(until=UNTIL)}
    assert found["A100-80GB"].weeks == [1.0, 2.0, 4.0], "it waited three days before it ran one"


def test_two_periods_side_by_side(cards):
    into = rows.project()
    use_whole(cards[0], into, busy=50, days=7, waited=100)
    last = period(since=UNTIL - timedelta(days=7), until=UNTIL)
    before = period(since=UNTIL - timedelta(days=14), until=UNTIL - timedelta(days=7))
    assert (last.mean_cards, last.use_milli, last.started) == (pytest.approx(1), 500, 1)
    assert (last.p50_wait_s, last.p95_wait_s) == (100, 100)
    assert (before.mean_cards, before.use_milli, before.started) == (0, None, 0)
    assert before.p95_wait_s is None


def test_others_teams_are_not_in_the_evidence_and_queries_do_not_grow(
    cards, django_assert_max_num_queries
):
    ours, theirs = rows.project(), rows.project()
    use_whole(cards[0], ours, busy=50, days=8)
    for card in cards[1:]:
        use_whole(card, theirs, busy=50, days=8)
    lead = rows.member(ours, role="lead")
    who = standing(user=lead)
    with django_assert_max_num_queries(8):
        seen = evidence(until=UNTIL, standing=who)
    assert [one.slug for one in seen.teams] == [ours.slug]
    assert not evidence(until=UNTIL, standing=Standing()).teams
