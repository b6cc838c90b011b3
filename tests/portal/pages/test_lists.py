"""Lists of pages are searched, sorted both ways, walked, and lead to their file."""

import csv
import re
from html import unescape

import pytest

from pool.events import SYSTEM
from pool.models import Environment, Project, Storage, User
from pool.services.catalogue.secrets import secret_set
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
def test_a_list_leads_to_its_file_in_its_order(visit, world, path):
    noun, column = LISTS[path]
    page = visit("org_admin").open(f"{path}?sort={column}").content.decode()
    assert 'aria-sort="ascending"' in page
    assert f"/api/v1/{noun}?" in file_of(page) and "ordering=" in file_of(page)


def file_of(page):
    """The address of the file to which a page leads."""
    return unescape(re.search(r'href="(/api/v1/[^"]*format=csv[^"]*)"', page).group(1))


def of_each_filter(world):
    """Rows on both sides of every filter of the lists."""
    own, lead = world.own, world.by("lead").user
    folder = {"backing": "host", "path": "/scratch", "mode": "rw"}
    Storage.objects.create(name="fast", name_folded="fast", kind="scratch", **folder)
    more = folder | {"name": "more", "name_folded": "more", "path": "/data-of-all"}
    Storage.objects.create(kind="dataset", **more)
    image = {"kind": "image", "reference": "registry.example.com/rocm:6"}
    Environment.objects.create(slug="rocm-6", name="For AMD", instruction_set="rocm", **image)
    secret_set(name="MINE", value="hush", user=lead, actor=SYSTEM)
    named = {"into": own.project, "name": "sweep", "name_folded": "sweep"}
    array = rows.workload(**named, state="active", array_size=1)
    rows.workload(into=own.project)
    return rows.workload(**named, state="succeeded", parent=array, array_index=0)


FILTERED = (
    *("/secrets/?whose=mine", "/secrets/?whose=projects", "/secrets/?whose=nobody"),
    *("/environments/?set=rocm", "/environments/?set=cuda", "/environments/?q=registry"),
    *("/storage/?kind=scratch", "/storage/?kind=dataset&q=data", "/storage/?kind=none"),
    *("/workloads/?state=ended", "/workloads/?state=waiting", "/workloads/?q=sweep"),
    *("/people/?q=vision", "/requests/?state=submitted", "/leases/"),
)


@pytest.mark.parametrize("path", FILTERED)
def test_the_file_has_the_rows_that_the_filters_of_the_page_leave(visit, world, path):
    of_each_filter(world)
    role = "org_admin" if path.startswith("/people/") else "lead"
    answer = visit(role).open(path)
    shown = {one.uid for one in answer.context["page"].rows}
    assert shown, "a filter that leaves nothing proves nothing"
    assert uids_of(file_of(answer.content.decode()), world.by(role)) == shown


def uids_of(address, who):
    """The rows of a file, by their uids."""
    told = text_of(who.get(address.removeprefix("/api/v1/")))
    return {one["uid"] for one in csv.DictReader(told.lstrip("\ufeff").splitlines())}


def test_the_file_of_one_piece_has_the_piece(visit, world):
    piece = of_each_filter(world)
    page = visit("lead").open(f"/workloads/?q={piece.uid}").content.decode()
    assert uids_of(file_of(page), world.by("lead")) == {piece.uid}


def test_an_array_is_in_the_group_of_its_pieces_in_the_file_too(visit, world):
    piece = of_each_filter(world)
    piece.state = "queued"
    piece.save(update_fields=["state"])
    page = visit("lead").open("/workloads/?state=waiting").content.decode()
    assert piece.parent.uid in page
    assert piece.parent.uid in uids_of(file_of(page), world.by("lead"))


def test_service_accounts_stand_no_more_in_the_file_of_people_than_at_the_page(visit, world):
    project = world.own.project
    robot = rows.member(
        project, username="the-robot", service_account=True, service_project=project
    )
    page = visit("lead").open(f"/projects/{project.uid}/").content.decode()
    told = text_of(world.by("lead").get(file_of(page).removeprefix("/api/v1/")))
    assert world.by("member").user.username in told
    assert robot.username not in told


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
