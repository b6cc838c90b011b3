"""What-ifs and records by REST: what is named is what the caller may know."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from pool.models import Study, Template, TemplateVersion, Trace
from tests import rows

pytestmark = pytest.mark.django_db


def _kept(world, **given):
    trace = world.own.study.trace
    Trace.objects.filter(pk=trace.pk).update(teams=["speech", "vision"], **given)
    return trace.uid


def test_a_period_of_the_books_names_only_the_teams_of_the_caller(world):
    uid = _kept(world)
    admin = world.by("org_admin")
    for told in (admin.get(f"records/{uid}").json(), admin.get("records").json()["results"][0]):
        assert (told["uid"], told["teams"]) == (uid, ["vision"])
    assert world.admin.get(f"records/{uid}").json()["teams"] == ["speech", "vision"]


def test_a_file_names_all_that_stands_in_it(world):
    uid = _kept(world, source="file", shape="csv", lines=b"x", since=None, until=None)
    told = world.by("org_admin").get(f"records/{uid}").json()
    assert told["teams"] == ["speech", "vision"]


THEIRS = {"partition": "theirs", "lending": True}


@pytest.fixture
def foreign(world):
    """A partition and a template of the other organization."""
    place = rows.partition(slug="theirs", open_to_all=False)
    place.organizations.set([world.other.organization])
    own = Template.objects.create(
        slug="secret", name="Secret", organization=world.other.organization
    )
    TemplateVersion.objects.create(template=own, number=1, need={"parts": 1, "memory_gb": 20})
    rows.node(cards=2, label="H100-80GB", name="theirs-1")
    return place


def test_partitions_and_templates_of_others_are_as_unknown_as_wrong_names(world, foreign):
    admin, record = world.by("org_admin"), world.own.study.trace.uid
    for changes in (
        {"partitions": [THEIRS]},
        {"templates": [{"template": "secret", "need": {"parts": 1, "whole": True}}]},
        {"quotas": [{"team": "speech", "cards": 1}]},
    ):
        body = {"name": "x", "record": record, "changes": changes}
        told = admin.post("what-ifs", body)
        assert told.status_code == 400
        choices = str(told.json()).split("Choose from")[1]
        assert not {"theirs", "secret", "speech"} & set(choices.replace(",", " ").split())
    body = {"name": "x", "record": record, "changes": {"partitions": [THEIRS]}}
    assert world.admin.post("what-ifs", body).status_code == 201


QUESTION = {
    "quotas": [
        {"team": "speech", "kind": "limit", "cards": 3.0, "partition": "", "model": ""},
        {"team": "vision", "kind": "limit", "cards": 2.0, "partition": "", "model": ""},
    ],
    "priorities": [{"team": "speech", "template": "", "priority": "high"}],
    "partitions": [{"partition": "theirs", "lending": False}],
    "numbers": {"heads": 2},
}


def test_a_scenario_that_is_shared_shows_nothing_of_other_organizations(world, foreign):
    study = rows.study(owner=world.admin.user, share="platform", changes=QUESTION)
    admin = world.by("org_admin")
    told = admin.get(f"what-ifs/{study.uid}").json()
    assert told["changes"] == {"quotas": QUESTION["quotas"][1:], "numbers": {"heads": 2}}
    assert told["hidden_changes"] == 3
    whole = world.admin.get(f"what-ifs/{study.uid}").json()
    assert (whole["changes"], whole["hidden_changes"]) == (QUESTION, 0)


def test_a_copy_says_anew_what_the_reader_may_not_know(world, foreign):
    study = rows.study(owner=world.admin.user, share="platform", changes=QUESTION)
    admin, before = world.by("org_admin"), Study.objects.count()
    refused = admin.post(f"what-ifs/{study.uid}/copy", {"name": "mine"})
    assert refused.status_code == 400 and "speech" not in refused.content.decode()
    assert Study.objects.count() == before
    anew = {"quotas": QUESTION["quotas"][1:], "priorities": [], "partitions": []}
    made = admin.post(f"what-ifs/{study.uid}/copy", {"name": "mine", "changes": anew})
    assert made.status_code == 201, made.content
    assert made.json()["changes"]["numbers"] == {"heads": 2}


def test_lists_and_changes_leave_the_figures_where_they_are(world):
    uid = world.own.study.uid
    with CaptureQueriesContext(connection) as asked:
        world.admin.get("what-ifs")
        world.admin.get(f"what-ifs/{uid}")
        body = {"name": "other"}
        assert world.admin("PATCH", f"what-ifs/{uid}", body).status_code == 200
        assert world.admin.post(f"what-ifs/{uid}/cancel").status_code == 200
        assert world.admin("DELETE", f"what-ifs/{uid}").status_code == 204
    said = [one["sql"] for one in asked if one["sql"].startswith("SELECT")]
    read = [sql for sql in said if '"trace_id" IN' not in sql]  # looks whether there is any
    for column in ("baseline", "result", "steps", "lines", "work", "world"):
        assert not [sql for sql in read if f'."{column}"' in sql.split(" FROM ")[0]], column
