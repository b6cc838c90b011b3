"""Work beyond the allowance opens one request, whether it is one job, an array or a schedule."""

import pytest

from pool.models import Quota, Request, Workload

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def asks(world):
    """A member's script in a project without an allowance or lease."""
    Quota.objects.filter(kind="allowance").delete()
    Request.objects.all().delete()
    return world.by("member")


@pytest.fixture
def world(world):
    """The same without what stands in the way of deleting requests."""
    for tenant in (world.own, world.other):
        tenant.cutback.delete()
        tenant.reservation.delete()
        tenant.lease.delete()
    return world


def approved(world):
    row = Request.objects.get()
    lead = world.by("lead")
    answer = lead.post(f"requests/{row.uid}/approve", {"revision": row.revision})
    assert answer.status_code == 200, answer.content
    return row


def test_one_call_for_an_array_is_one_request_and_its_answer_starts_every_piece(world, asks):
    body = world.job() | {"array": {"indices": "0-19", "throttle": 3}}
    key = {"Idempotency-Key": "sweep"}
    made = [asks.post("workloads", body, **key) for _ in range(3)]
    assert {one.status_code for one in made} == {201}
    assert len({one.json()["uid"] for one in made}) == 1
    assert made[0].json()["state"] == "awaiting_approval"
    row = Request.objects.get()
    assert made[0].json()["request"] == row.uid
    assert row.copies == 3
    assert Workload.objects.filter(request=row).count() == 1
    approved(world)
    told = asks.get(f"workloads/{made[0].json()['uid']}").json()
    assert told["state"] == "active"
    pieces = Workload.objects.filter(parent__uid=told["uid"])
    assert (pieces.count(), set(pieces.values_list("state", flat=True))) == (20, {"queued"})
    assert Request.objects.count() == 1


def test_one_call_for_a_schedule_is_one_request_for_all_its_runs(world, asks):
    body = {**world.job(), "cron": "0 2 * * *"}
    made = asks.post("schedules", body)
    assert made.status_code == 201, made.content
    row = Request.objects.get()
    assert row.copies == 1
    approved(world)
    assert Request.objects.count() == 1
    assert asks.get(f"schedules/{made.json()['uid']}").json()["state"] == "active"


def test_a_scheduled_array_is_one_request_too(world, asks):
    body = {**world.job(), "cron": "0 2 * * *", "array": {"indices": "0-9", "throttle": 2}}
    made = asks.post("schedules", body)
    assert made.status_code == 201, made.content
    assert Request.objects.get().copies == 2


def test_jobs_that_are_submitted_one_by_one_ask_one_by_one(world, asks):
    for _ in range(2):
        asks.post("workloads", world.job())
    assert Request.objects.count() == 2


def test_a_request_that_is_refused_ends_the_work_that_opened_it(world, asks):
    made = asks.post("workloads", world.job() | {"array": {"indices": "0-4"}}).json()
    row = Request.objects.get()
    body = {"revision": row.revision, "reason": "not now"}
    assert world.by("lead").post(f"requests/{row.uid}/reject", body).status_code == 200
    told = asks.get(f"workloads/{made['uid']}").json()
    assert told["state"] == "cancelled"
    assert not Workload.objects.filter(parent__uid=made["uid"]).exists()
