"""What-ifs and records by REST: what is named is what the caller may know."""

import pytest

from pool.models import Trace

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
