"""What is open to a notebook ends soon after its guest may no longer be there."""

import asyncio
from types import SimpleNamespace

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError
from websockets.asyncio.server import unix_serve

from portal.gateway import guests
from tests.portal.gateway.visits import SOON_S, Visit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]


@pytest.fixture
def visit(tmp_path, monkeypatch):
    monkeypatch.setattr(guests, "AGAIN_S", 0.05)
    monkeypatch.setattr(guests, "KNOWN_S", 0.05)
    return Visit(str(tmp_path / "s"))


async def echo(socket):
    """A shell that says back what it is told."""
    async for body in socket:
        await socket.send(body)


async def endless(reader, writer):
    """An answer that never ends."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    await reader.read()
    writer.close()


def test_it_is_noticed_within_ten_seconds():
    assert guests.AGAIN_S + guests.KNOWN_S < SOON_S


@pytest.mark.parametrize("how", ["disabled", "logged out"])
async def test_an_open_shell_is_closed_when_its_guest_may_no_longer_be_there(visit, how):
    ends = {
        "disabled": visit.disable,
        "logged out": visit.session.delete,
    }
    async with unix_serve(echo, visit.path):
        call = visit.call("websocket", {"type": "websocket.connect"})
        assert (await visit.next())["type"] == "websocket.accept"
        await visit.welcome(times=3)
        visit.said.put_nowait({"type": "websocket.receive", "text": "ls"})
        assert (await visit.next()).get("text") == "ls"
        await sync_to_async(ends[how])()
        assert await visit.next() == {"type": "websocket.close", "code": 4403}
        async with asyncio.timeout(SOON_S):
            await call


async def test_a_long_answer_is_cut_off_when_its_guest_may_no_longer_be_there(visit):
    async with await asyncio.start_unix_server(endless, visit.path):
        call = visit.call("http", {"type": "http.request"})
        assert (await visit.next())["status"] == 200
        assert (await visit.next())["body"] == b"a"
        await sync_to_async(visit.disable)()
        async with asyncio.timeout(SOON_S):
            await call
        assert visit.heard.empty()  # it must not look whole


async def test_a_long_answer_ends_when_the_browser_is_gone(visit):
    async with await asyncio.start_unix_server(endless, visit.path):
        call = visit.call("http", {"type": "http.request"})
        assert (await visit.next())["status"] == 200
        assert visit.carried == 1
        visit.said.put_nowait({"type": "http.disconnect"})
        async with asyncio.timeout(SOON_S):
            await call
        assert visit.carried == 0


async def test_books_that_are_away_for_a_moment_throw_nobody_out(visit, monkeypatch):
    asked = []

    async def answer(cookie, uid):
        asked.append(uid)
        if len(asked) == 1:
            raise OperationalError

    gateway = visit.gateway
    guest = SimpleNamespace(workload=visit.work.uid, attempt=visit.run.uid)
    monkeypatch.setattr(gateway.guests, "of", answer)
    async with asyncio.timeout(SOON_S):
        await gateway.guests.left("cookie", guest)
    assert len(asked) == 2
