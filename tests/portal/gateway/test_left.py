"""What is open to a notebook ends soon after its guest may no longer be there."""

import asyncio
from types import SimpleNamespace

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError
from websockets.asyncio.server import unix_serve

from nodeagent.protocol.notebooks import base_path
from pool.events import SYSTEM
from pool.models import Attempt
from pool.services.users import user_disable
from portal.access.passes import ticket_issue, ticket_spend
from portal.gateway import guests
from portal.gateway.door import Gateway
from tests import rows

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

SOON_S = 10.0


class Visit:
    """An owner inside of a running notebook, whose own server listens at `path`."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.session = SessionStore()
        self.session.create()
        self.work = rows.workload(kind="notebook", command=["jupyter", "lab"], state="running")
        self.run = Attempt.objects.create(
            workload=self.work, number=1, node=rows.node(), state="open"
        )
        plain = ticket_issue(
            workload=self.work, user=self.work.owner, session_key=self.session.session_key
        )
        self.cookie = ticket_spend(plain=plain, uid=self.work.uid)
        self.gateway = Gateway()
        self.gateway.upstreams.of = self.upstream
        self.said: asyncio.Queue = asyncio.Queue()
        self.heard: asyncio.Queue = asyncio.Queue()

    async def upstream(self, guest):
        """The notebook itself: no node lies between."""
        http = httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=self.path), timeout=None)
        return SimpleNamespace(path=self.path, attempt=guest.attempt, http=http)

    def call(self, kind, first):
        """Begin one call of the browser."""
        self.said.put_nowait(first)
        path = f"{base_path(self.work.uid)}terminals"
        pairs = {"cookie": f"gpn={self.cookie}", "host": "x", "origin": "http://x"}
        scope = {
            "type": kind,
            "scheme": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(key.encode(), value.encode()) for key, value in pairs.items()],
        }
        return asyncio.ensure_future(self.gateway(scope, self.said.get, self.heard.put))

    async def next(self):
        """What the browser hears next."""
        async with asyncio.timeout(SOON_S):
            return await self.heard.get()

    async def welcome(self, times):
        """It was asked so often, and each time they may be there."""
        known, asked = self.gateway.guests, (self.cookie, self.work.uid)
        async with asyncio.timeout(SOON_S):
            for _ in range(times):
                before = known._known[asked]
                while known._known[asked] == before:
                    await asyncio.sleep(0.02)
                assert known._known[asked][1] is not None

    def disable(self):
        """The owner is let go."""
        user_disable(user=self.work.owner, actor=SYSTEM)


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
