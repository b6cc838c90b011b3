"""Pages by cursor: every row once, whatever comes and goes meanwhile."""

import pytest

from pool.models import Workload


def walk(who, path):
    """All pages from the first to the last, and the addresses used."""
    pages = []
    following = path
    while following:
        said = who.get(following.replace("http://testserver", "")).json()
        pages.append(said)
        following = said["next"]
    return pages


def test_pages_hold_every_row_once_newest_first(world):
    made = [world.own.work().uid for _ in range(5)]
    pages = walk(world.by("member"), "workloads?page_size=2")
    uids = [row["uid"] for page in pages for row in page["results"]]
    assert len(uids) == len(set(uids)) == Workload.objects.filter(project=world.own.project).count()
    assert uids[:5] == made[::-1]
    assert pages[0]["previous"] is None
    assert all(len(page["results"]) <= 2 for page in pages)


def test_rows_that_come_while_one_pages_are_not_shown_twice_or_lost(world):
    for _ in range(3):
        world.own.work()
    member = world.by("member")
    first = member.get("workloads?page_size=2").json()
    world.own.work()
    second = member.get(first["next"].replace("http://testserver", "")).json()
    assert not {r["uid"] for r in first["results"]} & {r["uid"] for r in second["results"]}


def test_one_goes_back_the_way_one_came(world):
    for _ in range(5):
        world.own.work()
    member = world.by("member")
    pages = walk(member, "workloads?page_size=3")
    back = member.get(pages[-1]["previous"].replace("http://testserver", "")).json()
    assert back["results"] == pages[-2]["results"]


def test_filters_stay_while_one_pages(world):
    for _ in range(3):
        world.own.work()
    pages = walk(world.admin, "workloads?project=vision&page_size=2")
    assert {row["project"] for page in pages for row in page["results"]} == {"vision"}


@pytest.mark.parametrize(
    "cursor", ["x", "a1", "YTE", "YXg", "Yg", "%00", "é", "YTk5OTk5OTk5OTk5OTk5OTk5OTk5", "=" * 9]
)
def test_a_cursor_that_is_none_is_400(world, cursor):
    answer = world.by("member").get(f"workloads?cursor={cursor}")
    right = {"YTE"}
    assert answer.status_code == (200 if cursor in right else 400)
    if cursor not in right:
        assert list(answer.json()["detail"]) == ["cursor"]


@pytest.mark.parametrize("size", ["0", "-1", "201", "many", "1e2", "9" * 30, "٣"])
def test_a_page_size_out_of_range_is_400(world, size):
    answer = world.by("member").get(f"workloads?page_size={size}")
    assert (answer.status_code, list(answer.json()["detail"])) == (400, ["page_size"])
