"""Notebooks over REST: a size that is asked for weighs what it will cost."""

import pytest

from billing.services.prices import price_set
from pool.events import SYSTEM
from pool.models import Quota, Request
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
