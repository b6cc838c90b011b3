"""Notebooks over REST: a size that is asked for weighs what it will cost."""

import pytest

from billing.services.prices import price_set
from pool.events import SYSTEM
from pool.models import Quota, Request, Workload
from tests import rows

pytestmark = pytest.mark.handmade_books

DAY = 86_400


@pytest.mark.parametrize(("said", "hours"), [({}, 7 * 24), ({"expected_seconds": 7200}, 2)])
def test_another_size_weighs_the_time_that_it_asks_for(world, said, hours):
    price_set(partition=world.partition, rate_micro=2_000_000, actor=SYSTEM)
    Quota.objects.filter(project=world.own.project, kind="allowance").delete()
    version = rows.template(
        need={"parts": 1, "whole": True},
        kind="notebook",
        default_seconds=7200,
        max_seconds=30 * DAY,
    )
    book = rows.workload(
        into=world.own.project,
        version=version,
        owner=world.own.owner,
        kind="notebook",
        state="stopped",
        expected_seconds=7 * DAY,
    )
    body = {"need": {"parts": 1, "whole": True}, **said}
    answer = world.by("member").post(f"workloads/{book.uid}/resume", body)
    assert answer.status_code == 200, answer.content
    asked = Request.objects.get(workloads__uid=answer.json()["uid"])
    assert asked.weights == {"cost": 2 * hours}
    assert asked.duration_seconds == hours * 3600


def test_a_notebook_goes_on_in_another_size_with_its_files_and_only_its_owners_word(world):
    version = rows.template(need={"parts": 1, "memory_gb": 5}, kind="notebook", max_seconds=DAY)
    book = rows.workload(
        into=world.own.project,
        version=version,
        owner=world.own.owner,
        kind="notebook",
        state="reclaimed",
        name="study",
        home="/homes/of-before",
    )
    body = {"template": version.template.slug, "need": {"memory_gb": 10}}
    refused = world.by("lead").post(f"workloads/{book.uid}/resume", body)
    assert refused.status_code == 403
    answer = world.by("member").post(f"workloads/{book.uid}/resume", body)
    assert answer.status_code == 200, answer.content
    made = Workload.objects.get(uid=answer.json()["uid"])
    assert made.pk != book.pk
    assert (made.state, made.name, made.home) == ("queued", "study", "/homes/of-before")
    assert made.need["memory_gb"] == 10
    assert made.notebook.continues == book
    book.refresh_from_db()
    assert book.state == "reclaimed"
    again = world.by("member").post(f"workloads/{book.uid}/resume", body)
    assert again.status_code == 400, "two with the same files are never wanted together"


def test_without_another_size_the_very_same_notebook_goes_on(world):
    version = rows.template(need={"parts": 1, "whole": True}, kind="notebook", max_seconds=DAY)
    book = rows.workload(
        into=world.own.project,
        version=version,
        owner=world.own.owner,
        kind="notebook",
        state="reclaimed",
    )
    answer = world.by("member").post(f"workloads/{book.uid}/resume", {})
    assert (answer.status_code, answer.json()["uid"]) == (200, book.uid)
    assert Workload.objects.get(pk=book.pk).state == "queued"
