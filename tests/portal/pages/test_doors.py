"""Who may open which page; what is not theirs is not there."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.portal.world import ROLES

OPEN_TO_ALL = ("home", "map", "nodes", "templates", "quotas", "usage", "tokens", "profile")
GUARDED = {
    "approvals": {"platform_admin", "org_admin", "lead"},
    "approvals-decided": {"platform_admin", "org_admin", "lead"},
    "users": {"platform_admin", "org_admin"},
    "events": {"platform_admin", "org_admin", "lead"},
}
LISTS = ("workloads", "requests", "workload-new", "request-new")


@pytest.mark.parametrize("role", ROLES)
def test_every_page_opens_for_its_roles_and_for_no_other(role, visit):
    visitor = visit(role)
    for name in (*OPEN_TO_ALL, *LISTS):
        assert visitor.open(reverse(name)).status_code == 200, name
    for name, roles in GUARDED.items():
        expected = 200 if role in roles else 403
        assert visitor.open(reverse(name)).status_code == expected, name


def test_navigation_shows_only_doors_that_open(visit):
    for role in ROLES:
        visitor = visit(role)
        shown = visitor.open("/").content.decode()
        side = shown[shown.index("gp-nav") : shown.index("gp-side-foot")]
        for address in re.findall(r'<a href="([^"]+)"', side):
            assert visitor.open(address).status_code == 200, (role, address)


def test_nobody_enters_without_a_login_and_htmx_sends_the_whole_browser_there():
    stranger = Client()
    answer = stranger.get("/workloads/?q=a")
    assert (answer.status_code, answer["Location"]) == (
        302,
        "/accounts/login/?next=/workloads/%3Fq%3Da",
    )
    part = stranger.get("/workloads/", headers={"HX-Request": "true"})
    assert part.status_code == 401
    assert part["HX-Redirect"].startswith("/accounts/login/")


@pytest.mark.parametrize("role", ["member", "lead", "org_admin", "viewer", "billing_reader"])
def test_what_belongs_to_another_tenant_is_not_there(role, visit, world):
    visitor, other = visit(role), world.other
    for path in (
        f"/workloads/{other.workload.uid}/",
        f"/workloads/{other.workload.uid}/log/",
        f"/workloads/{other.workload.uid}/usage/",
        f"/workloads/new/?like={other.workload.uid}",
        f"/workloads/new/?lease={other.lease.uid}",
        f"/requests/{other.request.uid}/",
        "/workloads/wl-unknown/",
    ):
        assert visitor.open(path).status_code == 404, path
    for path in (
        f"/workloads/{other.workload.uid}/stop/",
        f"/requests/{other.request.uid}/withdraw/",
        f"/requests/{other.request.uid}/comment/",
        f"/approvals/{other.request.uid}/approve/",
    ):
        assert visitor.send(path, {"revision": 1}).status_code == 404, path
    other.workload.refresh_from_db()
    assert other.workload.state == "queued"


def test_no_page_names_another_tenants_work_or_people(visit, world):
    for role in ("member", "lead", "org_admin", "viewer", "billing_reader"):
        visitor = visit(role)
        for name in ("home", "workloads", "requests", "map", "usage", "quotas"):
            shown = visitor.open(reverse(name)).content.decode()
            assert "speech" not in shown, (role, name)


def test_an_anonymous_visitor_may_log_in_and_never_sign_up(db):
    stranger = Client()
    assert b"Log in" in stranger.get("/accounts/login/").content
    assert stranger.get("/accounts/signup/").status_code == 404


def test_a_wrong_password_says_so_and_keeps_the_name(world):
    answer = Client().post("/accounts/login/", {"login": "vision-member", "password": "no"})
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert 'value="vision-member"' in shown
    assert 'role="alert"' in shown


def test_a_zero_byte_in_an_address_or_a_filter_is_a_missing_page(visit, world):
    visitor = visit("platform_admin")
    for path in (
        "/workloads/%00/",
        "/workloads/?q=%00",
        "/workloads/?project=a%00",
        "/nodes/%00/",
        "/map/cards/%00/",
        "/requests/%00/",
        "/events/?subject=%00",
        "/people/?q=%00",
    ):
        assert visitor.open(path).status_code == 404, path
    answer = visitor.send(f"/requests/{world.own.request.uid}/comment/", {"text": "a\0b"})
    assert answer.status_code == 303


def test_a_lost_login_leads_back_to_the_whole_address(world):
    asked = {"HX-Request": "true", "HX-Current-URL": "http://testserver/workloads/?q=a&state=ended"}
    answer = Client().get("/workloads/?q=a", headers=asked)
    assert answer["HX-Redirect"] == (
        "/accounts/login/?next=%2Fworkloads%2F%3Fq%3Da%26state%3Dended"
    )


def test_nothing_changes_state_by_get(visit, world):
    visitor = visit("member")
    for path in (
        f"/workloads/{world.own.workload.uid}/stop/",
        f"/requests/{world.own.request.uid}/withdraw/",
        "/language/",
    ):
        assert visitor.open(path).status_code == 405, path


def test_a_page_and_its_part_are_not_mixed_up_by_caches(visit):
    whole, part = visit("member").open("/workloads/"), visit("member").part("/workloads/")
    assert b"<html" in whole.content
    assert b"<html" not in part.content
    for answer in (whole, part):
        assert "HX-Request" in answer["Vary"]
        assert answer["Cache-Control"] == "no-store"


def test_the_content_policy_allows_no_script_of_a_page_itself(visit):
    answer = visit("member").open("/")
    policy = answer["Content-Security-Policy"]
    assert "script-src 'self';" in policy + ";"
    assert not re.findall(
        r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", answer.content.decode()
    )
    assert "<style" not in answer.content.decode()
    assert not re.findall(r"\son[a-z]+=", answer.content.decode())


def test_an_announcement_stands_on_every_page_as_text(visit, settings):
    settings.ANNOUNCEMENT = "Maintenance <tonight> 今晚维护"
    shown = visit("viewer").open("/map/").content.decode()
    assert "Maintenance &lt;tonight&gt; 今晚维护" in shown


def test_pages_for_what_is_missing_and_what_is_not_allowed(visit):
    visitor = visit("member")
    assert b"Not here" in visitor.open("/nothing/").content
    assert b"Not allowed" in visitor.open("/people/").content
