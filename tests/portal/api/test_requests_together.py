"""Several requests decided by one call over REST, and a yes that is taken back in time."""

import pytest

from pool.models import Quota, Request


@pytest.fixture
def two(world):
    """Two requests of one project that could run in the world's partition."""
    asked = [world.own.asked(), world.own.asked()]
    for one in asked:
        one.partitions.add(world.partition)
    return asked


def read(*asked):
    return [{"uid": one.uid, "revision": one.revision} for one in asked]


def states(*asked):
    return [Request.objects.get(pk=one.pk).state for one in asked]


def test_one_call_approves_all_that_was_read(world, two):
    lead = world.by("lead")
    sums = lead.post("requests/check-together", {"requests": [one.uid for one in two]})
    assert sums.status_code == 200, sums.content
    assert sums.json()["fits"] is True
    answer = lead.post("requests/approve-together", {"requests": read(*two)})
    assert answer.status_code == 200, answer.content
    assert [one["state"] for one in answer.json()["results"]] == ["approved", "approved"]


def test_a_sum_over_a_limit_is_told_and_refused_whole(world, two):
    Quota.objects.filter(project=world.own.project, user=None).update(limit_value=1)
    lead = world.by("lead")
    sums = lead.post("requests/check-together", {"requests": [one.uid for one in two]}).json()
    assert sums["fits"] is False
    assert any(one["over"] > 0 and one["after"] > one["limit"] for one in sums["changes"])
    assert lead.post("requests/approve-together", {"requests": read(*two)}).status_code == 400
    assert states(*two) == ["submitted", "submitted"]


def test_an_old_reading_of_one_keeps_all_from_being_approved(world, two):
    Request.objects.filter(pk=two[1].pk).update(revision=7)
    answer = world.by("lead").post("requests/approve-together", {"requests": read(*two)})
    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    assert states(*two) == ["submitted", "submitted"]


def test_a_yes_with_a_delay_is_taken_back_by_whoever_said_it(world, two):
    lead = world.by("lead")
    given = {"requests": read(*two), "delay_seconds": 10}
    told = lead.post("requests/approve-together", given).json()["results"]
    assert all(one["pending_until"] for one in told)
    named = {"requests": [two[0].uid]}
    assert world.by("org_admin").post("requests/undo-together", named).status_code == 403
    assert lead.post("requests/undo-together", named).json()["results"][0]["pending_until"] is None
    assert lead.post(f"requests/{two[1].uid}/undo", {}).status_code == 200
    assert lead.post(f"requests/{two[1].uid}/undo", {}).status_code == 409
    assert states(*two) == ["submitted", "submitted"]


def test_what_does_not_wait_for_the_caller_is_not_told_apart_from_nothing(world, two):
    strange = {"requests": [two[0].uid, "rq-00000000-0000-7000-8000-000000000000"]}
    lead = world.by("lead")
    assert lead.post("requests/check-together", strange).status_code == 400
    other = world.other.asked()
    answer = lead.post("requests/check-together", {"requests": [other.uid]})
    assert answer.status_code == 400
    assert other.uid not in answer.content.decode()
