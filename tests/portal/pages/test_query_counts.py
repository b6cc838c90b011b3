"""Lists ask the database equally often however long they are."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import rows

PATHS = (
    "/",
    "/workloads/",
    "/queue/",
    "/requests/",
    "/approvals/",
    "/map/",
    "/nodes/",
    "/usage/",
    "/quotas/",
)


@pytest.mark.parametrize("path", PATHS)
def test_a_page_asks_equally_often_for_few_rows_and_many(path, visit, world):
    visitor = visit("lead")
    visitor.open(path)
    few = asked(visitor, path)
    for number in range(6):
        world.own.work(name=f"more-{number}", name_folded=f"more-{number}")
        world.own.asked()
    rows.node(cards=3)
    assert asked(visitor, path) <= few


def asked(visitor, path) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert visitor.open(path).status_code == 200
    return len(seen)
