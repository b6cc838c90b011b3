"""Every endpoint × every role × one's own and another tenant's things, from the router itself.

An endpoint that is not in the tables (rights.py) fails here, so that none can be forgotten.
"""

import pytest
from django.db import transaction
from django.test import Client

from pool.models import Hold
from portal.api.door import Door
from portal.api.router import router
from tests.portal.api.bodies import address_of, body_of
from tests.portal.api.rights import (
    ADMIN,
    BARRED,
    DOES,
    LISTS,
    SEES,
    SHARED,
    UNADDRESSED,
    WORK,
)
from tests.portal.callers import text_of
from tests.portal.world import ROLES


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
