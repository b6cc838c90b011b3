"""Every page and every live topic × every role × one's own and another tenant's things.

Generated from the addresses: a page with a thing in its address that stands in no table fails here,
so that none can be forgotten.
"""

import re

import pytest
from django.db import transaction

from pool.topics import BELL
from portal.pages.panels import _JUDGES, OWN, panel_key
from portal.pages.urls import urlpatterns
from tests.architecture.house import ROOT
from tests.portal.api.test_isolation import address_of
from tests.portal.world import ROLES

OWNED = {
    "accounts-of-projects": "service-accounts",
    "budgets": "budgets",
    "disputes": "disputes",
    "statements": "invoices",
    "alert-silences": "alert-silences",
    "alerts": "alerts",
    "approvals": "requests",
    "idle-rules": "idle-rules",
    "invitations": "invitations",
    "leases": "leases",
    "members": "memberships",
    "notebooks": "workloads",
    "organizations": "organizations",
    "people": "users",
    "places": "projects",
    "projects": "projects",
    "deputies": "delegations",
    "queue": "workloads",
    "records": "records",
    "requests": "requests",
    "reservations": "reservations",
    "schedules": "schedules",
    "secrets": "secrets",
    "storage": "storage",
    "tokens": "tokens",
    "what-ifs": "what-ifs",
    "workloads": "workloads",
}
"""First word of an address, and the noun of the thing in it, which belongs to one tenant."""

APART = {
    "alert-rules": "the pool's",
    "alert-ways": "platform admins' alone; checked by their own tests",
    "cards": "the pool's",
    "environments": "shared, or checked by its own tests",
    "events": "a format, no thing",
    "groups": "platform admins' alone; checked by their own tests",
    "found": "platform admins' alone; checked by its own tests",
    "maintenance": "the pool's",
    "map": "the pool's",
    "nodes": "the pool's",
    "notices": "one's own, whoever one is",
    "partitions": "the pool's",
    "quotas": "a key of tenant and place; tests of the quota tree",
    "prices": "platform admins' alone; checked by their own tests",
    "rules": "the platform's",
    "templates": "shared, or checked by its own tests",
}
"""First words of addresses without a tenant's own thing in them, and why."""

BY_SECRET = frozenset({"invitation"})
"""The link is the right."""

VERBS = {
    "alert-act": "take",
    "approval-decide": "approve",
    "member-change": "remove",
    "notebook-act": "stop",
    "notebook-night-answer": "granted",
    "organization-act": "archive",
    "person-act": "disable",
    "project-act": "suspend",
    "project-close": "archive",
    "schedule-act": "pause",
    "statement-act": "review",
    "what-if-act": "cancel",
    "service-account-act": "disable",
}
INSIDE = ("org_admin", "lead", "member", "viewer", "billing_reader")
PAGES = [(one.name, str(one.pattern)) for one in urlpatterns]
ADDRESSED = [(name, path) for name, path in PAGES if "<" in path and name not in BY_SECRET]
TENANTS_OWN = [one for one in ADDRESSED if one[1].split("/")[0] in OWNED]


def address(world, tenant, name, path):
    """The address of a page with the tenant's thing in it."""
    uid = address_of(world, tenant, OWNED[path.split("/")[0]])
    for mark, value in (
        ("<str:uid>", uid),
        ("<slug:slug>", tenant.project.slug),
        ("<str:kind>", "project"),
        ("<str:verb>", VERBS.get(name, "")),
    ):
        path = path.replace(mark, value)
    assert "<" not in path, path
    return f"/{path}"


def tried(visitor, method, path):
    """The status of a call whose effects are taken back."""
    with transaction.atomic():
        answer = visitor.open(path) if method == "GET" else visitor.send(path)
        transaction.set_rollback(True)
    assert answer.status_code < 500, (path, answer.content)
    return answer.status_code


def test_every_page_with_a_thing_in_its_address_is_in_a_table():
    words = {path.split("/")[0] for _name, path in ADDRESSED}
    assert words <= set(OWNED) | set(APART), words - set(OWNED) - set(APART)
    assert all(
        re.search(r"<str:verb>", path) is None or name in VERBS for name, path in TENANTS_OWN
    )


@pytest.mark.parametrize(("name", "path"), TENANTS_OWN)
def test_another_tenants_thing_is_not_there_whatever_the_role_and_the_method(
    visit, world, name, path
):
    theirs = address(world, world.other, name, path)
    for role in INSIDE:
        visitor = visit(role)
        said = {method: tried(visitor, method, theirs) for method in ("GET", "POST")}
        assert set(said.values()) <= {404, 405}, (role, theirs, said)
        assert 404 in said.values(), (role, theirs, said)


@pytest.mark.parametrize(("name", "path"), TENANTS_OWN)
def test_ones_own_thing_is_there_for_somebody_and_closed_to_visitors(
    visit, world, client, name, path
):
    ours = address(world, world.own, name, path)
    methods = ("GET", "POST")
    seen = {tried(visit(role), method, ours) for role in ROLES for method in methods}
    if path.startswith("notebooks/") or name == "workload-pieces":
        assert seen <= {404, 405}, "a plain job is neither notebook nor array, even to its owner"
    else:
        assert seen - {403, 404, 405}, ours
    for method in methods:
        answer = client.generic(method, ours)
        assert answer.status_code in {302, 403, 405}, (ours, answer.status_code)
        if answer.status_code == 302:
            assert answer["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("name", [n for n, path in PAGES if "<" not in path and n != "language"])
def test_a_page_without_an_address_is_open_or_forbidden_but_never_an_error(visit, name):
    path = next(path for one, path in PAGES if one == name)
    for role in ROLES:
        assert tried(visit(role), "GET", f"/{path}") in {200, 302, 303, 400, 403, 404, 405, 422}


THINGS = {
    "workload": lambda tenant: tenant.workload,
    "log": lambda tenant: tenant.workload,
    "load": lambda tenant: tenant.workload,
    "request": lambda tenant: tenant.request,
}
"""Live topics of one tenant's things, and the thing."""
SHARED = {"pool": "the map", "use": "the map", "node": "the pool's", "card": "the pool's"}
"""Live topics of what is the pool's: what they show of tenants is judged by their own tests."""
APART_TOPICS = {*OWN, "queue", BELL}


def test_every_live_topic_stands_in_a_table():
    """Those that pages subscribe to, and those that anybody may ask for by hand."""
    pages = (path.read_text() for path in (ROOT / "templates").rglob("*.html"))
    told = {noun for text in pages for noun in re.findall(r'data-live(?:-poke)?="([a-z]+)', text)}
    known = {*THINGS, *SHARED, *APART_TOPICS}
    assert told <= known, told - known
    assert set(_JUDGES) <= known, set(_JUDGES) - known


@pytest.mark.parametrize("noun", sorted(THINGS))
def test_a_live_topic_of_another_tenant_is_refused_to_every_role(world, noun):
    thing = THINGS[noun]
    for role in ROLES:
        user = world.by(role).user
        own, other = (panel_key(user, f"{noun}:{thing(t).uid}") for t in (world.own, world.other))
        if role == "stranger":
            own, other = other, own
        assert (own is not None) == (role != "billing_reader"), (role, noun)
        assert (other is not None) == (role == "platform_admin"), (role, noun)
        assert panel_key(user, f"{noun}:nothing") is None


def test_topics_that_are_ones_own_are_never_shared_and_a_leaver_has_none(world):
    for topic in OWN:
        keys = [panel_key(world.by(role).user, topic) for role in ROLES]
        assert len(set(keys)) == len(ROLES)
    gone = world.by("member").user
    gone.is_active = False
    topics = (*OWN, "pool", "queue", f"workload:{world.own.workload.uid}")
    assert {panel_key(gone, topic) for topic in topics} == {None}
