"""A browser at the gateway, and the owner of a running notebook inside of it."""

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
from django.contrib.sessions.backends.db import SessionStore

from nodeagent.protocol.notebooks import base_path
from pool.events import SYSTEM
from pool.models import Attempt
from pool.services.users import user_disable
from portal.access.passes import ticket_issue, ticket_spend
from portal.gateway.door import Gateway
from tests import rows

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
        self.room = True
        self.carried = 0

    async def upstream(self, guest):
        """The notebook itself: no node lies between."""

        @contextmanager
        def in_use(*, socket=False):
            self.carried += 1
            try:
                yield self.room or not socket
            finally:
                self.carried -= 1

        http = httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=self.path), timeout=None)
        return SimpleNamespace(path=self.path, attempt=guest.attempt, http=http, in_use=in_use)

    def call(self, kind, first, name="terminals"):
        """Begin one call of the browser."""
        self.said.put_nowait(first)
        path = f"{base_path(self.work.uid)}{name}"
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

    async def page(self):
        """Everything of one answer: its status and headers, and its parts."""
        start, parts = await self.next(), []
        while (part := await self.next()).get("more_body"):
            parts.append(part["body"])
        return start, [*parts, part["body"]]

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
