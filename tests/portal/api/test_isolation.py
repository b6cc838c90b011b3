"""Every endpoint × every role × one's own and another tenant's things, from the router itself.

An endpoint that is not in the tables below fails here, so that none can be forgotten.
"""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import Client

from pool.models import Hold
from portal.api.door import Door
from portal.api.router import router
from tests.portal.world import ROLES, text_of

ALL = frozenset(ROLES)
INSIDE = ALL - {"stranger"}
WORK = INSIDE - {"billing_reader"}
RUN = WORK - {"viewer"}
LEAD = RUN - {"member"}
ADMIN = frozenset({"platform_admin"})
ORGANIZATION = ADMIN | {"org_admin"}

SEES: dict[str, frozenset[str]] = {
    "alerts": WORK,
    "cards": ALL,
    "environments": INSIDE,
    "delegations": frozenset({"lead", "org_admin"}),
    "events": LEAD,
    "group-roles": ADMIN,
    "invitations": LEAD,
    "found-work": ADMIN,
    "join-tokens": ADMIN,
    "leases": WORK,
    "memberships": WORK,
    "nodes": ALL,
    "organizations": INSIDE,
    "partitions": ALL,
    "placements": WORK,
    "policies": ADMIN,
    "prices": ALL,
    "projects": WORK,
    "cutbacks": WORK,
    "quota-plans": INSIDE,
    "quotas": INSIDE,
    "registries": ALL,
    "requests": WORK,
    "reservations": WORK,
    "schedules": WORK,
    "seats": ALL,
    "service-accounts": WORK,
    "secrets": RUN,
    "slices": ALL,
    "storage": WORK,
    "templates": ALL,
    "tokens": frozenset({"member"}),
    "usage": INSIDE,
    "users": ORGANIZATION,
    "windows": ALL,
    "workloads": WORK,
}
"""Who may read one row of `own` by its address."""

SHARED = frozenset(
    {
        *("cards", "nodes", "partitions", "prices", "registries", "seats", "slices"),
        *("templates", "windows"),
    }
)
"""The same things for every tenant: there is no other tenant's."""

LISTS = ("retrieve", "list")
DOES: dict[tuple[str, str], frozenset[str]] = {
    ("events", "export"): LEAD,
    ("group-roles", "create"): ADMIN,
    ("group-roles", "destroy"): ADMIN,
    ("invitations", "create"): LEAD,
    ("invitations", "destroy"): LEAD,
    ("environments", "create"): ADMIN,
    ("environments", "deprecate"): ORGANIZATION,
    ("environments", "destroy"): ORGANIZATION,
    ("environments", "partial_update"): ORGANIZATION,
    ("found-work", "adopt"): ADMIN,
    ("found-work", "stop"): ADMIN,
    ("join-tokens", "create"): ADMIN,
    ("advice", "create"): RUN,
    ("approval-policies", "create"): ORGANIZATION,
    ("delegations", "create"): LEAD,
    ("delegations", "destroy"): frozenset({"lead", "org_admin"}),
    ("leases", "extend"): RUN,
    ("leases", "recall"): ORGANIZATION,
    ("leases", "resize"): RUN,
    ("notices", "read"): ALL,
    ("leases", "give_back"): LEAD | {"member"},
    ("memberships", "create"): LEAD,
    ("memberships", "destroy"): LEAD,
    ("memberships", "partial_update"): LEAD,
    ("nodes", "adopt"): ADMIN,
    ("nodes", "cordon"): ADMIN,
    ("nodes", "drain"): ADMIN,
    ("nodes", "confirm_dead"): ADMIN,
    ("nodes", "retire"): ADMIN,
    ("nodes", "revoke_credential"): ADMIN,
    ("nodes", "uncordon"): ADMIN,
    ("organizations", "archive"): ADMIN,
    ("organizations", "create"): ADMIN,
    ("organizations", "critical_budgets"): ORGANIZATION | {"billing_reader"},
    ("organizations", "critical_grant"): ADMIN,
    ("organizations", "partial_update"): ORGANIZATION,
    ("organizations", "reopen"): ADMIN,
    ("partitions", "create"): ADMIN,
    ("partitions", "partial_update"): ADMIN,
    ("policies", "create"): ADMIN,
    ("policies", "numbers"): ALL,
    ("policies", "revert"): ADMIN,
    ("prices", "create"): ADMIN,
    ("projects", "archive"): ORGANIZATION,
    ("projects", "create"): ORGANIZATION,
    ("projects", "hold"): ORGANIZATION,
    ("projects", "living"): ORGANIZATION,
    ("projects", "move"): ORGANIZATION,
    ("projects", "partial_update"): ORGANIZATION,
    ("projects", "release"): ORGANIZATION,
    ("projects", "reopen"): ORGANIZATION,
    ("projects", "resume"): ORGANIZATION,
    ("projects", "suspend"): ORGANIZATION,
    ("queue", "dry_run"): ADMIN,
    ("queue", "target"): ADMIN,
    ("queue", "waits"): ALL,
    ("configuration", "export"): ADMIN,
    ("configuration", "load"): ADMIN,
    ("cutbacks", "keep"): ADMIN,
    ("cutbacks", "unused"): ALL,
    ("partitions", "preview"): ADMIN,
    ("quota-drifts", "repair"): ADMIN,
    ("quota-drifts", "sweep"): ADMIN,
    ("quota-plans", "cancel"): ORGANIZATION,
    ("quota-plans", "create"): ORGANIZATION,
    ("quotas", "destroy"): ORGANIZATION,
    ("quotas", "many"): ORGANIZATION,
    ("quotas", "preview"): ORGANIZATION,
    ("quotas", "undo"): ORGANIZATION,
    ("quotas", "update"): ORGANIZATION,
    ("quotas", "create"): ORGANIZATION,
    ("registries", "create"): ADMIN,
    ("registries", "destroy"): ADMIN,
    ("requests", "approve"): LEAD,
    ("requests", "ask_back"): LEAD,
    ("requests", "comment"): RUN,
    ("requests", "comments"): WORK,
    ("requests", "create"): RUN,
    ("requests", "partial_update"): frozenset({"member"}),
    ("requests", "reject"): LEAD,
    ("requests", "submit"): frozenset({"member"}),
    ("requests", "withdraw"): RUN,
    ("reservations", "cancel"): LEAD | {"member"},
    ("reservations", "create"): RUN,
    ("schedules", "create"): RUN,
    ("schedules", "destroy"): RUN,
    ("schedules", "history"): WORK,
    ("schedules", "partial_update"): RUN,
    ("schedules", "pause"): RUN,
    ("schedules", "resume"): RUN,
    ("schedules", "run"): RUN,
    ("seats", "create"): ADMIN,
    ("seats", "destroy"): ADMIN,
    ("service-accounts", "create"): LEAD,
    ("service-accounts", "disable"): LEAD,
    ("service-accounts", "enable"): LEAD,
    ("service-accounts", "issue"): LEAD,
    ("service-accounts", "revoke"): LEAD,
    ("service-accounts", "tokens"): LEAD,
    ("secrets", "create"): LEAD,
    ("secrets", "destroy"): LEAD,
    ("secrets", "remove"): LEAD,
    ("secrets", "rotate"): LEAD,
    ("secrets", "used_by"): RUN,
    ("storage", "create"): ADMIN,
    ("storage", "destroy"): ADMIN,
    ("storage", "partial_update"): ADMIN,
    ("templates", "activate"): ADMIN,
    ("templates", "create"): ORGANIZATION,
    ("templates", "deactivate"): ADMIN,
    ("templates", "fit"): ALL,
    ("templates", "partial_update"): ADMIN,
    ("templates", "review"): ADMIN,
    ("templates", "versions"): ADMIN,
    ("tokens", "create"): ALL,
    ("tokens", "destroy"): frozenset({"member"}),
    ("users", "create"): ORGANIZATION,
    ("users", "disable"): ORGANIZATION,
    ("users", "enable"): ORGANIZATION,
    ("users", "leave"): ORGANIZATION,
    ("users", "leaving"): ORGANIZATION,
    ("users", "partial_update"): ORGANIZATION,
    ("windows", "cancel"): ADMIN,
    ("windows", "create"): ADMIN,
    ("windows", "impact"): ADMIN,
    ("windows", "partial_update"): ADMIN,
    ("windows", "preview"): ADMIN,
    ("workloads", "attempts"): WORK,
    ("workloads", "cancel"): RUN,
    ("workloads", "change"): RUN,
    ("workloads", "clone"): RUN,
    ("workloads", "create"): RUN,
    ("workloads", "declare"): RUN,
    ("workloads", "destroy"): RUN,
    ("workloads", "explain"): WORK,
    ("workloads", "hold"): RUN,
    ("workloads", "keep"): RUN,
    ("workloads", "notebook"): WORK,
    ("workloads", "open_notebook"): RUN,
    ("workloads", "orders"): WORK,
    ("workloads", "partial_update"): RUN,
    ("workloads", "preempt"): ADMIN,
    ("workloads", "prove_preemption"): RUN,
    ("workloads", "rank"): LEAD,
    ("workloads", "release"): RUN,
    ("workloads", "resume"): RUN,
    ("workloads", "retry"): RUN,
    ("workloads", "stop"): RUN,
}
"""Who may do what; those who only see the thing are told 403, all others 404."""

WINDOW = {
    "reason": "new driver",
    "starts_at": "2099-01-01T00:00:00Z",
    "ends_at": "2099-01-01T01:00:00Z",
    "nodes": ["node-a"],
}
LINE = {"project": "vision", "partition": "a100", "unit": "cards_micro", "limit": 1}
BODIES = {
    ("nodes", "confirm_dead"): {"reason": "burnt"},
    ("advice", "create"): {"project": "vision", "task": "finetuning"},
    ("approval-policies", "create"): {
        "organization": "vision-org",
        "steps": [{"role": "lead"}],
        "reason": "as agreed",
    },
    ("delegations", "create"): {
        "deputy": "vision-member",
        "starts_at": "2099-02-01T00:00:00Z",
        "ends_at": "2099-02-02T00:00:00Z",
    },
    ("leases", "extend"): {"seconds": 3600},
    ("leases", "resize"): {"copies": 2},
    ("memberships", "create"): {"user": "vision-viewer", "role": "member", "project": "vision"},
    ("group-roles", "create"): {
        "directory": "ldap",
        "group": "cn=vision",
        "role": "member",
        "project": "vision",
    },
    ("invitations", "create"): {"email": "new@example.org", "role": "viewer", "project": "vision"},
    ("memberships", "partial_update"): {"role": "viewer"},
    ("organizations", "partial_update"): {"name": "Vision again"},
    ("organizations", "create"): {"slug": "new", "name": "New"},
    ("partitions", "create"): {"slug": "new", "name": "New", "selector": {}, "modes": ["whole"]},
    ("partitions", "partial_update"): {"name": "Other"},
    ("partitions", "preview"): {"selector": {"labels": ["A100-80GB"]}},
    ("prices", "create"): {"partition": "a100", "rate_micro": 1, "currency": "EUR"},
    ("projects", "create"): {"organization": "vision-org", "slug": "new", "name": "New"},
    ("projects", "archive"): {"wind_down": True},
    ("projects", "move"): {"organization": "vision-org"},
    ("projects", "hold"): {"reason": "an audit"},
    ("projects", "partial_update"): {"most_live": 2000},
    ("projects", "suspend"): {"reason": "unpaid"},
    ("environments", "create"): {
        "slug": "new",
        "name": "New",
        "kind": "folder",
        "reference": "/opt/new",
        "instruction_set": "cpu",
    },
    ("environments", "partial_update"): {"note": "other"},
    ("registries", "create"): {"prefix": "other.example.com"},
    ("secrets", "create"): {"project": "vision", "name": "NEW", "value": "hush"},
    ("secrets", "rotate"): {"value": "hush, too"},
    ("storage", "create"): {"name": "new", "kind": "dataset", "path": "/srv/new"},
    ("storage", "partial_update"): {"note": "other"},
    ("queue", "target"): {"seconds": 600},
    ("configuration", "load"): {"text": "users: []"},
    ("cutbacks", "keep"): {"reason": "a paper is due"},
    ("quota-plans", "create"): {
        "project": "vision",
        "partition": "a100",
        "unit": "cards_micro",
        "does": "set",
        "amount": 1,
        "starts_at": "2027-01-01T00:00:00Z",
        "reason": "the new year",
    },
    ("quotas", "many"): {"lines": [LINE], "reason": "the new year"},
    ("quotas", "preview"): {"lines": [LINE]},
    ("quotas", "update"): {"limit": 1},
    ("quotas", "create"): {
        "project": "vision",
        "partition": "a100",
        "unit": "cards_micro",
        "kind": "allowance",
        "limit": 1,
    },
    ("requests", "ask_back"): {"reason": "why?"},
    ("requests", "comment"): {"text": "hello"},
    ("requests", "reject"): {"reason": "no"},
    ("service-accounts", "create"): {"project": "vision", "username": "ci"},
    ("service-accounts", "issue"): {"name": "runner"},
    ("service-accounts", "revoke"): {"token": "tk-none"},
    ("templates", "fit"): {"need": {"whole": True}},
    ("templates", "partial_update"): {"max_seconds": 86_400},
    ("templates", "create"): {
        "organization": "vision-org",
        "slug": "new",
        "name": "New",
        "need": {"whole": True},
    },
    ("policies", "create"): {"values": {"heavy_gb": 48}, "reason": "larger cards"},
    ("policies", "revert"): {"reason": "it was better"},
    ("seats", "create"): {"name": "vWS", "mode": "vgpu", "total": 4},
    ("windows", "create"): WINDOW,
    ("windows", "partial_update"): {"reason": "other"},
    ("windows", "preview"): WINDOW,
    ("templates", "deactivate"): {"reason": "old"},
    ("templates", "versions"): {"max_seconds": 86_400},
    ("tokens", "create"): {"name": "another"},
    ("users", "partial_update"): {"display_name": "Somebody Else"},
    ("users", "create"): {"username": "new", "project": "vision"},
    ("workloads", "change"): {"change": "shorter", "amount": 60},
    ("workloads", "declare"): {"expected_seconds": 60},
    ("workloads", "preempt"): {"reason": "a burning rack"},
    ("organizations", "critical_grant"): {"month": "2099-01-01", "card_hours": 10},
    ("workloads", "partial_update"): {"after": []},
    ("workloads", "rank"): {"priority": "high", "reason": "a deadline"},
}
BARRED = frozenset({"found-work", "group-roles", "join-tokens", "policies", "quota-drifts"})
"""Nouns of platform admins: others are told that they may not."""

UNADDRESSED = frozenset(
    {"approval-policies", "notices", "whoami", "samples", "queue", "quota-drifts"}
)
"""Nouns without rows of their own address; they are tried below by name."""


def endpoints():
    """(noun, action, method, path) of everything that the router answers."""
    for noun, door, _ in router.registry:
        for route in router.get_routes(door):
            mapping = router.get_method_map(door, route.mapping)
            for method, action in mapping.items():
                path = route.url.replace("{prefix}", noun).replace("{trailing_slash}$", "")
                yield noun, action, method.upper(), path.lstrip("^")


ENDPOINTS = sorted(set(endpoints()))
VERBS = [e for e in ENDPOINTS if e[1] not in LISTS]
ROWS = [e for e in ENDPOINTS if e[1] == "retrieve"]
LISTED = [e for e in ENDPOINTS if e[1] == "list"]


def address_of(world, tenant, noun):
    """The address of one of the tenant's rows."""
    if noun == "tokens":
        return tenant.people["member"].user.api_tokens.get().uid
    named = {
        "alerts": tenant.alert,
        "cards": tenant.hold.card,
        "delegations": tenant.delegation,
        "environments": tenant.environment,
        "found-work": world.found,
        "group-roles": world.group_role,
        "invitations": tenant.invitation,
        "join-tokens": world.join_token,
        "leases": tenant.lease,
        "memberships": tenant.membership,
        "nodes": world.node,
        "organizations": tenant.organization,
        "partitions": world.partition,
        "placements": tenant.placement,
        "policies": world.policy,
        "prices": world.price,
        "projects": tenant.project,
        "cutbacks": tenant.cutback,
        "quota-plans": tenant.planned_quota,
        "quotas": tenant.quota,
        "registries": world.registry,
        "requests": tenant.request,
        "reservations": tenant.reservation,
        "schedules": tenant.schedule,
        "seats": world.seats,
        "service-accounts": tenant.account,
        "secrets": tenant.secret,
        "slices": tenant.slice,
        "storage": tenant.storage,
        "templates": world.version.template,
        "usage": tenant.usage,
        "users": tenant.owner,
        "windows": world.window,
        "workloads": tenant.workload,
    }
    return str(tenant.event_id) if noun == "events" else named[noun].uid


def body_of(world, noun, action):
    """A body with which the action may go through, as far as rights are concerned."""
    if (noun, action) == ("leases", "recall"):
        soon = world.own.lease.valid[1] - timedelta(minutes=30)
        return {"ends_at": soon.isoformat(), "reason": "cards are needed"}
    if (noun, action) == ("workloads", "create"):
        return world.job()
    if (noun, action) == ("schedules", "create"):
        return {**world.job(), "cron": "0 2 * * *"}
    if (noun, action) in {("requests", "create"), ("reservations", "create")}:
        return {"project": "vision", "template": world.version.template.slug, **HOUR}
    if (noun, action) == ("quotas", "undo"):
        return {"change": world.own.quota_change, "reason": "too much"}
    if (noun, action) == ("quota-drifts", "repair"):
        return {"quota": world.drifted.uid}
    return BODIES.get((noun, action), {})


HOUR = {"duration_seconds": 3600}


def tried(who, method, path, body):
    """The status of a call whose effects are taken back."""
    with transaction.atomic():
        answer = who(method, path, None if method in {"GET", "DELETE"} else body)
        transaction.set_rollback(True)
    assert answer.status_code < 500, answer.content
    return answer.status_code


def test_every_endpoint_is_in_the_tables():
    assert {(n, a) for n, a, _, _ in VERBS} == set(DOES)
    assert {noun for noun, *_ in ROWS} == set(SEES)
    assert {noun for noun, *_ in LISTED} == set(SEES) | UNADDRESSED
    assert all(issubclass(door, Door) for _, door, _ in router.registry)


@pytest.mark.parametrize(("noun", "action", "method", "path"), ROWS)
def test_a_row_is_read_by_its_people_and_is_nothing_to_others(world, noun, action, method, path):
    for role in ROLES:
        own = path.replace("{lookup}", address_of(world, world.own, noun))
        status = world.by(role).get(own).status_code
        refused = 403 if noun in BARRED else 404
        assert status == (200 if role in SEES[noun] else refused), (role, own)
        if noun in SHARED | BARRED or role in {"platform_admin", "stranger"}:
            continue
        others = path.replace("{lookup}", address_of(world, world.other, noun))
        assert world.by(role).get(others).status_code == 404, (role, others)


@pytest.mark.parametrize(("noun", "action", "method", "path"), LISTED)
def test_a_list_shows_nobody_another_tenants_rows(world, noun, action, method, path):
    query = f"?workload={world.own.workload.uid}" if noun == "samples" else ""
    for role in ROLES:
        answer = world.by(role).get(path + query)
        if noun in BARRED and role not in ADMIN:
            assert answer.status_code == 403
            continue
        if noun == "samples" and role not in WORK:
            assert answer.status_code == 404
            continue
        assert answer.status_code == 200, (role, answer.content)
        if noun in SHARED | UNADDRESSED | BARRED | {"tokens"} or role in ADMIN:
            continue
        shown = {str(row.get("uid", row.get("id"))) for row in answer.json()["results"]}
        own, other = (address_of(world, t, noun) for t in (world.own, world.other))
        if role == "stranger":
            own, other = other, own
        assert other not in shown, role
        sees = "member" if role == "stranger" else role
        assert (own in shown) == (sees in SEES[noun]), role


@pytest.mark.parametrize(("noun", "action", "method", "path"), VERBS)
def test_a_verb_is_for_those_who_may_and_another_tenants_thing_is_not_there(
    world, noun, action, method, path
):
    body = body_of(world, noun, action)
    for role in ROLES:
        who = world.by(role)
        addressed = "{lookup}" in path
        own = path.replace("{lookup}", address_of(world, world.own, noun)) if addressed else path
        status = tried(who, method, own, body)
        if role in DOES[noun, action]:
            assert status not in {401, 403, 404}, (role, own, status)
        elif addressed:
            known = role in SEES[noun] or noun in BARRED
            assert status == (403 if known else 404), (role, own, status)
        else:
            assert status in {400, 403}, (role, own, status)
        if not addressed or noun in SHARED | BARRED or role in {"platform_admin", "stranger"}:
            continue
        others = path.replace("{lookup}", address_of(world, world.other, noun))
        assert tried(who, method, others, body) == 404, (role, others)


@pytest.mark.parametrize(("noun", "action", "method", "path"), ENDPOINTS)
def test_nobody_without_a_login_gets_further_than_401(world, noun, action, method, path):
    address = path.replace("{lookup}", "0" if noun == "events" else world.own.workload.uid)
    answer = Client().generic(method, f"/api/v1/{address}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.django_db(transaction=True)
def test_a_log_is_read_by_the_people_of_its_project_only(world):
    for role in ROLES:
        for tenant in (world.own, world.other):
            answer = world.by(role).get(f"workloads/{tenant.workload.uid}/logs")
            mine = role == "platform_admin" or (role == "stranger") == (tenant is world.other)
            seen = mine and role != "billing_reader"
            assert answer.status_code == (200 if seen else 404), (role, tenant.project.slug)
            if seen:
                assert text_of(answer) == ""
    path = f"/api/v1/workloads/{world.own.workload.uid}/logs"
    assert Client().get(path).status_code == 401


def test_a_project_admin_of_one_tenant_is_nobody_in_the_other(world):
    lead = world.by("lead")
    answer = lead.post(f"requests/{world.other.request.uid}/approve")
    assert answer.status_code == 404
    world.other.request.refresh_from_db()
    assert world.other.request.state == "submitted"


@pytest.mark.handmade_books
def test_a_slice_names_its_holder_only_to_those_who_may_know(world):
    Hold.objects.filter(pk=world.own.hold.pk).update(held=(world.own.hold.held.lower, None))
    done = world.own.placement.attempt.workload.uid
    for role, named in (("member", done), ("stranger", None), ("platform_admin", done)):
        row = world.by(role).get(f"slices/{world.own.slice.uid}").json()
        assert (row["held"], row["held_by"]) == (True, named), role
