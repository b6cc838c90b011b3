"""A request that names what its work is to use: its form, its pages, the job under its lease."""

import json

import pytest

from nodeagent.protocol.places import Place
from pool.models import Request
from pool.services.catalogue.judging import given_from
from pool.services.catalogue.watched import places_take
from pool.services.decisions import request_approve
from tests import factories as make

USED = {"storage_1_at": "data", "secret_1_name": "T", "secret_1_form": "env"}


@pytest.fixture
def form(world):
    places_take(node=world.node, places=(Place(path="/srv/vision"),))
    return {
        **{"project": "vision", "template": world.version.template.slug, "how": "template"},
        **{"time_value": "8 h", "copies": "1", "title": "Train", **USED},
        **{"storage_1": world.own.storage.uid, "secret_1": world.own.secret.uid},
    }


def newest():
    return Request.objects.order_by("-pk").first()


def page(visitor, path):
    answer = visitor.open(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_form_of_a_request_names_what_its_work_uses_and_all_who_decide_read_it(
    visit, world, form
):
    member, lead = visit("member"), visit("lead")
    assert "vision data" in page(member, "/requests/new/")
    assert member.send("/requests/new/", form).status_code == 303
    made = newest()
    assert given_from(made.given).mounts[0].at == "data"
    for reader, path in [
        (member, f"/requests/{made.uid}/"),
        (lead, f"/approvals/?open={made.uid}"),
        (lead, f"/approvals/{made.uid}/"),
    ]:
        text = page(reader, path)
        assert "vision data" in text and "TOKEN" in text and "hush" not in text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"storage_1_at": "../up"}, "not a plain path"),
        ({"image": "not an image"}, "A name like"),
        ({"secret_1_form": "env", "secret_1_name": "GPUPOOL_X"}, "GPUPOOL_"),
    ],
)
def test_what_cannot_be_given_is_said_beside_its_field_and_nothing_is_sent(
    visit, form, wrong, said
):
    before = Request.objects.count()
    answer = visit("member").send("/requests/new/", form | wrong)
    assert answer.status_code == 422 and said in answer.content.decode()
    assert Request.objects.count() == before


def test_an_edit_shows_what_was_named_changes_it_and_keeps_what_the_form_cannot_show(
    visit, world, form
):
    member = visit("member")
    member.send("/requests/new/", form | {"draft": "1"})
    made = newest()
    assert made.state == "draft"
    made.given["mounts"][0]["mode"] = "ro"
    made.save()
    path = f"/requests/{made.uid}/edit/"
    assert 'value="data"' in page(member, path)
    changed = form | {"revision": str(made.revision), "secret_1": "", "title": "Other"}
    assert member.send(path, changed).status_code == 303
    made.refresh_from_db()
    kept = given_from(made.given)
    assert (made.state, kept.mounts[0].mode, kept.secrets) == ("submitted", "ro", [])


def test_a_place_of_another_name_keeps_how_it_may_be_used(visit, world, form):
    member = visit("member")
    member.send("/requests/new/", form | {"draft": "1"})
    made = newest()
    made.given["mounts"][0]["mode"] = "ro"
    made.save()
    changed = form | {"revision": str(made.revision), "storage_1_at": "elsewhere", "draft": "1"}
    assert member.send(f"/requests/{made.uid}/edit/", changed).status_code == 303
    made.refresh_from_db()
    (mount,) = given_from(made.given).mounts
    assert (mount.at, mount.mode) == ("elsewhere", "ro")


def test_an_edit_of_the_title_keeps_what_is_offered_no_more(visit, world, form):
    member = visit("member")
    member.send("/requests/new/", form)
    made = newest()
    before = made.given
    world.own.storage.active = False
    world.own.storage.save()
    path = f"/requests/{made.uid}/edit/"
    assert f'value="{world.own.storage.uid}" selected' in page(member, path)
    changed = form | {"revision": str(made.revision), "title": "Other"}
    assert member.send(path, changed).status_code == 303
    made.refresh_from_db()
    assert (made.title, made.given) == ("Other", before)


def test_a_job_under_the_lease_begins_with_what_its_request_named(visit, world, form):
    member = visit("member")
    member.send("/requests/new/", form)
    made = newest()
    lead = world.own.people["lead"].user
    request_approve(request=made, user=lead, actor=make.by(lead))
    made.refresh_from_db()
    assert "vision data" in page(member, f"/leases/{made.lease.uid}/")
    text = page(member, f"/workloads/new/?lease={made.lease.uid}")
    assert 'value="data"' in text and 'value="T"' in text


def test_over_rest_a_request_names_it_changes_it_and_its_work_gets_it(world, form):
    member = world.own.people["member"]
    said = {
        "project": "vision",
        "template": world.version.template.slug,
        "duration_seconds": 3600,
        "storage": [{"storage": world.own.storage.uid, "at": "data"}],
        "secrets": [{"secret": world.own.secret.uid, "name": "T"}],
    }
    answer = member.post("requests", said)
    assert answer.status_code == 201, answer.content
    asked = answer.json()
    assert asked["storage"][0]["at"] == "data" and asked["secrets"][0]["name"] == "T"
    foreign = [{"storage": world.other.storage.uid, "at": "x"}]
    wrong = member("PATCH", f"requests/{asked['uid']}", {"storage": foreign})
    assert (wrong.status_code, list(wrong.json()["detail"])) == (400, ["storage"])
    kept = member("PATCH", f"requests/{asked['uid']}", {"title": "New"}).json()
    assert kept["storage"] == asked["storage"]
    less = member("PATCH", f"requests/{asked['uid']}", {"secrets": []}).json()
    assert (less["storage"], less["secrets"]) == (asked["storage"], [])
    world.own.people["lead"].post(f"requests/{asked['uid']}/approve")
    lease = member.get(f"requests/{asked['uid']}").json()["lease"]
    work = {"project": "vision", "template": said["template"], "command": ["true"], "lease": lease}
    made = member.post("workloads", work).json()
    shown = member.get(f"workloads/{made['uid']}").json()
    assert [one["path"] for one in shown["storage"]] == ["/srv/vision"], json.dumps(shown)
