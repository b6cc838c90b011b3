"""The week by hours: means and P95, gaps stay gaps, empty hours named, observed nodes alike."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.models import Card, Node
from pool.selectors.alerting.baseline import baseline_of, waited_in
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from tests import rows
from tests.pool.services.telemetry.test_rollups import reads

pytestmark = pytest.mark.django_db
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)


def measured(card, moment, **values):
    reads(moment, seconds=3600, card=card.pk, **values)
    rollups_touched(moments=[moment])


def test_each_hour_is_the_mean_of_its_weekday_and_unknown_ones_stay_unknown():
    node = rows.node(cards=1)
    Node.objects.filter(pk=node.pk).update(observe=True, state="observed")
    card = Card.objects.get(node=node)
    measured(card, MONDAY + timedelta(hours=3), util_mean=4, memory_mib_mean=card.memory_mib / 2)
    measured(card, MONDAY + timedelta(hours=9), util_mean=80)
    rollups_due(most=100)
    base = baseline_of(node=node, days=7, at=MONDAY + timedelta(days=7))
    assert len(base.hours) == 168
    three, nine, ten = base.hours[3], base.hours[9], base.hours[10]
    assert (three.weekday, three.hour, three.util) == (0, 3, 4)
    assert three.memory == pytest.approx(50, abs=0.1)
    assert (nine.util, nine.util_p95) == (80, 80)
    assert ten.util is None, "what was not measured is not 0"
    assert [(one.weekday, one.hour) for one in base.empty_hours] == [(0, 3)]
    assert (base.days, base.enough) == (1, False)


def test_hours_are_those_of_the_readers_zone():
    node = rows.node(cards=1)
    measured(Card.objects.get(node=node), MONDAY + timedelta(hours=20), util_mean=50)
    rollups_due(most=100)
    until = MONDAY + timedelta(days=7)
    base = baseline_of(node=node, days=7, at=until, zone="Asia/Shanghai")
    (known,) = [one for one in base.hours if one.util is not None]
    assert (known.weekday, known.hour) == (1, 4)


@pytest.mark.handmade_books
def test_waiting_work_is_counted_in_the_hours_in_which_it_waited():
    rows.node(cards=1)
    work = rows.workload()
    type(work).objects.update(
        queued_at=MONDAY + timedelta(hours=2), started_at=MONDAY + timedelta(hours=4, minutes=30)
    )
    base = baseline_of(node=None, days=7, at=MONDAY + timedelta(days=7))
    waited = [one.hour for one in base.hours if one.fitted]
    assert waited == [2, 3, 4]
    (started,) = [one for one in base.hours if one.wait_s is not None]
    assert (started.hour, started.wait_s) == (4, 9000)


@pytest.mark.handmade_books
def test_waits_are_counted_in_every_hour_that_they_touch_and_in_no_other():
    rows.node(cards=1)
    spans = [(2.0, 3.0), (2.5, 2.51), (2.5, 4.25), (5.0, 5.0), (23.9, 24.2), (166.0, None)]
    for began, over in spans:
        work = rows.workload()
        moments = {"queued_at": MONDAY + timedelta(hours=began)}
        if over is not None:
            moments["started_at"] = MONDAY + timedelta(hours=over)
        type(work).objects.filter(pk=work.pk).update(**moments)
    base = baseline_of(node=None, days=7, at=MONDAY + timedelta(days=7))
    waited = {(one.weekday, one.hour): one.fitted for one in base.hours if one.fitted}
    # 2.5 to 2.51 is 36 s: too short to count.
    want = {(0, 2): 2, (0, 3): 1, (0, 4): 1, (0, 23): 1, (1, 0): 1, (6, 22): 1, (6, 23): 1}
    assert waited == want


def test_the_week_costs_the_same_for_one_node_and_for_five():
    until = MONDAY + timedelta(days=7)
    one = rows.node(cards=1)
    with CaptureQueriesContext(connection) as few:
        baseline_of(node=one, days=7, at=until)
    for _more in range(4):
        rows.node(cards=4)
    with CaptureQueriesContext(connection) as many:
        baseline_of(node=None, days=28, at=until)
    assert len(few) == len(many) == 5


def test_each_number_of_an_hour_has_its_95th_percentile():
    node = rows.node(cards=1)
    card = Card.objects.get(node=node)
    for week, value in enumerate((10, 20, 90)):
        moment = MONDAY + timedelta(days=7 * week, hours=3)
        for part in range(6):
            high = part == 5
            reads(
                moment + timedelta(minutes=10 * part),
                seconds=600,
                card=card.pk,
                sm_mean=value + 5 * high,
                occupancy_mean=value + 5 * high,
                memory_mib_mean=card.memory_mib * (value + 5 * high) / 100,
            )
        rollups_touched(moments=[moment])
    for week, many in enumerate((1, 1, 4)):
        for one in range(many):
            moment = MONDAY + timedelta(days=7 * week, hours=3, minutes=one)
            reads(moment, card=card.pk, piece=1, attempt=10 + one, sm_mean=1)
    rollups_due(most=100)
    three = baseline_of(node=node, days=21, at=MONDAY + timedelta(days=21)).hours[3]
    for name in ("sm", "occupancy", "memory"):
        mean, high = getattr(three, name), getattr(three, f"{name}_p95")
        assert mean == pytest.approx(40.8, abs=0.5)
        assert 80 < high <= 95
    assert (three.tasks, round(three.tasks_p95, 1)) == (2.0, 3.7)


@pytest.mark.handmade_books
def test_the_wait_of_an_hour_has_its_95th_percentile():
    for minutes in (1, 1, 1, 60):
        work = rows.workload()
        started = MONDAY + timedelta(hours=5)
        type(work).objects.filter(pk=work.pk).update(
            queued_at=started - timedelta(minutes=minutes), started_at=started
        )
    five = baseline_of(node=None, days=7, at=MONDAY + timedelta(days=7)).hours[5]
    assert five.wait_s == pytest.approx(63 * 60 / 4)
    assert five.wait_s_p95 > 3000


def waits(need, **given):
    work = rows.workload(need=need)
    moments = {"queued_at": MONDAY + timedelta(hours=2), "started_at": MONDAY + timedelta(hours=4)}
    type(work).objects.filter(pk=work.pk).update(**moments, **given)
    return work


@pytest.mark.handmade_books
def test_what_could_not_have_run_there_is_not_counted_as_waiting_for_an_empty_hour():
    node = rows.node(cards=2)
    fits = waits({"parts": 2, "whole": True})
    for need in (
        {"parts": 3, "whole": True},
        {"parts": 1, "whole": True, "labels": ["H200-141GB"]},
        {"parts": 1, "memory_gb": 96},
        {"parts": 1, "whole": True, "vendors": ["amd"]},
        {"parts": 0},
    ):
        waits(need)
    waits({"parts": 1, "whole": True}, state="on_hold")
    until = MONDAY + timedelta(days=7)
    base = baseline_of(node=node, days=7, at=until)
    assert [(one.hour, one.fitted) for one in base.hours if one.fitted] == [(2, 1), (3, 1)]
    card = Card.objects.filter(node=node).first()
    measured(card, MONDAY + timedelta(hours=3), util_mean=2)
    rollups_due(most=100)
    base = baseline_of(node=node, days=7, at=until)
    rows_of = type(fits).objects.all()
    assert waited_in(rows=rows_of, base=base, node=node, zone="UTC") == [(fits, 1.0)]
    assert waited_in(rows=rows_of.none(), base=base, node=node, zone="UTC") == []
