"""Rules that can be judged, and the built-in ones."""

from dataclasses import replace

from pool.rules.alerting.builtin import BUILT_IN
from pool.rules.alerting.metrics import METRICS, Asked, Source, every_s, problems
from pool.rules.alerting.terms import Aggregate, Family, Scope, Severity, Side

GOOD = Asked("temperature", "card", "max", 60, "above", 80, 77)


def test_every_built_in_rule_can_be_judged_and_has_a_name_of_its_own():
    for one in BUILT_IN:
        asked = Asked(
            one.metric, one.scope, one.aggregate, one.window_s, one.side, one.threshold, one.clear
        )
        assert problems(asked) == {}, one.slug
        assert one.family in set(Family)
        assert one.severity in set(Severity)
        assert one.side in set(Side)
    assert len({one.slug for one in BUILT_IN}) == len(BUILT_IN)


def test_the_rules_that_are_asked_for_are_there():
    asked = {(one.metric, one.side, one.threshold) for one in BUILT_IN}
    assert ("util", "below", 20) in asked
    assert ("occupancy", "below", 30) in asked
    assert ("memory", "above", 90) in asked
    assert ("temperature", "above", 79.9) in asked, "80 °C itself is too hot"
    assert ("ecc", "above", 0) in asked
    assert ("power_share", "below", 30) in asked
    assert {"unhealthy", "queue_wait"} <= {metric for metric, _side, _value in asked}


def test_what_does_not_fit_is_said_by_field():
    assert problems(GOOD) == {}
    assert set(problems(replace(GOOD, metric="mood"))) == {"metric"}
    assert set(problems(replace(GOOD, aggregate="increase"))) == {"aggregate"}
    assert set(problems(replace(GOOD, window_s=5))) == {"window_seconds"}
    assert set(problems(replace(GOOD, threshold=1e9))) == {"threshold"}
    assert set(problems(replace(GOOD, clear=90))) == {"clear_threshold"}
    assert set(problems(replace(GOOD, metric="queue_wait"))) == {"scope", "aggregate"}
    long_ecc = Asked("ecc", "card", "increase", 86_400, "above", 0)
    assert set(problems(long_ecc)) == {"window_seconds"}


def test_every_metric_has_a_scope_an_aggregate_and_a_column_where_it_is_measured():
    for name, one in METRICS.items():
        assert one.scopes <= set(Scope), name
        assert one.aggregates <= set(Aggregate), name
        assert bool(one.column) == (one.source is Source.SAMPLES), name


def test_short_windows_are_looked_at_often_and_long_ones_seldom():
    assert every_s(60) == 5
    assert every_s(7 * 86_400) == 3600
