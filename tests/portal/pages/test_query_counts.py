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


def test_cards_of_notebooks_and_catalogues_ask_equally_often_for_few_and_many(visit, world):
    own = world.own
    visitor = visit("lead")

    def notebook(number):
        own.work(kind="notebook", name=f"nb-{number}", name_folded=f"nb-{number}", command=[])

    notebook(0)
    paths = ("/notebooks/?all=1", "/storage/", "/secrets/", "/leases/", "/notices/")
    for path in paths:
        visitor.open(path)
    few = {path: asked(visitor, path) for path in paths}
    for number in range(1, 6):
        notebook(number)
        own.leased()
        rows.storage(project=own.project, name=f"data-{number}")
    for path in paths:
        assert asked(visitor, path) <= few[path], path
