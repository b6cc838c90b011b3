"""Arrays, work after other work, holds, retries and clones over REST."""

import pytest

from pool.cycle.turns import settle
from pool.events import Actor
from pool.models import Workload
from pool.services.workloads import workload_stop
from tests import rows
from tests.portal.callers import caller


def job(world, role="member", **given):
    return world.by(role).post("workloads", world.job(**given))


def made(world, **given):
    answer = job(world, **given)
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_an_array_is_submitted_by_count_or_by_indices(world):
    said = made(world, array={"count": 4, "throttle": 2})
    assert said["state"] == "active"
    assert said["array"] == {
        "size": 4,
        "indices": "0-3",
        "throttle": 2,
        "waiting": 4,
        "running": 0,
        "done": 0,
        "failed": 0,
        "gone": 0,
    }
    assert made(world, array={"indices": "1,5-7"})["array"]["size"] == 4
    assert made(world, array={"indices": [3, 1, 2]})["array"]["indices"] == "1-3"


@pytest.mark.parametrize(
    "array",
    [
        {},
        {"count": 2, "indices": "0-1"},
        {"count": 0},
        {"count": 10_001},
        {"indices": "a"},
        {"indices": [-1]},
        {"indices": {"a": 1}},
        {"count": 2, "throttle": 0},
        {"count": 2, "odd": 1},
        "0-3",
    ],
)
def test_a_wrong_array_is_refused_by_name(world, array):
    answer = job(world, array=array)
    assert answer.status_code == 400, answer.content
    assert "array" in answer.json()["detail"]


def test_a_list_shows_arrays_and_their_pieces_where_asked(world):
    uid = made(world, array={"count": 3})["uid"]
    member = world.by("member")
    tops = member.get("workloads").json()["results"]
    assert [one["array"]["size"] for one in tops if one["array"]] == [3]
    assert not any(one["piece_of"] for one in tops)
    pieces = member.get(f"workloads?piece_of={uid}").json()["results"]
    assert sorted(one["array_index"] for one in pieces) == [0, 1, 2]
    assert {one["piece_of"] for one in pieces} == {uid}
    flat = member.get("workloads?pieces=true&state=queued").json()["results"]
    assert uid not in {one["uid"] for one in flat}
    assert len([one for one in flat if one["piece_of"] == uid]) == 3
    whole = member.get(f"workloads/{pieces[0]['uid']}").json()
    assert whole["command"] == ["python", "train.py"]


def test_the_whole_array_is_held_released_throttled_and_cancelled(world):
    member = world.by("member")
    uid = made(world, array={"count": 3})["uid"]
    held = member.post(f"workloads/{uid}/hold", {"reason": "wait for the data"}).json()
    assert (held["state"], held["hold_reason"]) == ("on_hold", "wait for the data")
    assert held["hold_by"]
    assert member.post(f"workloads/{uid}/release").json()["state"] == "active"
    changed = member("PATCH", f"workloads/{uid}", {"throttle": 2}).json()
    assert changed["array"]["throttle"] == 2
    over = member("DELETE", f"workloads/{uid}").json()
    assert (over["state"], over["array"]["gone"]) == ("cancelled", 3)
    again = member.post(f"workloads/{uid}/retry")
    assert (again.status_code, again.json()["code"]) == (409, "illegal_move")


def test_what_a_lead_holds_its_owner_does_not_release(world):
    uid = world.own.workload.uid
    assert world.by("lead").post(f"workloads/{uid}/hold").json()["state"] == "on_hold"
    assert world.by("member").post(f"workloads/{uid}/release").status_code == 403
    assert world.by("lead").post(f"workloads/{uid}/release").json()["state"] == "queued"


def test_work_says_what_it_runs_after(world):
    first = made(world)["uid"]
    array = made(world, array={"count": 10})["uid"]
    after = [{"workload": first}, {"workload": array, "on": "share", "share": 0.8}]
    second = made(world, after=after)["uid"]
    said = world.by("member").get(f"workloads/{second}").json()["after"]
    assert [(one["workload"], one["on"], one["share"]) for one in said] == [
        (first, "success", None),
        (array, "share", 0.8),
    ]
    changed = world.by("member")("PATCH", f"workloads/{second}", {"after": []})
    assert changed.status_code == 200
    assert world.by("member").get(f"workloads/{second}").json()["after"] == []


def test_a_circle_is_refused_and_another_tenants_work_is_not_there(world):
    member = world.by("member")
    first = made(world)["uid"]
    second = made(world, after=[{"workload": first}])["uid"]
    circle = member("PATCH", f"workloads/{first}", {"after": [{"workload": second}]})
    assert (circle.status_code, list(circle.json()["detail"])) == (400, ["after"])
    for unknown in (world.other.workload.uid, "wl-00000000-0000-7000-8000-000000000000"):
        answer = job(world, after=[{"workload": unknown}])
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        edit = member("PATCH", f"workloads/{first}", {"after": [{"workload": unknown}]})
        assert edit.status_code == 404


def test_failed_work_is_tried_again_in_place(world):
    row = world.own.workload
    Workload.objects.filter(pk=row.pk).update(state="failed", exit_code=1)
    said = world.by("member").post(f"workloads/{row.uid}/retry").json()
    assert (said["state"], said["exit_code"]) == ("queued", None)


def test_a_clone_is_the_same_with_what_is_different_and_belongs_to_who_asks(world):
    old = made(world, array={"count": 3, "throttle": 1}, env={"A": "1"}, name="sweep")["uid"]
    lead = world.by("lead")
    said = lead.post(f"workloads/{old}/clone", {"command": ["true"], "array": None})
    assert said.status_code == 201, said.content
    one = lead.get(f"workloads/{said.json()['uid']}").json()
    assert (one["name"], one["owner"], one["array"]) == ("sweep", "vision-lead", None)
    assert (one["command"], one["env"]) == (["true"], {"A": "1"})
    same = lead.post(f"workloads/{old}/clone").json()
    assert (same["array"]["size"], same["array"]["throttle"]) == (3, 1)
    piece = lead.get(f"workloads?piece_of={old}").json()["results"][0]["uid"]
    alone = lead.post(f"workloads/{piece}/clone").json()
    assert (alone["array"], alone["piece_of"]) == (None, None)


def test_too_many_pieces_are_refused_with_the_limit(world):
    answer = job(world, array={"count": 2000})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many")
    assert "1000" in answer.json()["message"]


def test_what_waited_in_vain_says_so(world):
    first = made(world)["uid"]
    second = made(world, after=[{"workload": first}])["uid"]
    workload_stop(workload=Workload.objects.get(uid=first), actor=actor(world))
    settle()
    said = world.by("member").get(f"workloads/{second}").json()
    assert (said["state"], said["after"][0]["broken_at"] is not None) == ("dependency_failed", True)


def actor(world):
    return Actor.of(world.own.owner)


def test_a_schedule_is_made_changed_paused_run_and_ended(world):
    member = world.by("member")
    body = {**world.job(), "cron": "30 2 * * 1-5", "overlap": "queue", "name": "nightly"}
    answer = member.post("schedules", body)
    assert answer.status_code == 201, answer.content
    said = answer.json()
    assert (said["state"], said["zone"], len(said["next_times"])) == ("active", "UTC", 5)
    assert said["next_times"][0].endswith("02:30:00Z")
    path = f"schedules/{said['uid']}"
    assert member("PATCH", path, {"cron": "0 4 * * *"}).json()["cron"] == "0 4 * * *"
    paused = member.post(f"{path}/pause", {"reason": "moving"}).json()
    assert (paused["state"], paused["next_at"], paused["state_reason"]) == (
        "paused",
        None,
        "moving",
    )
    assert member.post(f"{path}/resume").json()["state"] == "active"
    run = member.post(f"{path}/run").json()
    assert (run["outcome"], run["state"]) == ("started", "queued")
    history = member.get(f"{path}/history").json()["results"]
    assert [one["workload"] for one in history] == [run["workload"]]
    assert member("DELETE", path).status_code == 204
    assert member.get(path).status_code == 404


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"cron": "nonsense"}, "cron"),
        ({"cron": "0 0 30 2 *"}, "cron"),
        ({"overlap": "both"}, "overlap"),
        ({"array": {}}, "array"),
        ({"odd": 1}, "odd"),
        ({"lease_seconds": 1}, "lease_seconds"),
    ],
)
def test_a_wrong_schedule_is_refused_by_name(world, given, field):
    answer = world.by("member").post("schedules", {**world.job(), "cron": "0 2 * * *", **given})
    assert answer.status_code == 400, answer.content
    assert list(answer.json()["detail"]) == [field]


def test_a_schedule_of_another_member_is_steered_by_the_lead(world):
    path = f"schedules/{world.own.schedule.uid}"
    colleague = caller(rows.member(world.own.project))
    assert colleague.get(path).status_code == 200
    assert colleague.post(f"{path}/pause").status_code == 403
    assert world.by("lead").post(f"{path}/pause").json()["state"] == "paused"
    assert world.by("stranger").post(f"{path}/pause").status_code == 404


def test_who_leads_changes_when_a_members_schedule_runs_and_never_what(world):
    path = f"schedules/{world.own.schedule.uid}"
    before = world.by("member").get(path).json()
    for role in ("lead", "org_admin", "platform_admin"):
        patch = world.by(role)
        assert patch("PATCH", path, {"command": ["sh", "-c", "id"]}).status_code == 403, role
        assert patch("PATCH", path, {"files": {"a": "b"}}).status_code == 403, role
        assert patch("PATCH", path, {"cron": "5 5 * * *"}).json()["cron"] == "5 5 * * *", role
    after = world.by("member").get(path).json()
    assert (after["command"], after["files"]) == (before["command"], before["files"])
    own = world.by("member")("PATCH", path, {"command": ["sh", "-c", "id"]})
    assert own.json()["command"] == ["sh", "-c", "id"]


def test_an_organizations_admin_says_how_many_live_workloads_a_member_may_have(world):
    path = f"projects/{world.own.project.uid}"
    said = world.by("org_admin")("PATCH", path, {"most_live": 2000}).json()
    assert said["most_live"] == 2000
    assert job(world, array={"count": 1500}).status_code == 201
    for wrong in (0, 50_001, "many"):
        assert world.by("org_admin")("PATCH", path, {"most_live": wrong}).status_code == 400


def test_what_the_runs_of_a_schedule_use_is_told_by_name_and_changed_by_name(world):
    member = world.by("member")
    secret = member.post("secrets", {"name": "hub-token", "value": "s3cret"}).json()
    use = {"secret": secret["uid"], "name": "HUB_TOKEN"}
    body = {**world.job(), "cron": "0 2 * * *", "secrets": [use]}
    said = member.post("schedules", body)
    assert said.status_code == 201, said.content
    path = f"schedules/{said.json()['uid']}"
    full = [{**use, "form": "env"}]
    assert said.json()["secrets"] == full
    assert member("PATCH", path, {"comment": "kept"}).json()["secrets"] == full
    run = member.post(f"{path}/run", {})
    assert run.status_code == 201, run.content
    work = member.get(f"workloads/{run.json()['workload']}").json()
    assert [one["name"] for one in work["secrets"]] == ["HUB_TOKEN"]
    assert member("PATCH", path, {"secrets": []}).json()["secrets"] == []
    gone = "sc-01a00000-0000-7000-8000-000000000000"
    wrong = member("PATCH", path, {"secrets": [{**use, "secret": gone}]})
    assert wrong.status_code == 400 and "secrets" in wrong.json()["detail"], wrong.content
    assert "s3cret" not in str(member.get(path).json())
