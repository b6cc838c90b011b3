"""Submitting work and steering it over REST."""

import pytest

from pool.models import Event, LogChunk, Workload
from tests.portal.callers import text_of


def test_the_smallest_body_queues_a_job_inside_the_allowance(world):
    answer = world.by("member").post("workloads", world.job())
    assert answer.status_code == 201, answer.content
    said = answer.json()
    assert (said["state"], said["project"], said["owner"]) == ("queued", "vision", "vision-member")
    assert Workload.objects.get(uid=said["uid"]).command == ["python", "train.py"]
    event = Event.objects.get(kind="workload.submitted", subject=f"workload:{said['uid']}")
    assert (event.actor_kind, event.request_id) == ("token", answer["X-Request-ID"])


def test_one_workload_shows_its_runs_its_command_and_its_cost(world):
    done = world.own.placement.attempt.workload
    said = world.by("viewer").get(f"workloads/{done.uid}").json()
    assert said["attempts"][0]["exit_code"] == 0
    assert said["command"] == ["true"]
    assert said["cost"]["currency"] == "EUR"


def test_a_member_cancels_what_waits_and_doing_it_again_changes_nothing(world):
    member = world.by("member")
    uid = world.own.workload.uid
    for path in (f"workloads/{uid}/cancel", f"workloads/{uid}/stop"):
        answer = member.post(path)
        assert (answer.status_code, answer.json()["state"]) == (202, "cancelled")
    assert member("DELETE", f"workloads/{uid}").status_code == 202
    assert Event.objects.filter(kind="workload.moved", subject=f"workload:{uid}").count() == 1


def test_work_is_held_back_and_released(world):
    member = world.by("member")
    uid = world.own.workload.uid
    assert member.post(f"workloads/{uid}/hold").json()["state"] == "on_hold"
    assert member.post(f"workloads/{uid}/release").json()["state"] == "queued"
    refused = member.post(f"workloads/{uid}/resume")
    assert (refused.status_code, refused.json()["code"]) == (409, "illegal_move")


@pytest.mark.django_db(transaction=True)
def test_the_log_of_a_workload_is_plain_text_and_begins_where_asked(world):
    run = world.own.placement.attempt
    LogChunk.objects.create(attempt=run, offset=0, size=6, text="hello ")
    LogChunk.objects.create(attempt=run, offset=6, size=5, text="world")
    viewer = world.by("viewer")
    answer = viewer.get(f"workloads/{run.workload.uid}/logs")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert text_of(answer) == "hello world"
    assert text_of(viewer.get(f"workloads/{run.workload.uid}/logs?offset=6")) == "world"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"command": []}, "command"),
        ({"command": "python train.py"}, "command"),
        ({"command": ["x" * 40_000]}, "command"),
        ({"command": ["a\x00b"]}, "command"),
        ({"expected_seconds": -1}, "expected_seconds"),
        ({"expected_seconds": 10**30}, "expected_seconds"),
        ({"expected_seconds": 366 * 86_400}, "expected_seconds"),
        ({"expected_seconds": "soon"}, "expected_seconds"),
        ({"name": "n" * 64}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"env": {"A": ["no text"]}}, "env"),
        ({"env": {"": "x"}}, "env"),
        ({"env": {f"V{n}": "x" for n in range(300)}}, "env"),
        ({"env": []}, "env"),
        ({"files": {"../up": "x"}}, "files"),
        ({"need": {"memory_gb": -4}}, "memory_gb"),
        ({"need": {"memory_gb": 10**40}}, "need"),
        ({"need": {"memory_bg": 20}}, "memory_bg"),
        ({"need": {"labels": ["a\x00"]}}, "need"),
        ({"need": "20 GB"}, "need"),
        ({"priority": "urgent"}, "priority"),
        ({"partitions": ["nowhere"]}, "partitions"),
        ({"partitions": "a100"}, "partitions"),
        ({"template": "nothing"}, "template"),
        ({"project": "nothing"}, "project"),
        ({"project": "speech"}, "project"),
        ({"project": None}, "project"),
        ({"lease": "ls-00000000-0000-7000-8000-000000000000"}, "lease"),
        ({"lease": "1"}, "lease"),
        ({"kind": "notebook"}, "kind"),
        ({"runs": -1}, "runs"),
        ({"runs": 10**9}, "runs"),
        ({"comment": "c" * 4001}, "comment"),
        ({"silence": "explode"}, "silence"),
        ({"comand": ["typo"]}, "comand"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_written(world, given, field):
    before = Workload.objects.count(), Event.objects.count()
    answer = world.by("member").post("workloads", world.job(**given))
    assert answer.status_code == 400, answer.content
    said = answer.json()
    assert said["code"] == "invalid"
    assert field in said["detail"], said
    assert (Workload.objects.count(), Event.objects.count()) == before


def test_a_lease_of_another_tenant_is_as_unknown_as_no_lease(world):
    answer = world.by("member").post("workloads", world.job(lease=world.other.lease.uid))
    assert (answer.status_code, list(answer.json()["detail"])) == (400, ["lease"])


def test_an_ended_template_is_refused_with_its_reason(world):
    template = world.version.template
    template.active, template.inactive_reason = False, "replaced by v2"
    template.save()
    answer = world.by("member").post("workloads", world.job())
    assert answer.status_code == 400
    assert "replaced by v2" in answer.json()["detail"]["template"][0]


def test_hardware_that_does_not_exist_is_impossible(world):
    answer = world.by("member").post("workloads", world.job(need={"memory_gb": 500}))
    assert (answer.status_code, answer.json()["code"]) == (422, "impossible")


def test_the_list_is_filtered_and_leaves_heavy_columns_out(world):
    member = world.by("member")
    rows = member.get("workloads?state=queued&project=vision").json()["results"]
    assert [row["uid"] for row in rows] == [world.own.workload.uid]
    assert "command" not in rows[0]
    assert len(member.get("workloads?group=ended").json()["results"]) == 1
    assert member.get("workloads?state=nonsense").status_code == 400
    assert member.get("workloads?page=2").json()["detail"] == {"page": ["Unknown field."]}


def test_waiting_work_is_explained_with_changes_that_would_start_it(world):
    work = world.own.workload
    Workload.objects.filter(pk=work.pk).update(need={"parts": 9, "whole": True}, lease=None)
    said = world.by("member").post(f"workloads/{work.uid}/explain").json()
    assert (said["uid"], said["state"]) == (work.uid, "queued")
    assert said["waits"]["reason"]
    changes = {one["change"]: (one["amount"], one["unit"]) for one in said["changes"]}
    amount, unit = changes["fewer_cards"]
    assert (unit, 0 < amount < 5) == ("parts", True)


def test_work_that_does_not_wait_has_nothing_to_explain(world):
    done = world.own.placement.attempt.workload
    said = world.by("viewer").post(f"workloads/{done.uid}/explain").json()
    assert (said["waits"], said["changes"]) == (None, [])
