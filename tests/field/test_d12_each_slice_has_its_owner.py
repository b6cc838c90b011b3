"""D12: two jobs on slices of one card: each reads its own load, nobody reads the other's."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.alerting.evaluate import rule_look
from pool.models import Alert, AlertRule
from pool.selectors.telemetry.series import series_of
from pool.services.alerting.rules import rules_there
from tests.pool.services.telemetry.test_rollups import reads
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def loads():
    """J1 of one tenant at 20 %, J2 of the other at 80 %, on two slices of the same card."""
    world = World()
    own, other = (tenant.placement.attempt for tenant in (world.own, world.other))
    card = world.own.hold.card
    at = now()
    for back in range(0, 300, 10):
        moment = at - timedelta(seconds=back)
        words = {"card": card.pk, "util_mean": None}
        reads(moment, piece=101, attempt=own.pk, sm_mean=20, **words)
        reads(moment, piece=102, attempt=other.pk, sm_mean=80, **words)
        reads(moment, card=card.pk, sm_mean=50)
    return world, card, own, other, at


def mean_of(attempt, at):
    series = series_of(
        since=at - timedelta(minutes=6), until=at + timedelta(seconds=1), attempts=[attempt.pk]
    )
    place = series.metrics.index("sm")
    return {mean[place] for _at, mean, _peak in series.points}


def test_each_job_shows_its_own_load(loads):
    _world, _card, own, other, at = loads
    assert mean_of(own, at) == {20}
    assert mean_of(other, at) == {80}


def test_nobody_reads_the_load_of_another_tenant_by_work_and_the_card_names_nobody(loads):
    world, card, own, other, _at = loads
    member = world.by("member")
    rows = member.get(f"samples?workload={own.workload.uid}").json()["results"]
    assert {row["sm_mean"] for row in rows if row["slice"]} == {20}
    assert {row["workload"] for row in rows} == {own.workload.uid}
    assert member.get(f"samples?workload={other.workload.uid}").status_code == 404
    for row in member.get(f"samples?card={card.uid}").json()["results"]:
        assert (row["workload"], row["attempt"], row["slice"]) == (None, None, False)


def test_an_alert_about_one_team_counts_its_own_slices_alone(loads):
    world, _card, _own, _other, at = loads
    rules_there()
    AlertRule.objects.filter(slug="util").update(
        metric="sm", scope="project", aggregate="mean", window_seconds=120, threshold=50
    )
    rule_look(AlertRule.objects.get(slug="util"), at)
    alert = Alert.objects.get(rule__slug="util")
    assert (alert.project, alert.value) == (world.own.project, 20)
    assert not world.by("stranger").get(f"alerts?rule={alert.rule.slug}").json()["results"]
