"""Storage, secrets and environments over REST: what work may be given, and what it is refused."""

import json

import pytest
from django.db import connection

from nodeagent.protocol.places import Place
from pool.models import Attempt, Environment, Event, Node, Secret, Storage, Workload
from pool.selectors.catalogue.desired import given_on, watched
from pool.services.catalogue.watched import places_take
from tests import rows

HUSH = "correct-horse-battery-staple"
DIGEST = "sha256:" + "b" * 64
IMAGE = {"reference": "registry.example.com/team/torch:2.4", "digest": DIGEST}


def fields_of(answer):
    assert answer.status_code == 400, answer.content
    return answer.json()["detail"]


def seen(world, *paths):
    """The node tells that it has these folders, and that it has no other."""
    told = tuple(Place(path=path) for path in paths)
    places_take(node=world.node, places=(*told, Place(path="/srv/speech", why="no such folder")))
    world.node.refresh_from_db()


def started(workload):
    """An attempt of the workload that its node has not begun yet."""
    Workload.objects.filter(pk=workload.pk).update(state="placed", deadline="2099-01-01T00:00Z")
    node = Node.objects.get(name="node-a")
    return Attempt.objects.select_related("workload").get_or_create(
        workload_id=workload.pk, number=1, node=node
    )[0]


def tables():
    """The text of every row of every table, as a thief of the database would read it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = [name for (name,) in cursor.fetchall()]
        found = []
        for name in names:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{name}" t')
            found += [text for (text,) in cursor.fetchall()]
    return "\n".join(found)


def test_a_folder_is_allowed_by_the_platform_and_shows_which_nodes_have_it(world):
    body = {
        "name": "ImageNet",
        "kind": "dataset",
        "backing": "nfs",
        "origin": "nas:/imagenet",
        "path": "/srv/imagenet",
    }
    answer = world.admin.post("storage", body)
    assert answer.status_code == 201, answer.content
    assert watched()[-1].path == "/srv/imagenet" and watched()[-1].types == ("nfs",)
    seen(world, "/srv/imagenet")
    said = world.by("viewer").get(f"storage/{answer.json()['uid']}").json()
    assert (said["nodes"], said["absent"], said["live"]) == (["node-a"], [], 0)
    told = world.by("viewer").get(f"storage/{world.own.storage.uid}").json()
    assert told["absent"] == [{"node": "node-a", "why": ""}]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"path": "/etc/shadow"}, "path"),
        ({"path": "/"}, "path"),
        ({"path": "/srv/../etc"}, "path"),
        ({"path": "srv"}, "path"),
        ({"path": "/{user}"}, "path"),
        ({"path": "/srv/{team}"}, "path"),
        ({"backing": "s3"}, "source"),
        ({"kind": "tape"}, "kind"),
        ({"project": "vision", "organization": "vision-org"}, "project"),
    ],
)
def test_a_folder_that_may_not_be_given_is_refused_by_field(world, given, field):
    body = {"name": "new", "kind": "dataset", "path": "/srv/new"}
    assert field in fields_of(world.admin.post("storage", body | given))


@pytest.mark.handmade_books
def test_work_gets_storage_at_a_place_and_the_planner_is_told_where_it_is(world):
    seen(world, "/srv/vision", "/srv/home")
    home = rows.storage(name="home", kind="home", path="/srv/home/{user}", mode="rw", create=True)
    asked = [
        {"storage": world.own.storage.uid, "at": "data/in"},
        {"storage": home.uid, "at": "home"},
    ]
    answer = world.by("member").post("workloads", world.job(storage=asked))
    assert answer.status_code == 201, answer.content
    said = world.by("member").get(f"workloads/{answer.json()['uid']}").json()
    assert [(one["at"], one["path"], one["mode"]) for one in said["storage"]] == [
        ("data/in", "/srv/vision", "ro"),
        ("home", "/srv/home/vision-member", "rw"),
    ]
    assert said["need"]["storage"] == ["/srv/vision", "/srv/home"]
    run = started(Workload.objects.get(uid=said["uid"]))
    first, second = given_on(attempts=[run])[run.pk].mounts
    assert (first.root, first.tail, first.at, first.read_only) == (
        "/srv/vision",
        "",
        "data/in",
        True,
    )
    assert (second.tail, second.create, second.shared) == ("vision-member", True, False)


def test_storage_that_is_not_ones_own_or_on_no_node_is_refused_with_the_reason(world):
    job = world.by("member")
    other = {"storage": world.other.storage.uid, "at": "x"}
    assert "No such storage" in str(fields_of(job.post("workloads", world.job(storage=[other]))))
    own = {"storage": world.own.storage.uid, "at": "x"}
    assert "No node has" in str(fields_of(job.post("workloads", world.job(storage=[own]))))
    seen(world, "/srv/vision")
    writes = own | {"mode": "rw"}
    assert "only be read" in str(fields_of(job.post("workloads", world.job(storage=[writes]))))
    for at in ("/abs", "../up", "a/../b", "", "a b"):
        body = world.job(storage=[own | {"at": at}])
        assert "storage" in fields_of(job.post("workloads", body)), at
    twice = world.job(storage=[own, own | {"at": "x/y"}])
    assert "twice" in str(fields_of(job.post("workloads", twice)))
    file = world.job(storage=[own], files={"x/run.py": "1"})
    assert "files" in str(fields_of(job.post("workloads", file)))


def test_storage_in_use_stays_and_afterwards_is_only_closed(world):
    seen(world, "/srv/vision")
    asked = [{"storage": world.own.storage.uid, "at": "x"}]
    made = world.by("member").post("workloads", world.job(storage=asked)).json()
    gone = world.admin("DELETE", f"storage/{world.own.storage.uid}")
    assert (gone.status_code, gone.json()["code"]) == (409, "in_use")
    world.by("member").post(f"workloads/{made['uid']}/cancel")
    assert world.admin("DELETE", f"storage/{world.own.storage.uid}").status_code == 204
    assert Storage.objects.get(pk=world.own.storage.pk).active is False
    assert world.admin("DELETE", f"storage/{world.other.storage.uid}").status_code == 204
    assert not Storage.objects.filter(pk=world.other.storage.pk).exists()


@pytest.mark.handmade_books
def test_a_secret_goes_in_and_never_comes_out_but_to_the_node_that_starts_the_work(world):
    member = world.by("member")
    made = member.post("secrets", {"name": "HF_TOKEN", "value": HUSH})
    assert made.status_code == 201, made.content
    uid = made.json()["uid"]
    told = [
        {"secret": uid, "name": "HF_TOKEN"},
        {"secret": uid, "name": "token.txt", "form": "file"},
    ]
    job = member.post("workloads", world.job(secrets=told))
    assert job.status_code == 201, job.content
    answers = [
        made,
        member.get("secrets"),
        member.get(f"secrets/{uid}"),
        member.get(f"secrets/{uid}/used-by"),
        member.get(f"workloads/{job.json()['uid']}"),
    ]
    assert all(HUSH.encode() not in answer.content for answer in answers)
    assert [one["name"] for one in answers[3].json()["results"]] == [job.json()["name"]]
    assert HUSH not in tables()
    run = started(Workload.objects.get(uid=job.json()["uid"]))
    given = given_on(attempts=[run])[run.pk]
    assert given.env == {"HF_TOKEN": HUSH} and given.files == {"token.txt": HUSH}
    Workload.objects.filter(pk=run.workload_id).update(state="running")
    run.workload.refresh_from_db()
    later = given_on(attempts=[run])[run.pk]
    assert later.env == later.files == {}


@pytest.mark.handmade_books
def test_a_secret_is_rotated_for_what_starts_next_and_a_removed_one_is_missing(world):
    member = world.by("member")
    uid = member.post("secrets", {"name": "A", "value": "old"}).json()["uid"]
    told = [{"secret": uid, "name": "A"}]
    job = member.post("workloads", world.job(secrets=told)).json()
    assert member.post(f"secrets/{uid}/rotate", {"value": "new"}).json()["version"] == 2
    run = started(Workload.objects.get(uid=job["uid"]))
    assert given_on(attempts=[run])[run.pk].env == {"A": "new"}
    assert member("DELETE", f"secrets/{uid}").json()["code"] == "in_use"
    assert member.post(f"secrets/{uid}/remove", {"force": True}).status_code == 204
    assert given_on(attempts=[run])[run.pk].missing == ["A"]
    assert (
        Secret.objects.get(uid=uid).sealed == "" and member.get(f"secrets/{uid}").status_code == 404
    )
    assert member.post("secrets", {"name": "A", "value": "again"}).status_code == 201
    texts = " ".join(json.dumps(one) for one in Event.objects.values_list("data", flat=True))
    assert "secret.removed" in Event.objects.values_list("kind", flat=True)
    assert not any(f'"{word}"' in texts for word in ("old", "new", "again"))


def test_a_personal_secret_is_ones_own_and_a_project_one_is_set_by_who_leads(world):
    uid = world.by("member").post("secrets", {"name": "MINE", "value": "x"}).json()["uid"]
    for role in ("lead", "platform_admin", "viewer", "stranger"):
        assert world.by(role).get(f"secrets/{uid}").status_code == 404
    told = world.job(secrets=[{"secret": uid, "name": "X"}])
    assert "No such secret" in str(fields_of(world.by("lead").post("workloads", told)))
    body = {"name": "TEAM", "value": "x", "project": "vision"}
    assert world.by("member").post("secrets", body).status_code == 403
    team = world.by("lead").post("secrets", body).json()["uid"]
    asked = world.job(secrets=[{"secret": team, "name": "X"}])
    assert world.by("member").post("workloads", asked).status_code == 201
    assert world.by("viewer").get(f"secrets/{team}").status_code == 404


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"name": "GPUPOOL_NODE"}, "own"),
        ({"name": "no-variable"}, "no name"),
        ({"name": "SET"}, "set twice"),
        ({"name": "../up", "form": "file"}, "no name"),
    ],
)
def test_names_of_secrets_that_cannot_be_are_refused(world, told, why):
    body = world.job(secrets=[{"secret": world.own.secret.uid, **told}], env={"SET": "1"})
    assert why in str(fields_of(world.by("member").post("workloads", body)))


def environment(world, **given):
    body = {"slug": "torch", "name": "Torch", "instruction_set": "cuda", **IMAGE, **given}
    return world.admin.post("environments", body)


def containers(world):
    Node.objects.update(host={**world.node.host, "runners": ["process", "container"]})


def test_an_image_is_pinned_by_digest_and_comes_from_an_allowed_registry(world):
    assert "digest" in fields_of(environment(world, digest=""))
    assert "reference" in fields_of(environment(world, reference="evil.example.org/torch"))
    assert "reference" in fields_of(environment(world, reference="registry.example.com.evil/x"))
    assert environment(world).status_code == 201
    refused = world.by("member").post("workloads", world.job(image="evil.example.org/x"))
    assert "Images may come from" in str(fields_of(refused))


def test_work_runs_in_the_image_of_its_environment_with_its_driver_and_vendor(world):
    containers(world)
    environment(world, min_driver="550.54", tested=["H100-80GB"])
    answer = world.by("member").post("workloads", world.job(environment="torch"))
    assert answer.status_code == 201, answer.content
    row = Workload.objects.get(uid=answer.json()["uid"])
    assert (row.runner, row.image) == ("container", f"registry.example.com/team/torch@{DIGEST}")
    assert (row.need["vendors"], row.need["min_driver"]) == (["nvidia"], "550.54")
    said = world.by("member").get(f"workloads/{row.uid}").json()
    assert said["environment"] == "torch" and "not tested on" in said["warnings"][0]


def test_an_environment_that_cannot_run_on_the_cards_is_refused_before_it_is_queued(world):
    containers(world)
    environment(world, slug="rocm", instruction_set="rocm")
    environment(world, slug="cpu", instruction_set="cpu")
    before = Workload.objects.count()
    member = world.by("member")
    asked = world.job(environment="rocm", need={"vendors": ["nvidia"]})
    assert "rocm" in str(fields_of(member.post("workloads", asked)))
    assert "processors only" in str(
        fields_of(member.post("workloads", world.job(environment="cpu")))
    )
    refused = member.post("workloads", world.job(environment="rocm"))
    assert refused.status_code == 422, "no card of that vendor is in the pool"
    other = world.job(environment="speech-torch")
    assert "No such environment" in str(fields_of(member.post("workloads", other)))
    assert Workload.objects.count() == before


def test_a_deprecated_environment_warns_and_one_in_use_is_not_removed(world):
    containers(world)
    uid = environment(world).json()["uid"]
    note = {"note": "take torch-3"}
    assert world.admin.post(f"environments/{uid}/deprecate", note).json()["deprecated_at"]
    job = world.by("member").post("workloads", world.job(environment="torch")).json()
    said = world.by("member").get(f"workloads/{job['uid']}").json()
    assert any("take torch-3" in warning for warning in said["warnings"])
    assert world.admin("DELETE", f"environments/{uid}").json()["code"] == "in_use"
    world.by("member").post(f"workloads/{job['uid']}/cancel")
    assert world.admin("DELETE", f"environments/{uid}").status_code == 204
    assert Environment.objects.get(uid=uid).active is False
    assert "environment" in fields_of(
        world.by("member").post("workloads", world.job(environment="torch"))
    )


def test_a_folder_of_programs_is_looked_for_and_goes_first_on_the_path(world):
    folder = {"kind": "folder", "reference": "/opt/torch", "digest": ""}
    assert environment(world, **folder).status_code == 201
    assert "/opt/torch" in [one.path for one in watched()]
    job = world.by("member").post("workloads", world.job(environment="torch"))
    assert job.status_code == 201, job.content
    assert job.json()["need"]["storage"] == ["/opt/torch"]


def test_a_clone_is_given_the_same_unless_it_says_otherwise(world):
    containers(world)
    environment(world)
    seen(world, "/srv/vision")
    given = world.job(
        storage=[{"storage": world.own.storage.uid, "at": "x"}],
        secrets=[{"secret": world.own.secret.uid, "name": "T"}],
        environment="torch",
    )
    containers(world)
    member = world.by("member")
    uid = member.post("workloads", given).json()["uid"]
    same = member.get(f"workloads/{member.post(f'workloads/{uid}/clone').json()['uid']}").json()
    assert same["storage"][0]["at"] == "x" and same["secrets"][0]["name"] == "T"
    assert same["environment"] == "torch" and same["image"].endswith(DIGEST)
    bare = member.post(f"workloads/{uid}/clone", {"storage": [], "secrets": []}).json()
    said = member.get(f"workloads/{bare['uid']}").json()
    assert said["storage"] == said["secrets"] == []
