"""Series for charts: the finest step that is kept, slices together, gaps as gaps."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.rules.telemetry import HOUR_S, MINUTE_S, RAW_S, Kept, kept, step_for
from pool.selectors.telemetry.series import series_of
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from tests.pool.services.telemetry.test_rollups import START, reads

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
NUMBERS = {"raw_days": 0, "minute_days": 0, "hour_days": 730}


def test_a_small_pool_keeps_more_than_a_large_one_and_a_person_may_say_otherwise():
    assert kept(cards=500, numbers=NUMBERS) == Kept(raw_days=7, minute_days=60, hour_days=730)
    assert kept(cards=501, numbers=NUMBERS) == Kept(raw_days=1, minute_days=14, hour_days=730)
    assert kept(cards=501, numbers=NUMBERS | {"raw_days": 3}).raw_days == 3


@pytest.mark.parametrize(
    ("length", "age", "step"),
    [
        (3600, 3600, RAW_S),
        (4 * 3600, 8 * 86_400, MINUTE_S),
        (86_400, 86_400, MINUTE_S),
        (86_400, 61 * 86_400, HOUR_S),
        (30 * 86_400, 30 * 86_400, HOUR_S),
    ],
)
def test_the_step_is_the_finest_that_is_kept_and_can_be_drawn(length, age, step):
    assert step_for(length_s=length, age_s=age, keeps=kept(cards=8, numbers=NUMBERS)) == step


@pytest.mark.parametrize("step", [RAW_S, MINUTE_S, HOUR_S])
def test_slices_of_one_attempt_are_summed_in_memory_and_averaged_in_use(step):
    for piece, busy in ((1, 20), (2, 60)):
        reads(START, piece=piece, attempt=9, sm_mean=busy, memory_mib_mean=100, memory_mib_max=150)
    rollups_touched(moments=[START])
    rollups_due()
    found = series_of(
        since=START,
        until=START + timedelta(hours=1),
        metrics=("sm", "memory_mib", "power_w"),
        attempts=[9],
        step=step,
    )
    assert [(at, mean, peak) for at, mean, peak in found.points] == [
        (START, (40, 200, None), (60, 300, None))
    ]
    assert found.known == {"sm": 10 / 3600, "memory_mib": 10 / 3600, "power_w": 0.0}


def test_a_card_is_read_as_a_whole_and_what_lies_between_is_no_point():
    reads(START, card=5, sm_mean=20)
    reads(START + timedelta(minutes=30), card=5, sm_mean=40)
    reads(START, card=5, piece=1, sm_mean=90)
    reads(START, card=6, sm_mean=90)
    until = START + timedelta(hours=1)
    found = series_of(since=START, until=until, metrics=("sm",), card=5, step=RAW_S)
    assert [mean for _at, mean, _peak in found.points] == [(20,), (40,)]


def test_without_a_step_a_long_span_is_read_by_the_hour_in_few_queries(
    django_assert_max_num_queries,
):
    until = now()
    with django_assert_max_num_queries(3):
        found = series_of(since=until - 30 * DAY, until=until, metrics=("sm",), attempts=[1])
    assert (found.step, found.points) == (HOUR_S, [])
