"""Browsers' sockets, through the whole ASGI application and the real channel layer."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest
from asgiref.sync import sync_to_async
from channels.routing import URLRouter
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.urls import path

from nodeagent.protocol.samples import LogBatch, LogChunk
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.models import Attempt, Membership, Workload
from pool.services.logs import logs_take
from pool.services.workloads import workload_hold, workload_stop
from portal.asgi import application
from portal.live import reading
from portal.live.routing import browser_door
from tests.portal.live.wire import Wire

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("valkey")]

BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


def cookie_of(user) -> str:
    """The session of somebody who logged in."""
    client = Client()
    client.force_login(user, backend=BACKEND)
    return client.cookies["sessionid"].value


class Browser:
    """One socket of one person."""

    def __init__(self, session: str = "", origin: str = "http://testserver") -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"testserver")]
        if session:
            headers.append((b"cookie", f"sessionid={session}".encode()))
        self.session = session
        self.headers = headers
        self.wire = Wire(application, "/live/", headers)

    async def say(self, **message):
        await self.wire.say(json.dumps(message))

    async def hear(self, topic: str):
        """The next message of the topic."""
        while True:
            said = json.loads(await self.wire.hear())
            if said.get("topic") == topic:
                return said

    async def __aenter__(self) -> "Browser":
        assert await self.wire.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.wire.hang_up()


@pytest.fixture
def people(world):
    """Sessions by role."""
    return {
        role: cookie_of(world.by(role).user) for role in ("member", "lead", "viewer", "stranger")
    }


async def test_a_page_is_sent_the_picture_at_once_and_again_when_it_changes(world, people):
    topic = f"workload:{world.own.workload.uid}"
    async with Browser(people["member"]) as browser:
        await browser.say(subscribe=[topic])
        first = await browser.hear(topic)
        await sync_to_async(workload_hold)(workload=world.own.workload, actor=SYSTEM)
        second = await browser.hear(topic)
    assert first["html"] != second["html"]
    assert second["event"] >= first["event"]


async def test_pages_that_come_back_all_at_once_are_drawn_for_together(world, people, monkeypatch):
    topic = f"workload:{world.own.workload.uid}"
    drawn = []
    draw = reading.panel_render

    def counted(user, asked):
        drawn.append(asked)
        return draw(user, asked)

    monkeypatch.setattr(reading, "panel_render", counted)
    async with AsyncExitStack() as pages:
        here = [await pages.enter_async_context(Browser(people["viewer"])) for _ in range(12)]
        await asyncio.gather(*(one.say(subscribe=[topic]) for one in here))
        said = await asyncio.gather(*(one.hear(topic) for one in here))
    assert {one["html"] for one in said} == {said[0]["html"]}
    assert len(drawn) <= 3


async def test_many_sockets_of_one_kind_are_drawn_for_once(world, people, monkeypatch):
    topic = f"workload:{world.own.workload.uid}"
    drawn = []
    draw = reading.panel_render

    def counted(user, asked):
        drawn.append(asked)
        return draw(user, asked)

    async with Browser(people["viewer"]) as a, Browser(people["viewer"]) as b:
        for browser in (a, b):
            await browser.say(subscribe=[topic])
            await browser.hear(topic)
        monkeypatch.setattr(reading, "panel_render", counted)
        await sync_to_async(workload_stop)(workload=world.own.workload, actor=SYSTEM)
        said = [await browser.hear(topic) for browser in (a, b)]
    assert said[0] == said[1]
    assert drawn == [topic]


async def test_who_comes_back_names_the_last_event_and_is_shown_what_happened_since(world, people):
    topic = f"workload:{world.own.workload.uid}"
    async with Browser(people["member"]) as browser:
        await browser.say(subscribe=[topic])
        before = await browser.hear(topic)
    await sync_to_async(workload_hold)(
        workload=world.own.workload, actor=SYSTEM, reason="while nobody looked"
    )
    after = before
    async with asyncio.timeout(20):
        while after["event"] == before["event"]:  # the number may be a moment old, no picture is
            async with Browser(people["member"]) as browser:
                await browser.say(subscribe=[topic], event=before["event"])
                after = await browser.hear(topic)
            assert "while nobody looked" in after["html"]
    assert after["event"] > before["event"]


async def test_what_is_not_ones_own_is_not_found_and_says_no_more(world, people):
    uid = world.own.workload.uid
    wanted = [f"workload:{uid}", f"log:{uid}", "nonsense", f"log:{uid}\x00", "workload:"]
    async with Browser(people["stranger"]) as browser:
        await browser.say(subscribe=wanted)
        for topic in wanted:
            assert await browser.hear(topic) == {"topic": topic, "error": "not_found"}


async def test_who_loses_the_membership_is_sent_nothing_more(world, people):
    topic = f"workload:{world.own.workload.uid}"

    @sync_to_async
    def removed():
        row = Membership.objects.get(user=world.by("viewer").user)
        Membership.objects.filter(pk=row.pk).delete()
        record(EventKind.MEMBERSHIP_CHANGED, row, actor=SYSTEM, project=world.own.project)

    async with Browser(people["viewer"]) as browser:
        await browser.say(subscribe=[topic])
        await browser.hear(topic)
        await removed()
        assert await browser.hear(topic) == {"topic": topic, "error": "not_found"}


async def test_a_login_that_is_over_ends_its_sockets(world, people):
    @sync_to_async
    def logged_out():
        SessionStore(people["member"]).delete()
        record(EventKind.MEMBERSHIP_CHANGED, world.own.membership, actor=SYSTEM)

    async with Browser(people["member"]) as browser:
        await browser.say(subscribe=["home"])
        await browser.hear("home")
        await logged_out()
        assert await browser.wire.closed() == 4401


@pytest.mark.parametrize("session", ["", "wrong" * 8], ids=["no session", "a session that is none"])
async def test_without_a_login_there_is_no_socket(world, session):
    assert not await Browser(session).wire.connect()


async def test_a_page_of_another_origin_gets_no_socket(world, people, settings):
    settings.ALLOWED_HOSTS = ["testserver"]
    for origin, welcome in (("http://testserver", True), ("http://evil.example", False)):
        browser = Browser(people["member"], origin)
        browser.wire = Wire(URLRouter([path("live/", browser_door())]), "/live/", browser.headers)
        assert await browser.wire.connect() is welcome
        await browser.wire.hang_up()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '"x"',
        '{"subscribe": "home"}',
        '{"subscribe": [1]}',
        '{"subscribe": [""]}',
        '{"cursor": []}',
        "x" * 20_000,
        "[" * 9_000,
    ],
)
async def test_rubbish_ends_the_socket_and_nothing_else(world, people, text):
    browser = Browser(people["member"])
    assert await browser.wire.connect()
    await browser.wire.say(text)
    assert await browser.wire.closed() == 4400
    await browser.wire.hang_up()


async def test_a_log_is_shown_from_its_tail_and_goes_on_while_it_is_written(world, people):
    run = await sync_to_async(Attempt.objects.create)(
        workload=world.own.workload, number=1, node=world.node, state="open"
    )
    topic = f"log:{world.own.workload.uid}"

    async def write(text, offset):
        piece = LogChunk(attempt=run.uid, rank=0, offset=offset, text=text, size=len(text))
        batch = LogBatch(sent_at=0.0, chunks=(piece,))
        await sync_to_async(logs_take)(node=world.node, batch=batch)

    await write("one\n", 0)
    async with Browser(people["viewer"]) as browser:
        await browser.say(subscribe=[topic])
        first = await browser.hear(topic)
        await write("two\n", 4)
        second = await browser.hear(topic)
        await sync_to_async(Workload.objects.filter(pk=world.own.workload.pk).update)(
            state="succeeded"
        )
        await write("three\n", 8)
        third = await browser.hear(topic)
    told = [(m["text"], m["offset"], m["attempt"], m["end"]) for m in (first, second, third)]
    assert told == [("one\n", 4, 1, False), ("two\n", 8, 1, False), ("three\n", 14, 1, True)]
    async with Browser(people["viewer"]) as again:
        await again.say(subscribe=[topic], cursor={topic: 8})
        assert (await again.hear(topic))["text"] == "three\n"
