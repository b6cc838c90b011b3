"""A turn of alerting: what goes wrong in one part of it keeps no word in the house."""

import pytest

from pool.clock import now
from pool.cycle.alerting import evaluate, stale, turn
from pool.cycle.alerting.turn import alerting_turn
from pool.events import SYSTEM
from pool.models import Alert, AlertDelivery, AlertRule
from pool.services.alerting.conditions import condition_end
from pool.services.alerting.rules import rules_there
from pool.services.alerting.ways import channel_make, route_make
from pool.services.alerts import alert_raise
from tests import rows

pytestmark = pytest.mark.django_db


def broken(*_given, **_named):
    raise ValueError("odd")


@pytest.fixture
def waiting():
    """An alert that nobody was told of, with a way out for it."""
    channel = channel_make(name="ops", kind="mail", to="ops@example.org", actor=SYSTEM)
    route_make(channel=channel, actor=SYSTEM, days=list(range(7)))
    alert_raise(key="a", subject="card:x", title="hot", actor=SYSTEM)


@pytest.mark.parametrize("part", ["rules_looked", "stale_ended", "ways_there"])
def test_words_leave_though_another_part_of_the_turn_fails(part, waiting, monkeypatch):
    monkeypatch.setattr(turn, part, broken)
    assert alerting_turn() == 1
    assert AlertDelivery.objects.get().alert.key == "a"


def test_one_rule_that_cannot_be_looked_at_keeps_no_other_from_its_look(monkeypatch):
    rules_there()
    look = evaluate.rule_look

    def odd(rule, at):
        return broken() if rule.slug == "heat" else look(rule, at)

    monkeypatch.setattr(evaluate, "rule_look", odd)
    rows.partition()
    begun = now()
    evaluate.rules_looked()
    assert not AlertRule.objects.filter(enabled=True, looked_at=None).exists()
    assert AlertRule.objects.get(slug="heat").looked_at >= begun


def test_one_alert_that_cannot_be_ended_keeps_no_other_open(monkeypatch):
    for name in ("sl-1", "sl-2"):
        alert_raise(key=f"unclean:{name}", subject=f"slice:{name}", title="dirty", actor=SYSTEM)

    def odd(*, row, reason):
        return broken() if row.key == "unclean:sl-1" else condition_end(row=row, reason=reason)

    monkeypatch.setattr(stale, "condition_end", odd)
    assert stale.stale_ended() == 1
    assert Alert.objects.exclude(state="resolved").get().key == "unclean:sl-1"
