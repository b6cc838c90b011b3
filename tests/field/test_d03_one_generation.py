"""D03: after every change of the cards each view shows one generation of slices, and the same."""

import asyncio
from collections import Counter

import pytest

from pool.cycle.round import run_rounds
from pool.models import Slice
from pool.selectors.capacity import fits_now
from pool.selectors.nodes import node_map
from tests import rows
from tests.pool.place import Place, seen

pytestmark = pytest.mark.django_db


@pytest.fixture
def place(bench):
    part = rows.partition()
    node = bench(*["A100-80GB"] * 2)
    into = rows.project()
    quota = rows.quota(limit=100_000_000, label="A100-80GB", project=into, partition=part)
    return Place(node, quota, into)


def fill(place, count, need):
    jobs = [rows.workload(into=place.into, need=need) for _ in range(count)]
    for _ in range(5):
        run_rounds()
        place.node.turn()
    assert [seen(job).state for job in jobs] == ["running"] * count
    return jobs


def empty(place, jobs):
    for job in jobs:
        place.node.finish(job)
    place.node.tell()


def on_the_cards(place):
    found = asyncio.run(place.node.driver.slices())
    return Counter((str(one.mode), one.profile) for one in found)


def in_the_books():
    rows_ = Slice.objects.filter(state="ready")
    return Counter(rows_.values_list("mode", "profile"))


def offered(place):
    return fits_now(nodes=node_map())[0]


def test_the_cards_the_books_and_what_is_offered_agree_after_each_step(place):
    for count, need, kind in (
        (14, {"parts": 1, "profile": "1g.10gb"}, ("mig", "1g.10gb")),
        (2, {"parts": 1, "profile": "7g.80gb"}, ("mig", "7g.80gb")),
        (2, {"parts": 1, "whole": True}, ("whole", "whole")),
    ):
        jobs = fill(place, count, need)
        assert on_the_cards(place) == in_the_books() == {kind: count}
        full = offered(place)
        assert full.whole == 0 and not any(full.profiles.values())
        gone = rows.workload(into=place.into, need={"parts": 1, "profile": "1g.10gb"})
        run_rounds()
        assert seen(gone).state == "queued"
        _cancel(gone)
        empty(place, jobs)
        assert offered(place).offered == 2


def _cancel(work):
    type(work).objects.filter(pk=work.pk).update(state="cancelled")
