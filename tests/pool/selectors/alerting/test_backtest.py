"""What a rule would have done over stored data: as often as the live rule would have."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.models import AlertRule, Card
from pool.selectors.alerting.backtest import back_test
from pool.services.alerting.rules import rules_there
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from tests import rows
from tests.pool.services.telemetry.test_rollups import reads

pytestmark = pytest.mark.django_db


@pytest.fixture
def card():
    rows.partition()
    return Card.objects.get(node=rows.node(cards=1))


def rule(slug, **given):
    rules_there()
    AlertRule.objects.filter(slug=slug).update(**given)
    return AlertRule.objects.get(slug=slug)


def hours(card, at, temperatures):
    """One reading an hour, the newest last, condensed."""
    for back, value in enumerate(reversed(temperatures), start=1):
        moment = at - timedelta(hours=back)
        reads(moment, seconds=3600, card=card.pk, temperature_c_max=value)
        rollups_touched(moments=[moment])
    rollups_due(most=1000)


def test_two_hot_times_are_two_firings_with_their_worst_value(card):
    at = now().replace(minute=0, second=0, microsecond=0)
    hours(card, at, [50, 50, 85, 91, 50, 50, 50, 88, 50, 50])
    hot = rule("heat", window_seconds=3600, for_seconds=0, clear_seconds=0)
    test = back_test(rule=hot, days=7, at=at)
    assert (test.refused, test.things) == ("", 1)
    assert [one.worst for one in test.firings] == [91, 88]
    assert all(one.until is not None for one in test.firings)
    cool = rule("heat", threshold=95, clear_threshold=90)
    assert back_test(rule=cool, days=7, at=at).firings == ()


def test_what_still_burns_has_no_end(card):
    at = now().replace(minute=0, second=0, microsecond=0)
    hours(card, at, [50, 50, 90, 90])
    hot = rule("heat", window_seconds=3600, for_seconds=0)
    (one,) = back_test(rule=hot, days=7, at=at).firings
    assert one.until is None


def test_a_rule_over_what_is_not_kept_says_so():
    at = now()
    assert back_test(rule=rule("node-health"), days=7, at=at).refused == "not_kept"


def test_errors_that_were_counted_are_tried_on_the_readings_of_a_day(card):
    at = now()
    for back, count in ((20, 4), (19, 4), (10, 6), (9, 6), (1, 6)):
        reads(at - timedelta(hours=back), card=card.pk, ecc_corrected=count, ecc_uncorrected=0)
    test = back_test(rule=rule("ecc"), days=7, at=at)
    assert (test.refused, test.things, [one.worst for one in test.firings]) == ("", 1, [2])


def test_what_flaps_fires_no_oftener_than_the_live_rule_would(card):
    at = now().replace(minute=0, second=0, microsecond=0)
    for minutes in range(0, 60, 2):
        hot = 90 if minutes % 4 else 50
        moment = at - timedelta(minutes=minutes)
        for back in range(0, 120, 10):
            reads(moment - timedelta(seconds=back), card=card.pk, temperature_c_max=hot)
    wild = rule("heat", window_seconds=120, for_seconds=0, clear_seconds=0)
    found = back_test(rule=wild, days=1, at=at)
    assert 1 <= len(found.firings) <= 3


@pytest.mark.handmade_books
def test_long_waits_that_overlap_are_one_firing():
    work = rows.workload()
    other = rows.workload(into=work.project)
    at = now()
    for one, (queued, started) in zip((work, other), ((10, 6), (8, 4)), strict=True):
        type(one).objects.filter(pk=one.pk).update(
            queued_at=at - timedelta(hours=queued), started_at=at - timedelta(hours=started)
        )
    (one,) = back_test(rule=rule("queue-wait"), days=7, at=at).firings
    assert one.worst == 4 * 3600
    assert one.since == at - timedelta(hours=9)
    assert one.until == at - timedelta(hours=4)


@pytest.mark.handmade_books
def test_waits_of_several_teams_that_overlap_are_one_firing_of_the_pool():
    at, one, two = now(), rows.project(), rows.project()
    spans = [(one, 90, 86), (two, 88, 84), (one, 10, 6), (two, 20, 16)]
    for into, queued, started in spans:
        work = rows.workload(into=into)
        type(work).objects.filter(pk=work.pk).update(
            queued_at=at - timedelta(hours=queued), started_at=at - timedelta(hours=started)
        )
    found = back_test(rule=rule("queue-wait", scope="pool"), days=7, at=at).firings
    since = [round((at - firing.since) / timedelta(hours=1)) for firing in found]
    until = [round((at - firing.until) / timedelta(hours=1)) for firing in found]
    assert list(zip(since, until, strict=True)) == [(89, 84), (19, 16), (9, 6)]


@pytest.mark.parametrize("scope", ["card", "node", "partition", "pool", "project", "workload"])
@pytest.mark.parametrize("window", [60, 3600, 86_400])
def test_every_scope_and_window_can_be_tried(card, scope, window):
    one = rule("memory", scope=scope, window_seconds=window)
    assert back_test(rule=one, days=28, at=now()).refused == ""
    held = rule("power", window_seconds=window, scope=scope)
    assert back_test(rule=held, days=1, at=now()).refused == ""
