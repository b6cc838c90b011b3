"""Slices, work and the portal itself for Prometheus: bounded, unknown left out, few queries."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Slice
from pool.services.alerts import alert_raise
from portal.metrics import work
from portal.metrics.portal import Portal
from portal.metrics.work import Work
from tests import rows
from tests.pool.place import settled
from tests.pool.services.telemetry.test_rollups import reads
from tests.portal.metrics.test_metrics import scraped

pytestmark = pytest.mark.django_db


@pytest.fixture
def running():
    """A job that runs on one slice, as an obedient node tells."""
    place = settled()
    job = place.submit()
    place.node.turn()
    place.node.turn()
    job.refresh_from_db()
    assert job.state == "running"
    return job, Slice.objects.get(lived__upper_inf=True), job.attempts.get()


def test_a_slice_and_its_work_are_told_with_their_newest_reading(client, running):
    job, cut, run = running
    for ago, sm in ((20, 10), (0, 40)):
        at = now() - timedelta(seconds=ago)
        reads(at, card=cut.card_id, piece=cut.pk, attempt=run.pk, sm_mean=sm, memory_mib_mean=100)
    told = scraped(client)
    slices = {k: v for k, v in told.items() if k[0] == "gpupool_slice_sm_active_ratio"}
    assert list(slices.values()) == [0.4]
    assert cut.uid in next(iter(slices))
    named = sorted([job.project.organization.slug, job.project.slug, job.uid, job.kind])
    assert told["gpupool_workload_sm_active_ratio", *named] == 0.4
    assert told["gpupool_workload_memory_used_bytes", *named] == 100 * 2**20
    assert told["gpupool_workload_memory_held_bytes", *named] == cut.memory_mib * 2**20


def test_unknown_is_left_out_and_old_is_unknown(client, running):
    _job, cut, run = running
    reads(now(), card=cut.card_id, piece=cut.pk, attempt=run.pk, memory_mib_mean=100)
    names = {key[0] for key in scraped(client)}
    assert "gpupool_slice_memory_used_bytes" in names
    assert "gpupool_slice_sm_active_ratio" not in names
    assert "gpupool_workload_sm_active_ratio" not in names


def test_however_large_the_pool_the_answer_is_bounded(client, running, monkeypatch):
    _job, cut, run = running
    reads(now(), card=cut.card_id, piece=cut.pk, attempt=run.pk, sm_mean=1)
    monkeypatch.setattr(work, "MOST_SLICES", 0)
    monkeypatch.setattr(work, "MOST_WORK", 0)
    names = {key[0] for key in scraped(client)}
    assert not {one for one in names if one.startswith(("gpupool_slice_", "gpupool_workload_"))}


def test_the_portal_tells_of_alerts_words_logins_and_how_fresh_all_is(client, running):
    _job, cut, _run = running
    alert_raise(key="k", subject="card:x", title="lost", actor=SYSTEM, severity="critical")
    client.force_login(rows.user(), backend="django.contrib.auth.backends.ModelBackend")
    reads(now() - timedelta(seconds=30), card=cut.card_id, util_mean=5)
    told = scraped(client)
    assert told["gpupool_alerts", "critical", "firing", "hardware"] == 1
    assert told["gpupool_deliveries", "alerts", "waiting"] == 0
    assert told["gpupool_deliveries", "alerts", "dead"] == 0
    assert told["gpupool_sessions",] == 1
    assert told["gpupool_events_total",] > 0
    assert 30 <= told["gpupool_readings_age_seconds",] < 300


def test_a_larger_pool_costs_no_more_queries(django_assert_num_queries, running):
    with django_assert_num_queries(2):
        list(Work().collect())
    with django_assert_num_queries(7):
        list(Portal().collect())
