"""Every list may be sorted both ways, searched where it says so, and taken away as a file."""

import csv

import pytest
from django.utils.http import urlencode

from portal.api.door import Listing
from portal.api.pagination import wrap
from portal.api.router import router
from portal.api.shown import ways
from portal.keyset import Order, place_of
from tests import rows
from tests.portal.callers import text_of

SORTED = [
    (noun, door) for noun, door, _ in router.registry if issubclass(door, Listing) and door.sortable
]
SEARCHED = [(noun, door) for noun, door in SORTED if door.searched]


def walked(who, path):
    """Every row in the order it is met, and the way back from the last page."""
    met, pages = [], []
    while path:
        answer = who.get(path)
        assert answer.status_code == 200, answer.content
        pages.append(answer.json())
        met += pages[-1]["results"]
        path = (pages[-1]["next"] or "").partition("/api/v1/")[2]
    back, path = [], pages[-1]["previous"]
    while path:
        page = who.get(path.partition("/api/v1/")[2]).json()
        back = page["results"] + back
        path = page["previous"]
    assert back == met[: len(back)]
    assert len(back) == len(met) - len(pages[-1]["results"])
    return met


def more(world):
    """Rows that tie, and rows without a value."""
    own = world.own
    for number in range(4):
        work = own.work()
        work.name = work.name_folded = f"same{number % 2}"
        work.save(update_fields=["name", "name_folded"])
        asked = own.asked()
        asked.title, asked.duration_seconds = f"title {number % 2}", 60 * (1 + number % 2)
        asked.save(update_fields=["title", "duration_seconds"])
        own.leased()
        rows.member(own.project)


def reader(world, noun):
    """Who sees the most of it."""
    return world.admin if noun != "notices" else world.by("member")


@pytest.mark.parametrize(("noun", "door"), SORTED)
def test_in_every_order_each_row_is_met_once_and_the_file_has_them_all(
    world, noun, door, monkeypatch
):
    monkeypatch.setattr("portal.api.listfile.CHUNK", 2)
    more(world)
    who = reader(world, noun)
    plain = walked(who, f"{noun}?page_size=200")
    for way in ways(door):
        met = walked(who, f"{noun}?{urlencode({'page_size': 3, 'ordering': way})}")
        assert sorted(map(str, met)) == sorted(map(str, plain)), way
    answer = who.get(f"{noun}?format=csv")
    assert answer["Content-Type"].startswith("text/csv")
    text = text_of(answer)
    assert text.startswith("\ufeff")
    told = list(csv.DictReader(text.lstrip("\ufeff").splitlines()))
    assert len(told) == len(plain)
    for row, line in zip(plain, told, strict=True):
        assert list(row) == list(line)
        assert line.get("uid", "") == row.get("uid", "")


COLUMNS = {
    "workloads": "name",
    "requests": "title",
    "users": "username",
    "projects": "slug",
    "leases": "copies",
}


def test_the_rows_stand_in_the_order_that_was_asked_for(world):
    more(world)
    for noun, name in COLUMNS.items():
        up = [row[name] for row in walked(world.admin, f"{noun}?page_size=3&ordering={name}")]
        down = [row[name] for row in walked(world.admin, f"{noun}?page_size=3&ordering=-{name}")]
        assert up == sorted(up), noun
        assert down == up[::-1], noun
        assert len(set(up)) > 1 or noun == "leases"


def test_what_has_no_value_comes_last_whichever_way(world):
    for number in range(3):
        world.by("member").post("tokens", {"name": f"n{number}"})
    for way in ("last_used", "-last_used"):
        used = [
            row["last_used_at"]
            for row in walked(world.by("member"), f"tokens?page_size=1&ordering={way}")
        ]
        assert None in used and used[0] is not None
        assert used.index(None) == len([one for one in used if one is not None])


WRONG = (
    *("ordering=nothing", "ordering=--name", "ordering=password", "format=xml"),
    "search=" + "x" * 81,
)
NOWHERE = (
    *("a-name [1]", "aname", 'aname ["x", "y"]', 'aname ["\\u0000", 1]', "acreated [1, 1]"),
    *('aname ["\\ud800", 1]', 'aname ["x", 99999999999999999999]', "aname " + "[" * 900),
)


def test_an_order_a_form_a_text_or_a_place_that_is_none_is_refused_by_its_name(world):
    member = world.by("member")
    asked = [*WRONG, *(f"cursor={wrap(place)}&ordering=name" for place in NOWHERE)]
    for query in asked:
        answer = member.get(f"workloads?{query}")
        assert answer.status_code == 400, query
        assert list(answer.json()["detail"]) == [query.partition("=")[0]]
    assert member.get("leases?search=x&nothing=1").status_code == 400
    assert member.get("policies?search=x").status_code == 400
    assert member.get("queue?ordering=created").status_code == 400


PATHS = {"owner": "owner__username", "requester": "requester__username"}


def things(world):
    """One row of each noun whose first searched column says something."""
    own = world.own
    return {
        "workloads": own.workload,
        "requests": own.request,
        "users": own.owner,
        "projects": own.project,
        "organizations": own.organization,
        "memberships": own.membership,
        "partitions": world.partition,
        "secrets": own.secret,
        "storage": own.storage,
    }


def test_a_search_finds_by_a_part_and_never_shows_what_one_may_not_read(world):
    more(world)
    for noun, door in SEARCHED:
        who = reader(world, noun)
        everything = walked(who, f"{noun}?page_size=200")
        assert walked(who, f"{noun}?search=no-such-thing-at-all") == [], noun
        row = things(world).get(noun)
        column = PATHS.get(door.searched[0], door.searched[0])
        text = str(place_of(row, Order("x", column, False)).value)[1:20] if row else ""
        if text:
            found = walked(who, f"{noun}?{urlencode({'search': text, 'page_size': 200})}")
            assert found and all(one in everything for one in found), noun
        inside = world.by("org_admin").get(f"{noun}?page_size=200")
        if inside.status_code == 200:
            seen = {str(one) for one in inside.json()["results"]}
            told = world.by("org_admin").get(f"{noun}?search=speech&page_size=200")
            assert {str(one) for one in told.json()["results"]} <= seen, noun


def test_a_file_keeps_the_filters_the_order_and_the_search(world):
    more(world)
    answer = world.admin.get("requests?format=csv&ordering=-title&search=title&project=vision")
    told = list(csv.DictReader(text_of(answer).lstrip("\ufeff").splitlines()))
    assert [one["title"] for one in told] == ["title 1", "title 1", "title 0", "title 0"]
    assert world.by("member").get("requests?format=csv&nothing=1").status_code == 400


def test_a_name_that_a_spreadsheet_would_run_is_written_harmless(world):
    request = world.own.request
    request.title = "=cmd()"
    request.save(update_fields=["title"])
    assert "'=cmd()" in text_of(world.by("member").get("requests?format=csv"))
