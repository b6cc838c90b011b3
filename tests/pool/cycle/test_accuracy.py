"""Declared durations are corrected by how far their owner's work ran past them."""

from datetime import timedelta

import pytest
from pytest import approx

from pool.clock import now
from pool.cycle.accuracy import LEAST_RUNS, MOST_RATIO, accuracy_count
from pool.cycle.housekeep import housekeep
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.models import Accuracy, Attempt, Membership
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    rows.partition()
    return Obedient(rows.node())


def ran(pool, into, *lengths, declared=100, reason="finished", ago=timedelta(days=1)):
    """One job after another of one person, of that declared length, took so many seconds."""
    owner = Membership.objects.filter(project=into).first()
    owner = owner.user if owner else rows.member(into)
    for seconds in lengths:
        work = rows.workload(into=into, owner=owner, expected_seconds=declared)
        run_rounds()
        pool.turn()
        pool.finish(work)
        pool.tell()
        end = now() - ago
        Attempt.objects.filter(workload=work).update(
            started_at=end - timedelta(seconds=seconds), ended_at=end, exit_reason=reason
        )
    return owner


def test_nine_in_ten_of_a_persons_jobs_took_at_most_the_ratio(pool):
    project = rows.project()
    owner = ran(pool, project, *(100 + 10 * i for i in range(11)))
    assert accuracy_count() == 1
    assert owner.accuracy.p90_ratio == approx(1.9)
    assert owner.accuracy.runs == 11
    later = rows.workload(into=project, owner=owner, expected_seconds=600)
    seen = next(one for one in take(now()).waiting if one.id == later.pk)
    assert seen.p90_ratio == approx(1.9)


def test_too_few_jobs_old_ones_and_failures_say_nothing(pool):
    project = rows.project()
    owner = ran(pool, project, *[300] * (LEAST_RUNS - 1))
    ran(pool, project, 300, ago=timedelta(days=120))
    ran(pool, project, 300, reason="own_error")
    assert accuracy_count() == 0
    later = rows.workload(into=project, owner=owner)
    assert next(one for one in take(now()).waiting if one.id == later.pk).p90_ratio == 1.0


def test_a_forecast_is_stretched_within_a_bound_and_found_anew_each_time(pool):
    owner = ran(pool, rows.project(), *[100_000] * LEAST_RUNS)
    housekeep()
    housekeep()
    assert Accuracy.objects.get(user=owner).p90_ratio == MOST_RATIO


def test_running_work_is_expected_to_end_as_late_as_its_owners_work_does(pool):
    project = rows.project()
    owner = ran(pool, project, *[150] * LEAST_RUNS)
    accuracy_count()
    work = rows.workload(into=project, owner=owner, expected_seconds=1000)
    run_rounds()
    pool.turn()
    seen = next(one for one in take(now()).running if one.id == work.pk)
    assert seen.p90_ratio == approx(1.5)
