"""`/metrics`: what the books say, to the machine itself or with the token, to nobody else."""

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pool.clock import now
from pool.models import Round, Workload
from pool.services.queueing.rounds import round_kept
from tests import rows

pytestmark = pytest.mark.django_db


def scraped(client, **given):
    answer = client.get("/metrics", **given)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def kept(**said):
    line = {"taken_us": 1_000, "planned_us": 18_000, "committed_us": 2_000, "cards": 8}
    round_kept(made=Round(**{"at": now(), "waiting": 3} | line | said))


def test_an_empty_pool_has_noughts_and_no_last_round(client):
    told = scraped(client)
    assert told["gpupool_round_duration_seconds_count",] == 0
    assert told["gpupool_queue_length",] == told["gpupool_queue_oldest_seconds",] == 0
    assert ("gpupool_round_last_seconds",) not in told


def test_rounds_are_counted_with_their_steps_and_their_classes_of_duration(client):
    kept(placed=2, stale=1)
    kept(planned_us=700_000, preempted=1)
    told = scraped(client)
    assert told["gpupool_round_placed_total",] == 2
    assert told["gpupool_round_stale_total",] == told["gpupool_round_preempted_total",] == 1
    assert told["gpupool_round_duration_seconds_count",] == 2
    assert told["gpupool_round_duration_seconds_bucket", "0.025"] == 1
    assert told["gpupool_round_duration_seconds_bucket", "0.5"] == 1
    assert told["gpupool_round_duration_seconds_bucket", "1.0"] == 2
    assert told["gpupool_round_step_seconds_total", "plan"] == pytest.approx(0.718)
    assert told["gpupool_round_last_seconds",] == pytest.approx(0.703)
    assert (told["gpupool_round_cards",], told["gpupool_round_waiting",]) == (8, 3)


def test_the_queue_is_told_by_reason_with_its_longest_wait(client):
    for reason in ("quota", "quota", None):
        row = rows.workload()
        waits = None if reason is None else {"reason": reason}
        since = now() - timedelta(seconds=600)
        Workload.objects.filter(pk=row.pk).update(waits=waits, queued_at=since)
    told = scraped(client)
    assert told["gpupool_queue_waiting", "quota"] == 2
    assert told["gpupool_queue_waiting", "new"] == 1
    assert told["gpupool_queue_length",] == 3
    assert 600 <= told["gpupool_queue_oldest_seconds",] < 700


def test_only_the_machine_itself_or_the_token_reads_them(client, settings):
    settings.HEALTH_TOKEN = "watch-me"
    strangers = (
        {"REMOTE_ADDR": "192.0.2.7"},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"REMOTE_ADDR": "192.0.2.7", "headers": {"Authorization": "Bearer wrong"}},
    )
    for given in strangers:
        assert client.get("/metrics", **given).status_code == 404
    assert scraped(client, REMOTE_ADDR="192.0.2.7", headers={"Authorization": "Bearer watch-me"})
    assert client.post("/metrics").status_code == 405
