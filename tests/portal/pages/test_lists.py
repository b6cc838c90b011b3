"""Lists of pages are searched, sorted both ways, walked, and lead to their file."""

import csv
import re
from html import unescape

import pytest

from pool.models import Project, User
from portal.pages import lists
from tests import rows
from tests.portal.callers import text_of

LISTS = {
    "/requests/": ("requests", "title"),
    "/leases/": ("leases", "ends"),
    "/workloads/": ("workloads", "name"),
    "/people/": ("users", "name"),
    "/secrets/": ("secrets", "name"),
    "/storage/": ("storage", "name"),
}


def asked_for(own):
    """Four requests of two lengths."""
    for number, title in enumerate(("beta", "alpha", "delta", "gamma")):
        one = own.asked()
        one.title, one.duration_seconds = title, 60 * (1 + number % 2)
        one.save(update_fields=["title", "duration_seconds"])


def titles(page):
    """Which of the four stand on a page, in their order."""
    return re.findall(r">(alpha|beta|gamma|delta)</a>", page)


def test_requests_are_sorted_walked_and_found(visit, world, monkeypatch):
    asked_for(world.own)
    who = visit("platform_admin")
    up = who.open("/requests/?sort=title&q=a").content.decode()
    assert titles(up) == ["alpha", "beta", "delta", "gamma"]
    assert 'aria-sort="ascending"' in up
    assert titles(who.open("/requests/?sort=-title&q=a").content.decode()) == titles(up)[::-1]
    assert titles(who.open("/requests/?q=gam").content.decode()) == ["gamma"]
    nothing = who.open("/requests/?q=no-such").content.decode()
    assert "Nothing matches" in nothing and "No requests yet" not in nothing
    monkeypatch.setattr(lists.in_order, "__defaults__", (2, ""))
    met, path = [], "/requests/?sort=for&q=a"
    while path:
        page = who.open(path).content.decode()
        met += titles(page)
        older = re.search(r'href="(\?[^"]*before[^"]*)"', page)
        path = f"/requests/{unescape(older.group(1))}" if older else ""
    assert met == ["beta", "delta", "alpha", "gamma"]
    assert who.open("/requests/?sort=title&before=mangled").status_code == 200
    assert who.open("/requests/?sort=password").status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_a_list_leads_to_its_file_with_the_same_rows(visit, world, path):
    noun, column = LISTS[path]
    page = visit("org_admin").open(f"{path}?sort={column}").content.decode()
    assert 'aria-sort="ascending"' in page
    csv_link = re.search(rf'href="(/api/v1/{noun}\?[^"]*format=csv[^"]*)"', page)
    address = unescape(csv_link.group(1))
    assert "ordering=" in address
    told = text_of(world.by("org_admin").get(address.removeprefix("/api/v1/")))
    lines = list(csv.DictReader(told.lstrip("\ufeff").splitlines()))
    assert lines
    if noun != "users":
        assert all(one["uid"] in page or noun in ("secrets", "storage") for one in lines)


def test_the_people_of_a_project_come_page_by_page_and_are_found_by_name(visit, world):
    project = Project.objects.get(slug="vision")
    for number in range(35):
        rows.member(project, username=f"person-{number:02}")
    lead = visit("lead")
    path = f"/projects/{project.uid}/"
    first = lead.open(path).content.decode()
    assert "person-00" in first and "person-34" not in first
    older = unescape(re.search(r'href="(\?[^"]*before[^"]*)"', first).group(1))
    assert "person-34" in lead.open(path + older).content.decode()
    found = lead.open(f"{path}?q=person-3").content.decode()
    assert "person-33" in found and "person-00" not in found
    assert "Nobody matches" in lead.open(f"{path}?q=no-such").content.decode()
    link = unescape(re.search(r'href="(/api/v1/memberships[^"]*)"', first).group(1))
    told = text_of(world.by("lead").get(link.removeprefix("/api/v1/")))
    assert "person-34" in told and "speech" not in told


def test_a_draft_of_somebody_else_stands_in_no_list_and_no_file(visit, world):
    member = world.by("member")
    body = {
        "project": "vision",
        "template": world.version.template.slug,
        "duration_seconds": 3600,
        "title": "half-thought",
        "draft": True,
    }
    assert member.post("requests", body).status_code == 201
    assert "half-thought" in text_of(member.get("requests?format=csv"))
    assert "half-thought" not in text_of(world.by("lead").get("requests?format=csv"))
    assert "half-thought" not in str(world.by("lead").get("requests").json())


def test_a_search_for_a_colleague_is_not_lost_among_older_strangers_of_such_a_name(visit, world):
    User.objects.bulk_create(User(username=f"anna-{number:03}") for number in range(201))
    project = Project.objects.get(slug="vision")
    mate = rows.member(project, username="anna-the-colleague")
    work = rows.workload(into=project, owner=mate, name="hers")
    asked = world.own.asked(requester=mate, title="her request")
    who = visit("member")
    assert "hers" in who.open("/workloads/?q=anna").content.decode()
    assert "her request" in who.open("/requests/?q=anna").content.decode()
    found = world.by("member").get("workloads?search=anna").json()["results"]
    assert [one["uid"] for one in found] == [work.uid]
    assert asked.uid in text_of(world.by("member").get("requests?format=csv&search=anna"))
    assert who.open("/leases/?q=anna").status_code == 200
