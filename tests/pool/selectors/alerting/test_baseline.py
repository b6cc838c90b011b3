"""The week by hours: means and P95, gaps stay gaps, empty hours named, observed nodes alike."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.models import Card, Node
from pool.selectors.alerting.baseline import baseline_of
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
