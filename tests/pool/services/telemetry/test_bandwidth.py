"""A class of memory bandwidth that nobody declared: learned from finished runs, used by rounds."""

from datetime import timedelta

import pytest
from django.db import connection

from pool.clock import now
from pool.cycle.snapshot import take
from pool.models import Event, LearnedBandwidth, Workload
from pool.models.telemetry.rollups import METRICS, PLACE
from pool.selectors.telemetry.bandwidth import bandwidth_learned
from pool.services.telemetry.bandwidth import bandwidth_learn
from tests import rows
from tests.pool.many import many

pytestmark = pytest.mark.django_db


def measured(work, percent):
    """An hour of readings of the run: how active the card's memory was; None is unknown."""
    mean = [None] * len(METRICS)
    known = [0.0] * len(METRICS)
    mean[PLACE["bandwidth"]] = percent
    known[PLACE["bandwidth"]] = 0.0 if percent is None else 3600.0
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO pool_rollup_hour (at, card_id, attempt_id, seconds, mean, peak, known)"
            " VALUES (date_trunc('hour', now()), 1, %s, 3600, %s, %s, %s)",
            [work.attempts.get().pk, mean, mean, known],
        )


def ran(place, percent, **words):
    """Work of the place that has run to its end, measured so."""
    work = place.submit(**words)
    place.step()
    place.finish(work)
    measured(work, percent)
    return work


def seen(place, **words):
    """Whether the next work counts as heavy while it runs, and the one behind it that waits."""
    first = place.submit(**words)
    place.step()
    place.submit(**words)
    found = take(now())
    (held,) = [one for one in found.slices if one.held_by is not None]
    (waits,) = found.waiting
    Workload.objects.filter(pk=waits.id).update(state="cancelled", ended_at=now())
    place.finish(first)
    return held.heavy_bandwidth, waits.need.heavy_bandwidth


def test_runs_that_were_measured_say_what_nobody_declared():
    place = many(cards=1)
    for percent in (80, 70, None, None):
        ran(place, percent)
    assert bandwidth_learn() == 0
    assert seen(place) == (False, False), "nothing is known of two runs"
    ran(place, 10)
    assert bandwidth_learn() == 2
    told = bandwidth_learned(version=place.version)
    assert (told.heavy, told.runs, told.heavy_runs, told.percent) == (True, 3, 2, 70.0)
    assert seen(place) == (True, True)
    reasons = Event.objects.filter(kind="template.changed").values_list("data__reason", flat=True)
    assert "2 of 3 measured runs were heavy on memory bandwidth" in list(reasons)
    count = Event.objects.count()
    assert bandwidth_learn() == 2 and Event.objects.count() == count, "said once"


def test_what_was_declared_counts_and_ones_own_runs_before_everybodys():
    place = many(cards=1)
    for _ in range(3):
        ran(place, 90)
    other = rows.member(place.project)
    bandwidth_learn()
    LearnedBandwidth.objects.create(
        version=place.version,
        owner=other,
        heavy=False,
        runs=3,
        heavy_runs=0,
        percent=5,
        learned_at=now(),
    )
    assert seen(place) == (True, True)
    assert seen(place, user=other) == (False, False)
    place.version.bandwidth = "light"
    place.version.save(update_fields=["bandwidth"])
    assert seen(place) == (False, False)
    place.version.bandwidth = "heavy"
    place.version.save(update_fields=["bandwidth"])
    assert seen(place, user=other) == (True, True)


def test_what_no_run_of_the_last_weeks_shows_is_forgotten_and_told():
    version = rows.template()
    LearnedBandwidth.objects.create(
        version=version,
        owner=None,
        heavy=True,
        runs=3,
        heavy_runs=3,
        percent=90.0,
        learned_at=now() - timedelta(days=300),
    )
    assert bandwidth_learn() == 0
    assert not LearnedBandwidth.objects.exists()
    told = Event.objects.filter(kind="template.changed").get()
    assert told.data["changed"] == ["bandwidth"]
