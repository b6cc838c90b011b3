"""D12: two jobs on slices of one card: each reads its own load, nobody reads the other's."""

import json
from datetime import timedelta

import msgspec
import pytest

from nodeagent.protocol.samples import Reading, SampleBatch
from pool.clock import now
from pool.cycle.alerting.evaluate import rule_look
from pool.models import Alert, AlertRule, Sample
from pool.selectors.telemetry.series import series_of
from pool.services.alerting.rules import rules_there
from pool.services.samples import samples_take
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_measured import load, mig_slice
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


def test_from_the_library_to_the_chart_the_key_is_card_instance_and_compute_instance(
    machine, tmp_path
):
    """No tree knows the processes, as in a container; counters and memory go to their own slice."""
    world = World()
    own, other = (tenant.placement.attempt for tenant in (world.own, world.other))
    slices = {"a": world.own.hold.slice, "b": world.other.hold.slice}
    library = machine("H100-80GB")
    cut = [("a", "1g.10gb", 0, 1, 9984), ("b", "3g.40gb", 4, 4, 40448)]
    loads_ = [load(uid) | {"attempt": run.uid} for uid, run in (("a", own), ("b", other))]
    script = ["fail nvmlDeviceGetHandleByUUID 3", "set gpm.2.1 0 20", "set gpm.2.2 0 80"]
    script += ["proc 0 1 0 4194301 900", "proc 0 2 0 4194302 7000", "proc 0 2 1 4194303 5"]
    acts = [["set_mode", "GPU-0", "mig"], *(["create_slice", mig_slice(*one)] for one in cut)]
    acts += [["slices"], ["script", *script], ["sample", []], ["sample", loads_]]
    told = library.run(ACTS, json.dumps([str(tmp_path), acts, True]))[-1]
    at = now()
    readings = [
        msgspec.structs.replace(
            msgspec.convert(one, Reading),
            at=at.timestamp() - 10,
            card=world.own.hold.card.uuid,
            slice=slices[one["slice"]].uid if one["slice"] else None,
        )
        for one in told
    ]
    batch = SampleBatch(boot_id="b1", sequence=1, sent_at=at.timestamp(), readings=tuple(readings))
    assert samples_take(node=world.node, batch=batch) == 3
    rows = {row.attempt_id: row for row in Sample.objects.exclude(slice_id=None)}
    used = {pk: (row.sm_mean, row.memory_mib_mean) for pk, row in rows.items()}
    assert used == {own.pk: (20, 900), other.pk: (80, 7000)}
    member = world.by("member")
    (mine,) = member.get(f"samples?workload={own.workload.uid}").json()["results"]
    assert (mine["sm_mean"], mine["memory_mib_mean"]) == (20, 900)
    assert member.get(f"samples?workload={other.workload.uid}").status_code == 404
