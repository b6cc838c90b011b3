"""Every round counts; its line is kept when it did something, and for fourteen days."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.housekeep import housekeep
from pool.cycle.round import run_rounds
from pool.models import Round, RoundTotal
from pool.selectors.rounds import rounds_last, rounds_total
from pool.services.queueing.rounds import round_kept
from tests import rows

pytestmark = pytest.mark.django_db


def made(**said):
    sizes = {"taken_us": 1_000, "planned_us": 2_000, "committed_us": 3_000}
    return Round(**{"at": now(), "cards": 8, "waiting": 1} | sizes | said)


def test_a_live_round_leaves_a_line_with_its_size_and_what_it_did():
    rows.partition()
    rows.node(cards=2)
    for _ in range(3):
        rows.workload(need={"parts": 1, "whole": True})
    run_rounds()
    line = rounds_last()[0]
    assert (line.cards, line.waiting, line.placed, line.preempted) == (2, 3, 2, 0)
    assert line.taken_us and line.planned_us and line.committed_us
    assert line.took_us == line.taken_us + line.planned_us + line.committed_us
    assert rounds_total().placed == 2


def test_quiet_rounds_are_kept_once_a_minute_but_all_of_them_count():
    start = now()
    for second in (0, 2, 4, 61, 63):
        round_kept(made=made(at=start + timedelta(seconds=second)))
    assert Round.objects.count() == 2
    assert rounds_total().rounds == 5


def test_rounds_that_did_something_are_all_kept():
    for did in ("placed", "carving", "preempted", "stale"):
        round_kept(made=made(**{did: 1}))
    assert Round.objects.count() == 4
    total = rounds_total()
    assert (total.placed, total.carving, total.preempted, total.stale) == (1, 1, 1, 1)
    assert (total.taken_us, total.planned_us, total.committed_us) == (4_000, 8_000, 12_000)


def test_durations_fall_into_classes_and_the_longest_into_the_open_one():
    for planned in (1_000, 20_000, 20_000, 9_000_000):
        round_kept(made=made(taken_us=0, committed_us=0, planned_us=planned))
    assert RoundTotal.objects.get().buckets == [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]


def test_lines_go_after_fourteen_days_and_the_sums_stay():
    round_kept(made=made(at=now() - timedelta(days=15), placed=1))
    round_kept(made=made(at=now() - timedelta(days=13), placed=1))
    assert housekeep().rounds == 1
    assert Round.objects.count() == 1
    assert rounds_total().placed == 2


def test_before_the_first_round_the_sums_are_nought():
    assert rounds_last() == []
    assert (rounds_total().rounds, rounds_total().buckets) == (0, [])
