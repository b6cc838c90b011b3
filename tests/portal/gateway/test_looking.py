"""Others look at a shared notebook's files through the gateway: they read, and nothing else."""

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.backends.db import SessionStore

from nodeagent.protocol.notebooks import base_path
from pool.clock import now
from pool.errors import Forbidden
from pool.events import SYSTEM, Actor
from pool.models import Membership, Notebook
from pool.services.notebooks.shares import notebook_share, notebook_unshare
from pool.services.users import user_disable
from portal.access.passes import guest_of, ticket_issue, ticket_spend
from portal.gateway import guests
from tests import rows
from tests.portal.gateway.visits import Visit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

FILES = {
    "": {"type": "directory", "content": [{"name": "a.ipynb", "type": "notebook", "size": 9}]},
    "a.ipynb": {
        "type": "notebook",
        "size": 9,
        "content": {"cells": [{"cell_type": "code", "source": "secret = 42", "outputs": []}]},
    },
    "large.bin": {"type": "file", "size": 5 * 1024 * 1024, "content": "x"},
}


class Jupyter:
    """The contents of a notebook's server, which remembers what it was asked."""

    def __init__(self):
        self.asked = []

    async def __call__(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, target, _ = head.split(" ", 2)
        self.asked.append((method, target))
        name = target.partition("?")[0].partition("/api/contents/")[2]
        found = FILES.get(name)
        status = "200 OK" if found else "404 Not Found"
        body = json.dumps(found or {"message": "no"}).encode()
        told = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(told.encode() + body)
        await writer.drain()
        writer.close()


@pytest.fixture
def visit(tmp_path, monkeypatch):
    monkeypatch.setattr(guests, "KNOWN_S", 0.0)
    monkeypatch.setattr(guests, "LOOK_S", 0.0)
    made = Visit(str(tmp_path / "s"))
    owner = made.work.owner
    Membership.objects.get_or_create(user=owner, project=made.work.project, role="member")
    notebook_share(
        workload=made.work, user=owner, until=now() + timedelta(days=1), actor=Actor.of(owner)
    )
    Notebook.objects.create(workload=made.work, attempt=made.run)
    made.viewer = rows.member(made.work.project, role="viewer")
    made.own_cookie = made.cookie
    session = SessionStore()
    session.create()
    plain = ticket_issue(
        workload=made.work, user=made.viewer, session_key=session.session_key, reads=True
    )
    assert ticket_spend(plain=plain, uid=made.work.uid) is None, "it opens no notebook"
    made.cookie = ticket_spend(plain=plain, uid=made.work.uid, reads=True)
    return made


@asynccontextmanager
async def served(visit):
    server = Jupyter()
    async with await asyncio.start_unix_server(server, visit.path):
        yield server


async def ask(visit, path, method="GET", query=b"", base=None):
    """One call of the viewer's browser: status, headers, body."""
    heard = []

    async def send(message):
        heard.append(message)

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    whole = f"{base or f'/look/{visit.work.uid}/'}{path}"
    pairs = {"cookie": f"gpn={visit.cookie}", "host": "x", "origin": "http://x"}
    scope = {"type": "http", "scheme": "http", "method": method, "path": whole}
    scope |= {"raw_path": whole.encode(), "query_string": query}
    scope["headers"] = [(key.encode(), value.encode()) for key, value in pairs.items()]
    await visit.gateway(scope, receive, send)
    body = b"".join(one.get("body", b"") for one in heard[1:])
    return heard[0]["status"], dict(heard[0]["headers"]), body.decode()


async def test_a_member_of_the_project_reads_folders_and_notebooks(visit):
    async with served(visit) as server:
        status, pairs, page = await ask(visit, "")
        assert (status, "a.ipynb" in page) == (200, True)
        policy = pairs[b"content-security-policy"].decode()
        assert "default-src 'none'" in policy
        assert "sandbox" in policy
        assert "script" not in policy
        status, _pairs, page = await ask(visit, "a.ipynb")
        assert (status, "secret = 42" in page) == (200, True)
        status, pairs, body = await ask(visit, "a.ipynb", query=b"keep")
        assert pairs[b"content-disposition"].startswith(b"attachment")
        assert json.loads(body)["cells"][0]["source"] == "secret = 42"
        _status, _pairs, page = await ask(visit, "large.bin")
        assert "more than 4 MiB" in page
        assert (await ask(visit, "none.txt"))[0] == 404
    assert {method for method, _ in server.asked} == {"GET"}
    assert all(f"{base_path(visit.work.uid)}api/contents/" in path for _, path in server.asked)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
async def test_nothing_is_written(visit, method):
    async with served(visit) as server:
        assert (await ask(visit, "a.ipynb", method))[0] == 405
    assert server.asked == []


@pytest.mark.parametrize(
    "path", ["../kernels", ".ssh/id", "a/../../api/terminals", "a/%2e./b/../c", "..%2f..", "//x"]
)
async def test_no_way_leads_out_of_the_files(visit, path):
    async with served(visit) as server:
        assert (await ask(visit, path))[0] == 404
    assert all("/api/contents/" in one and ".." not in one for _, one in server.asked)


@pytest.mark.parametrize("path", ["lab", "api/kernels", "api/contents/a.ipynb", ".gpupool/state"])
async def test_the_notebook_itself_stays_shut(visit, path):
    async with served(visit) as server:
        assert (await ask(visit, path, base=base_path(visit.work.uid)))[0] == 403
        for name in ("terminals/websocket/1", "api/kernels/1/channels"):
            call = visit.call("websocket", {"type": "websocket.connect"}, name)
            assert await visit.next() == {"type": "websocket.close", "code": 4403}
            await call
    assert server.asked == []


async def test_no_socket_is_opened_below_the_pages(visit):
    heard = []
    scope = {"type": "websocket", "scheme": "ws", "path": f"/look/{visit.work.uid}/x"}
    scope |= {"query_string": b"", "headers": [(b"cookie", f"gpn={visit.cookie}".encode())]}

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        heard.append(message)

    await visit.gateway(scope, receive, send)
    assert heard == [{"type": "websocket.close", "code": 4403}]


async def test_looking_is_no_use_of_it_but_is_remembered(visit):
    async with served(visit):
        await ask(visit, "")
    row = await Notebook.objects.aget(workload=visit.work)
    assert row.last_input_at is None
    assert row.viewed_at is not None


async def test_who_looks_too_often_waits_or_is_told_so(visit, monkeypatch):
    monkeypatch.setattr(guests, "LOOK_S", 10.0)
    async with served(visit):
        assert (await ask(visit, ""))[0] == 200
        assert (await ask(visit, ""))[0] == 429


async def test_while_it_does_not_run_the_page_says_so(visit):
    await sync_to_async(visit.run.delete)()
    status, _pairs, page = await ask(visit, "")
    assert (status, "does not run now" in page) == (409, True)


async def test_a_server_that_is_gone_is_told_of(visit):
    status, _pairs, page = await ask(visit, "")
    assert (status, "does not answer" in page) == (502, True)


async def test_the_style_is_everybody_s(visit):
    visit.cookie = ""
    status, pairs, _body = await ask(visit, "look.css", base="/")
    assert (status, pairs[b"content-type"]) == (200, b"text/css; charset=utf-8")


def test_the_share_ends_the_look():
    work = rows.workload(kind="notebook", command=["jupyter", "lab"], state="running")
    owner, viewer = work.owner, rows.member(work.project, role="viewer")
    Membership.objects.get_or_create(user=owner, project=work.project, role="member")
    stranger = rows.member(rows.project(slug="elsewhere"), role="lead")
    session = SessionStore()
    session.create()
    key = session.session_key

    def may_look(user):
        try:
            return ticket_issue(workload=work, user=user, session_key=key, reads=True)
        except Forbidden:
            return None

    assert may_look(viewer) is None
    until = now() + timedelta(days=1)
    made = notebook_share(workload=work, user=owner, until=until, actor=SYSTEM)
    assert may_look(stranger) is None
    cookie = ticket_spend(plain=may_look(viewer), uid=work.uid, reads=True)
    assert guest_of(cookie=cookie, uid=work.uid, reads=True).user == viewer.pk
    assert guest_of(cookie=cookie, uid=work.uid) is None

    made.until = now() - timedelta(seconds=1)
    made.save()
    assert guest_of(cookie=cookie, uid=work.uid, reads=True) is None
    notebook_share(workload=work, user=owner, until=until, actor=SYSTEM)
    assert guest_of(cookie=cookie, uid=work.uid, reads=True) is not None
    notebook_unshare(workload=work, actor=SYSTEM)
    assert guest_of(cookie=cookie, uid=work.uid, reads=True) is None
    notebook_share(workload=work, user=owner, until=until, actor=SYSTEM)
    user_disable(user=owner, actor=SYSTEM)
    assert guest_of(cookie=cookie, uid=work.uid, reads=True) is None
