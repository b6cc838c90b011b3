"""Work in a container of an image: asked for, refused where nobody runs any, and copied whole."""

import json
import re
import shlex

import pytest

from pool.cycle.demand import claim
from pool.models import Node, Schedule, Workload
from portal.pages.series.again import as_rest, rest_words

IMAGE = "registry.example.com/team/train:2"


@pytest.fixture
def engine(world):
    """The world's node says that it runs containers."""
    Node.objects.filter(pk=world.node.pk).update(host={"runners": ["process", "container"]})
    return world


def test_work_in_an_image_wants_a_node_that_runs_containers(engine):
    said = engine.by("member").post("workloads", engine.job(image=IMAGE))
    assert said.status_code == 201, said.content
    row = Workload.objects.get(uid=said.json()["uid"])
    assert (row.runner, row.image, claim(row, learned_heavy=False).runner) == (
        "container",
        IMAGE,
        "container",
    )
    shown = engine.by("viewer").get(f"workloads/{row.uid}").json()
    assert (shown["runner"], shown["image"]) == ("container", IMAGE)


def test_without_an_image_it_is_a_process(engine):
    said = engine.by("member").post("workloads", engine.job())
    row = Workload.objects.get(uid=said.json()["uid"])
    assert (row.runner, row.image) == ("process", "")


def test_an_image_is_refused_at_once_where_no_node_could_run_it(world):
    answer = world.by("member").post("workloads", world.job(image=IMAGE))
    assert answer.status_code == 400, answer.content
    assert "containers" in answer.json()["detail"]["image"][0]
    Node.objects.filter(pk=world.node.pk).update(
        host={"runners": ["process", "container"]}, state="retired"
    )
    answer = world.by("member").post("workloads", world.job(image=IMAGE))
    assert "image" in answer.json()["detail"]


@pytest.mark.parametrize("odd", ["--privileged", "UPPER", "a b", "x" * 256, "/etc", "a\nb"])
def test_what_is_no_image_is_refused(engine, odd):
    answer = engine.by("member").post("workloads", engine.job(image=odd))
    assert answer.status_code == 400, answer.content
    assert "image" in answer.json()["detail"]


def test_pieces_of_an_array_run_in_its_image(engine):
    said = engine.by("member").post("workloads", engine.job(image=IMAGE, array={"count": 3}))
    pieces = Workload.objects.filter(parent__uid=said.json()["uid"])
    assert {(one.runner, one.image) for one in pieces} == {("container", IMAGE)}


def test_a_clone_gets_image_and_as_many_retries_as_the_old_was_given(engine):
    member = engine.by("member")
    said = member.post("workloads", engine.job(image=IMAGE, runs=2)).json()
    Workload.objects.filter(uid=said["uid"]).update(runs_left=0)
    copy = member.post(f"workloads/{said['uid']}/clone", {}).json()
    row = Workload.objects.get(uid=copy["uid"])
    assert (row.image, row.runner, row.runs_asked, row.runs_left) == (IMAGE, "container", 2, 2)
    plain = member.post(f"workloads/{said['uid']}/clone", {"image": "", "runs": 0}).json()
    row = Workload.objects.get(uid=plain["uid"])
    assert (row.image, row.runner, row.runs_left) == ("", "process", 0)


def test_the_copied_call_makes_the_same_work(engine):
    member = engine.by("member")
    body = engine.job(
        image=IMAGE,
        env={"A": "b c"},
        files={"job.py": "print('x')"},
        runs=2,
        silence="requeue",
        comment="it's ours",
        array={"indices": "0-3", "throttle": 2},
    )
    row = Workload.objects.get(uid=member.post("workloads", body).json()["uid"])
    words = shlex.split(re.sub(r'"\$TOKEN"', "", as_rest(row)))
    sent = json.loads(words[words.index("-d") + 1])
    assert sent == rest_words(row)
    again = Workload.objects.get(uid=member.post("workloads", sent).json()["uid"])
    for name in ("image", "runner", "env", "files", "runs_asked", "silence", "comment", "need"):
        assert getattr(again, name) == getattr(row, name), name
    assert (again.array_spec, again.array_throttle) == (row.array_spec, row.array_throttle)


def test_a_schedule_gives_each_run_its_image_and_what_a_ranks_death_means(engine):
    member = engine.by("member")
    body = engine.job(image=IMAGE, on_rank_death="restart", rendezvous_seconds=90)
    answer = member.post("schedules", {**body, "cron": "0 2 * * *"})
    assert answer.status_code == 201, answer.content
    said = answer.json()
    kept = {name: said[name] for name in ("image", "on_rank_death", "rendezvous_seconds")}
    assert kept == {"image": IMAGE, "on_rank_death": "restart", "rendezvous_seconds": 90}
    ran = member.post(f"schedules/{said['uid']}/run", {}).json()
    row = Workload.objects.get(uid=ran["workload"])
    assert (row.image, row.on_rank_death, row.rendezvous_seconds) == (IMAGE, "restart", 90)
    changed = {"image": "", "on_rank_death": "fail", "rendezvous_seconds": 30}
    assert member("PATCH", f"schedules/{said['uid']}", changed).status_code == 200
    kept = Schedule.objects.get(uid=said["uid"])
    assert (kept.image, kept.on_rank_death, kept.rendezvous_seconds) == ("", "fail", 30)


def test_a_schedule_with_an_impossible_image_is_refused(world):
    body = {**world.job(image=IMAGE), "cron": "0 2 * * *"}
    answer = world.by("member").post("schedules", body)
    assert answer.status_code == 400, answer.content
    assert "image" in answer.json()["detail"]
