"""Found work in the hands of a platform admin, over REST and on its page."""

import pytest

ORIGIN = {
    "kind": "job",
    "number": 1,
    "project": "p1",
    "account": "uid:70001",
    "command": ["sleep", "600"],
    "cpu_milli": 1000,
    "memory_mib": 1024,
}


@pytest.fixture
def found(world):
    """Work without a card, started before the books were restored."""
    world.found.origin = ORIGIN
    world.found.save()
    return world.found


def home(world):
    return {
        "project": world.own.project.slug,
        "user": world.own.owner.username,
        "template": world.version.template.slug,
        "name": "kept",
    }


def test_it_is_listed_with_what_it_once_was_and_adopted_as_a_workload(world, found):
    (row,) = world.admin.get("found-work?state=running").json()["results"]
    assert (row["node"], row["origin"]["command"]) == ("node-a", ["sleep", "600"])
    told = world.admin.post(f"found-work/{found.uid}/adopt", home(world))
    assert told.status_code == 200, told.content
    assert told.json()["state"] == "adopted"
    work = world.admin.get(f"workloads/{told.json()['workload']}").json()
    assert (work["name"], work["state"]) == ("kept", "placed")
    again = world.admin.post(f"found-work/{found.uid}/stop", {"reason": "late"})
    assert again.status_code == 409


def test_it_is_ended_as_often_as_one_likes(world, found):
    for _ in range(2):
        told = world.admin.post(f"found-work/{found.uid}/stop", {"reason": "nobody knows it"})
        assert (told.status_code, told.json()["state"]) == (202, "stopping")


def test_a_home_that_is_none_is_refused_field_by_field(world, found):
    told = world.admin.post(f"found-work/{found.uid}/adopt", home(world) | {"project": "none"})
    assert (told.status_code, list(told.json()["detail"])) == (400, ["project"])
    world.found.origin = None
    world.found.save()
    told = world.admin.post(f"found-work/{found.uid}/adopt", home(world))
    assert told.status_code == 422 or told.status_code == 400


def test_the_page_shows_it_refuses_an_empty_form_and_adopts(world, found, client):
    client.force_login(world.admin.user)
    page = client.get("/found/")
    assert page.status_code == 200
    assert found.attempt in page.content.decode()
    assert client.post(f"/found/{found.uid}/adopt/", {}).status_code == 422
    gone = client.post(f"/found/{found.uid}/adopt/", home(world))
    assert (gone.status_code, gone["Location"].startswith("/workloads/wl-")) == (303, True)
    assert "kept" in client.get("/found/").content.decode()
    client.force_login(world.own.owner)
    assert client.get("/found/").status_code == 403
