"""Figures of a run: read from curves, log and books; unknown ones are None, never 0."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.models import Attempt, Card, LogChunk
from pool.rules.alerting.diagnosis import diagnose
from pool.selectors.alerting.figures import figures_of_card, figures_of_work
from tests import rows
from tests.pool.services.telemetry.test_rollups import reads

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def run():
    rows.partition()
    node = rows.node(cards=1)
    work = rows.workload()
    return Attempt.objects.create(
        workload=work,
        number=1,
        node=node,
        state="ended",
        started_at=now() - timedelta(minutes=10),
        ended_at=now(),
        clean_at=now(),
        exit_reason="oom_card",
        peak_memory_mib=20_000,
    )


def keys(run):
    looked = figures_of_work(workload=run.workload)
    return {one.hint.key for one in diagnose(looked.figures)}, looked


def test_before_its_first_start_there_is_nothing_to_look_at():
    assert figures_of_work(workload=rows.workload()) is None


def test_a_full_memory_is_told_with_its_peak(run):
    found, looked = keys(run)
    assert "oom" in found
    assert looked.figures["peak_mib"] == 20_000
    assert looked.figures["util"] is None, "not measured is not 0"


def test_a_log_that_says_cuda_is_missing_is_heard(run):
    text = "torch.cuda.is_available() -> False\n"
    LogChunk.objects.create(attempt=run, offset=0, size=len(text), text=text)
    found, looked = keys(run)
    assert "cuda" in found
    assert looked.lines == [text.strip()]


def test_curves_of_the_run_make_its_figures(run):
    card = Card.objects.get(node=run.node)
    at = run.ended_at - timedelta(seconds=1)
    for back in range(0, 500, 10):
        moment = at - timedelta(seconds=back)
        reads(moment, card=card.pk, piece=1, attempt=run.pk, util_mean=99, sm_mean=90)
    found, looked = keys(run)
    assert looked.figures["util"] == 99
    assert looked.figures["swings"] == 0
    assert "starved" not in found


def test_a_hot_and_slow_card_is_seen_from_the_card_itself(run):
    card = Card.objects.get(node=run.node)
    reads(now() - timedelta(seconds=20), card=card.pk, temperature_c_max=91, throttle=8)
    looked = figures_of_card(card=card)
    assert {one.hint.key for one in diagnose(looked.figures)} >= {"heat", "throttle"}
    assert looked.figures["throttle"] == 100
