"""Every door of the web process × every role: sockets, and what is said at the nodes' gate.

Generated from the routers: a socket or gate address that stands in no table fails here.
"""

import re
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import Client

from portal.asgi import application
from portal.gate.urls import urlpatterns as gate_urls
from portal.pages.panels import OWN, panel_key
from tests.portal.live.wire import Wire
from tests.portal.world import ROLES, World

SOCKETS = {"gate/v1/wake": "nodes", "live/": "people"}
"""Who opens which socket of the web process: nodes by their credential, people by their session."""

GATE = frozenset({"join", "hello", "desired", "report", "samples", "logs"})
"""All that nodes may say; none of it is a person's to say."""

THINGS = ("workload", "load", "log", "request", "node", "card", "use")
TOPICS = frozenset({*OWN, "bell", "pool", "queue", *THINGS})
"""Live topics that pages name; those with a thing are tried for every role with the pages."""

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@pytest.fixture
def world(transactional_db, valkey):
    return World()


@sync_to_async
def keys_of(world, role):
    """Both keys of a person of that role: the cookie of a browser and the token of a script."""
    who = world.by(role)
    client = Client()
    client.force_login(who.user, backend=BACKEND)
    cookie = client.cookies["sessionid"].value
    return (b"cookie", f"sessionid={cookie}".encode()), (
        b"authorization",
        f"Bearer {who.token}".encode(),
    )


async def opens(path, *headers):
    """Whether that socket opens from a page of our own."""
    own = [(b"origin", b"http://testserver"), (b"host", b"testserver")]
    wire = Wire(application, f"/{path}", [*own, *headers])
    accepted = await wire.connect()
    if accepted:
        await wire.hang_up()
    return accepted


def test_every_socket_of_the_router_is_in_the_table():
    routes = application.application_mapping["websocket"].routes
    assert {str(one.pattern) for one in routes} == set(SOCKETS)


def test_every_address_of_the_gate_is_in_the_table():
    assert {str(one.pattern) for one in gate_urls} == GATE


def test_every_live_topic_that_a_page_names_is_in_the_table():
    said = set()
    for folder in settings.TEMPLATES[0]["DIRS"]:
        for file in Path(folder).rglob("*.html"):
            for topic in re.findall(
                r'data-(?:live|live-poke|live-use|log)="([^"]+)"', file.read_text()
            ):
                said.add(re.split(r"[:{ ]", topic)[0] or topic)
    assert said
    assert {one for one in said if one} <= TOPICS


@pytest.mark.parametrize("role", ROLES)
async def test_a_socket_opens_to_those_whom_it_is_for_and_to_nobody_else(world, role):
    cookie, token = await keys_of(world, role)
    for path, whose in SOCKETS.items():
        people = whose == "people"
        assert await opens(path, cookie) is people, (role, path)
        assert not await opens(path, token), (role, path)
        assert not await opens(path), path


@pytest.mark.parametrize("role", ROLES)
def test_the_gate_of_nodes_hears_no_person_whatever_their_role(world, role):
    who = world.by(role)
    browser = Client()
    browser.force_login(who.user, backend=BACKEND)
    for word in GATE - {"join"}:
        method = "GET" if word == "desired" else "POST"
        for client, headers in (
            (who.client, {"Authorization": f"Bearer {who.token}"}),
            (browser, {}),
        ):
            answer = client.generic(
                method,
                f"/gate/v1/{word}",
                b"{}",
                content_type="application/json",
                headers=headers,
            )
            assert (answer.status_code, answer.json()["code"]) == (401, "node_refused")


def test_a_node_is_told_nothing_that_pages_show(world):
    """Its credential is neither a session nor a token, at no address of pages and REST."""
    for path in ("/", "/api/v1/whoami", f"/workloads/{world.own.workload.uid}/"):
        answer = Client(headers={"Authorization": "Bearer key of node-a"}).get(path)
        assert answer.status_code in {302, 401}


@pytest.mark.parametrize("topic", sorted(TOPICS - set(OWN)))
def test_a_topic_without_its_thing_is_nobodys(world, topic):
    for role in ROLES:
        key = panel_key(world.by(role).user, f"{topic}:nothing")
        assert key is None, (role, topic)
