"""D03: after every change of the cards each view shows one generation of slices, and the same."""

import asyncio
from collections import Counter

import pytest

from pool.cycle.round import run_rounds
from pool.models import Hold, Membership, Partition, Slice
from pool.selectors.capacity import fits_now, room_on
from pool.selectors.nodes import card_list, node_map
from portal.pages.answers import answer
from tests import rows
from tests.pool.place import Place, seen
from tests.portal.world import caller

pytestmark = pytest.mark.django_db

CARDS = 8
TICKS = 10
"""Rounds with the agent's report in which a generation has to be there; one is a second at most."""

GENERATIONS = (
    (8, {"parts": 1, "whole": True}, ("whole", "whole")),
    (56, {"parts": 1, "profile": "1g.10gb"}, ("mig", "1g.10gb")),
    (8, {"parts": 1, "profile": "7g.80gb"}, ("mig", "7g.80gb")),
    (8, {"parts": 1, "whole": True}, ("whole", "whole")),
)


@pytest.fixture
def place(bench):
    part = rows.partition()
    node = bench(*["A100-80GB"] * CARDS)
    into = rows.project()
    quota = rows.quota(limit=100_000_000, label="A100-80GB", project=into, partition=part)
    return Place(node, quota, into)


@pytest.fixture
def admin():
    user = rows.user(username="root")
    Membership.objects.create(user=user, role="platform_admin")
    return caller(user)


def fill(place, count, need):
    jobs = [rows.workload(into=place.into, need=need) for _ in range(count)]
    for _ in range(TICKS):
        run_rounds()
        place.node.turn()
        if {seen(job).state for job in jobs} == {"running"}:
            return jobs
    raise AssertionError(Counter(seen(job).state for job in jobs))


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


def in_the_api(admin):
    found = admin.get("slices?state=ready&page_size=200").json()
    assert found["next"] is None
    return Counter((one["mode"], one["profile"]) for one in found["results"])


def on_the_map():
    """What is drawn: the living slices of each card of the node."""
    found = [one for card in card_list() for one in card.living]
    return Counter((one.mode, one.profile) for one in found)


def offered():
    return fits_now(nodes=node_map())[0]


def choices(place, version):
    """What the request form offers for a small need."""
    told = answer(
        project=place.into,
        version=version,
        overrides={},
        partitions=[Partition.objects.get()],
        seconds=3600,
    )
    usable = [told.best, *told.others]
    return [(str(one.option.mode), one.option.profile, one.placed.cards) for one in usable]


def left(place, admin):
    """What the project may still take, as the API shows it: limit without what is held."""
    (row,) = [one for one in admin.get("quotas").json()["results"] if one["kind"] == "limit"]
    return row["limit"] - row["held"]


def test_the_cards_the_books_and_every_view_agree_after_each_step(place, admin):
    version = rows.template(need={"parts": 1, "memory_gb": 10})
    at_first = choices(place, version)
    assert at_first
    for count, need, kind in GENERATIONS:
        jobs = fill(place, count, need)
        # No round and no report lie between the agent's word and these looks.
        views = [on_the_cards(place), in_the_books(), in_the_api(admin), on_the_map()]
        assert views == [{kind: count}] * 4, "one generation, and the same everywhere"
        full = offered()
        assert (full.cards, full.offered, full.whole) == (CARDS, CARDS, 0)
        assert not any(full.profiles.values())
        assert all(not any(room_on(card).profiles.values()) for card in card_list())
        assert choices(place, version) == at_first, "what could be cut does not depend on what is"
        held = sum(
            Hold.objects.filter(held__upper_inf=True).values_list("equivalents_micro", flat=True)
        )
        assert left(place, admin) == 100_000_000 - held
        if kind[0] == "whole":
            assert held == CARDS * 1_000_000
        refused_or_waits(place)
        empty(place, jobs)
        assert (offered().offered, left(place, admin)) == (CARDS, 100_000_000)


def refused_or_waits(place):
    """A job for a kind that is not there any more waits with its reason and is never placed."""
    gone = rows.workload(into=place.into, need={"parts": 1, "profile": "1g.10gb"})
    run_rounds()
    assert seen(gone).state == "queued" and gone.waits_for
    type(gone).objects.filter(pk=gone.pk).update(state="cancelled")
