"""D33: rows that tie are each met once, whatever comes and goes; bad pages are refused."""

import pytest

from pool.clock import now
from pool.models import Workload
from portal.api.shown import ways
from portal.api.v1.workloads import WorkloadDoor
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]
MANY, SIZE = 250, 25


@pytest.fixture
def world():
    return World()


def jobs(own, count, prefix):
    """So many jobs of one moment."""
    at = now()
    made = [own.work(name=f"{prefix}{n % 7}", name_folded=f"{prefix}{n % 7}") for n in range(count)]
    Workload.objects.filter(pk__in=[one.pk for one in made]).update(
        submitted_at=at, queued_at=at, state="succeeded", ended_at=at
    )
    return [one.uid for one in made]


def walked(who, path, between=None):
    """Every uid in the order it is met, page by page; `between` is called after each page."""
    met, pages = [], 0
    while path:
        answer = who.get(path)
        assert answer.status_code == 200, answer.content
        body = answer.json()
        met += [row["uid"] for row in body["results"]]
        assert len(body["results"]) <= SIZE
        pages += 1
        path = (body["next"] or "").partition("/api/v1/")[2]
        if between is not None:
            between(pages)
    return met


ORDERINGS = [f"&ordering={one}" if one else "" for one in ("", *ways(WorkloadDoor))]


def test_each_of_many_that_tie_is_met_once_in_every_ordering(world):
    made = set(jobs(world.own, MANY, "tie"))
    before = Workload.objects.filter(project=world.own.project).count()
    for ordering in ORDERINGS:
        met = walked(world.by("member"), f"workloads?page_size={SIZE}{ordering}")
        assert len(met) == len(set(met)) == before, ordering
        assert made <= set(met)


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_what_comes_and_goes_meanwhile_makes_no_other_row_twice_or_missing(world, ordering):
    own = world.own
    steady = set(jobs(own, MANY - 10, "stay"))
    going = jobs(own, 10, "go")

    def change(page):
        if page <= 10:
            own.work(name="fresh", name_folded="fresh")
            Workload.objects.filter(uid=going[page - 1]).delete()

    met = walked(world.by("member"), f"workloads?page_size={SIZE}{ordering}", change)
    kept = [uid for uid in met if uid in steady]
    assert len(kept) == len(set(kept)) == len(steady)


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=-1",
        "page=9999",
        "page_size=0",
        "page_size=-5",
        "page_size=many",
        "cursor=mangled",
        "cursor=%00",
        "cursor=" + "A" * 5000,
        "cursor=cD0xJTAw",
        "ordering=nothing",
    ],
)
def test_a_bad_page_size_or_cursor_is_refused_in_words(world, query):
    answer = world.by("member").get(f"workloads?{query}")
    assert answer.status_code in {400, 404}, answer.content
    assert set(answer.json()) == {"code", "message", "detail"}


def test_a_page_is_never_larger_than_the_greatest(world):
    jobs(world.own, 3, "few")
    answer = world.by("member").get("workloads?page_size=1000000")
    assert answer.status_code in {200, 400}
    if answer.status_code == 200:
        assert len(answer.json()["results"]) <= 1000
