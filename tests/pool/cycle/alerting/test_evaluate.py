"""Rules over what is stored: fire once, resolve once, hysteresis, unknown, scopes, few queries."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.clock import now
from pool.cycle.alerting.evaluate import rule_look, rules_looked
from pool.events import SYSTEM
from pool.lifecycle.alerts import AlertState
from pool.models import Alert, AlertRule, Card, Event
from pool.rules.alerting.builtin import BUILT_IN
from pool.services.alerting.rules import rule_change, rules_there
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


def measured(card, at, *, seconds=60, **values):
    for back in range(0, seconds, 10):
        reads(at - timedelta(seconds=back), card=card.pk, **values)


def test_the_built_in_rules_are_made_once_and_a_change_of_theirs_stays():
    assert rules_there() == len(BUILT_IN)
    AlertRule.objects.filter(slug="heat").update(threshold=70)
    assert rules_there() == 0
    assert AlertRule.objects.get(slug="heat").threshold == 70


def test_heat_pends_fires_once_and_resolves_once(card):
    heat, at = rule("heat"), now()
    measured(card, at, temperature_c_max=85)
    rule_look(heat, at)
    (alert,) = Alert.objects.all()
    assert alert.state == AlertState.PENDING
    for _again in range(3):
        at += timedelta(seconds=31)
        measured(card, at, temperature_c_max=86)
        rule_look(heat, at)
    (alert,) = Alert.objects.all()
    assert (alert.state, alert.value, alert.threshold) == (AlertState.FIRING, 86, 79.9)
    assert alert.subject == f"card:{card.uid}"
    at += timedelta(seconds=200)
    measured(card, at, temperature_c_max=78)
    rule_look(heat, at)
    assert Alert.objects.get().state == AlertState.FIRING, "between the thresholds it goes on"
    for _again in range(3):
        at += timedelta(seconds=70)
        measured(card, at, temperature_c_max=60)
        rule_look(heat, at)
    assert Alert.objects.get().state == AlertState.RESOLVED
    moves = Event.objects.filter(kind="alert.moved").order_by("id")
    assert [one.data["to"] for one in moves] == ["firing", "resolved"]


def test_any_new_ecc_error_fires_at_once_and_old_ones_do_not(card):
    ecc, at = rule("ecc"), now()
    reads(at - timedelta(seconds=30), card=card.pk, ecc_corrected=7, ecc_uncorrected=1)
    reads(at - timedelta(seconds=20), card=card.pk, ecc_corrected=7, ecc_uncorrected=1)
    rule_look(ecc, at)
    assert not Alert.objects.exists(), "errors of long ago are no news"
    reads(at - timedelta(seconds=10), card=card.pk, ecc_corrected=8, ecc_uncorrected=1)
    rule_look(ecc, at)
    rule_look(ecc, at + timedelta(seconds=5))
    (alert,) = Alert.objects.all()
    assert (alert.state, alert.value, alert.severity) == (AlertState.FIRING, 1, "critical")
    reads(at, card=card.pk, ecc_corrected=0, ecc_uncorrected=0)
    rule_look(ecc, at + timedelta(seconds=6))
    assert Alert.objects.get().value == 1, "a counter that begins anew grew by nothing"


def test_errors_counted_while_nobody_heard_of_the_card_are_news_when_it_is_heard_again(card):
    ecc, at = rule("ecc"), now()
    reads(at - timedelta(hours=3), card=card.pk, ecc_corrected=7, ecc_uncorrected=0)
    reads(at - timedelta(seconds=10), card=card.pk, ecc_corrected=7, ecc_uncorrected=2)
    rule_look(ecc, at)
    (alert,) = Alert.objects.all()
    assert (alert.state, alert.value) == (AlertState.FIRING, 2)


def test_a_counter_that_begins_anew_has_counted_what_it_says(card):
    ecc, at = rule("ecc"), now()
    reads(at - timedelta(seconds=20), card=card.pk, ecc_corrected=7, ecc_uncorrected=0)
    reads(at - timedelta(seconds=10), card=card.pk, ecc_corrected=3, ecc_uncorrected=0)
    rule_look(ecc, at)
    assert Alert.objects.get().value == 3


def test_the_first_word_of_a_card_is_no_news(card):
    ecc, at = rule("ecc"), now()
    reads(at - timedelta(seconds=10), card=card.pk, ecc_corrected=9, ecc_uncorrected=0)
    rule_look(ecc, at)
    assert not Alert.objects.exists()


def test_what_is_unknown_neither_begins_nor_ends_an_alert(card):
    heat, at = rule("heat", for_seconds=0), now()
    rule_look(heat, at)
    assert not Alert.objects.exists()
    measured(card, at, temperature_c_max=90)
    rule_look(heat, at)
    rule_look(heat, at + timedelta(hours=3))
    assert Alert.objects.get().state == AlertState.FIRING, "an agent that is away heals no card"
    reads(at + timedelta(hours=3), card=card.pk, temperature_c_max=20)
    rule_look(heat, at + timedelta(hours=3))
    assert Alert.objects.get().clear_since is None, "ten seconds of a minute are too little"


def test_a_card_that_is_retired_ends_its_alert(card):
    heat, at = rule("heat", for_seconds=0), now()
    measured(card, at, temperature_c_max=90)
    rule_look(heat, at)
    Card.objects.update(state="retired")
    rule_look(heat, at)
    assert Alert.objects.get().state == AlertState.RESOLVED


def test_a_rule_that_is_switched_off_ends_its_alerts(card):
    heat, at = rule("heat", for_seconds=0), now()
    measured(card, at, temperature_c_max=90)
    rule_look(heat, at)
    AlertRule.objects.update(enabled=False)
    rules_looked()
    assert Alert.objects.get().state == AlertState.RESOLVED


def test_what_fires_again_and_again_is_marked_and_has_to_be_well_for_longer(card):
    heat, at = rule("heat", for_seconds=0, clear_seconds=0), now()
    for turn in range(3):
        at += timedelta(seconds=90)
        measured(card, at, temperature_c_max=90)
        rule_look(heat, at)
        at += timedelta(seconds=90)
        measured(card, at, temperature_c_max=50)
        rule_look(heat, at)
        at += timedelta(seconds=200 * turn)
        measured(card, at, temperature_c_max=50)
        rule_look(heat, at)
    flaps = list(Alert.objects.order_by("pk").values_list("flaps", flat=True))
    assert flaps == [0, 1, 2]


def test_little_use_over_a_week_is_read_from_hours_and_refused_without_enough_data(card):
    util = rule("util")
    at = now().replace(minute=0, second=0, microsecond=0)
    for hour in range(1, 60):
        moment = at - timedelta(hours=hour)
        reads(moment, seconds=3600, card=card.pk, util_mean=5)
        rollups_touched(moments=[moment])
    rollups_due(most=1000)
    rule_look(util, at)
    assert not Alert.objects.exists(), "two and a half days of seven are not enough"
    for hour in range(60, 100):
        moment = at - timedelta(hours=hour)
        reads(moment, seconds=3600, card=card.pk, util_mean=5)
        rollups_touched(moments=[moment])
    rollups_due(most=1000)
    rule_look(util, at)
    alert = Alert.objects.get()
    assert (alert.family, alert.value) == ("performance", pytest.approx(5))


def test_power_is_judged_only_while_somebody_holds_the_card(card):
    power, at = rule("power", window_seconds=600), now()
    Card.objects.update(tdp_w=400)
    measured(card, at, seconds=600, power_w_mean=60)
    rule_look(power, at)
    assert not Alert.objects.exists(), "an idle card takes little power"


@pytest.mark.handmade_books
def test_a_long_wait_fires_for_its_team_and_ends_when_the_work_starts():
    waits = rule("queue-wait", clear_seconds=0)
    work = rows.workload()
    type(work).objects.update(state="queued", queued_at=now() - timedelta(hours=2))
    rule_look(waits, now())
    alert = Alert.objects.get()
    assert alert.subject == f"project:{work.project.uid}"
    assert alert.project == work.project
    assert alert.value == pytest.approx(7200, abs=60)
    type(work).objects.update(state="running")
    rule_look(waits, now())
    assert Alert.objects.get().state == AlertState.RESOLVED


def test_one_look_costs_the_same_for_one_card_and_for_forty():
    rows.partition()
    heat = rule("heat")
    first = Card.objects.get(node=rows.node(cards=1))
    at = now()
    measured(first, at, temperature_c_max=20)
    with CaptureQueriesContext(connection) as few:
        rule_look(heat, at)
    for _more in range(5):
        for one in Card.objects.filter(node=rows.node(cards=8)):
            measured(one, at, temperature_c_max=20)
    with CaptureQueriesContext(connection) as many:
        rule_look(heat, at)
    assert len(few) == len(many)


@pytest.mark.parametrize("scope", ["card", "node", "partition", "pool", "project", "workload"])
@pytest.mark.parametrize("aggregate", ["mean", "p95", "max", "min", "last"])
@pytest.mark.parametrize("window", [60, 3600, 86_400])
def test_every_scope_aggregate_and_window_can_be_asked(card, scope, aggregate, window):
    one = rule("memory", scope=scope, aggregate=aggregate, window_seconds=window)
    rule_look(one, now())
    assert not Alert.objects.exists()


def test_books_can_be_asked_for_every_scope(card):
    for metric, scopes in {
        "unhealthy": ("node", "partition", "pool"),
        "held": ("partition", "pool"),
        "queue_wait": ("project", "pool"),
    }.items():
        for scope in scopes:
            one = rule("memory", metric=metric, scope=scope, aggregate="last")
            rule_look(one, now())
    assert not Alert.objects.exists()


def test_all_due_rules_are_looked_at_and_none_twice_at_once(card):
    assert rules_looked() == sum(1 for one in BUILT_IN if one.enabled)
    assert rules_looked() == 0
    changed = AlertRule.objects.get(slug="heat")
    rule_change(rule=changed, actor=SYSTEM, threshold=78.0)
    assert rules_looked() == 1, "a changed rule looks again at once"
