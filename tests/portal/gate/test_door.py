"""The nodes' own way in: as the portal's own door answers, without what pages need."""

import asyncio
import json
import threading

import pytest
from django.db import connection
from django.test import Client

from portal.gate import door
from portal.gate.door import GateDoor


class Caller:
    """One request as the server hands it over, and what it got."""

    def __init__(self, path, body=b"", *, method="POST", headers=(), pieces=2):
        size = max(len(body) // pieces, 1)
        cut = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
        self.waiting = [
            {"type": "http.request", "body": one, "more_body": n < len(cut) - 1}
            for n, one in enumerate(cut)
        ]
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": b"",
            "headers": [(k.encode(), v.encode()) for k, v in headers],
            "client": ("10.1.2.3", 1),
            "server": ("portal", 80),
        }
        self.sent = []

    async def receive(self):
        return self.waiting.pop(0)

    async def send(self, message):
        self.sent.append(message)

    async def ask(self, app):
        await app(self.scope, self.receive, self.send)
        return self

    @property
    def status(self):
        return self.sent[0]["status"]

    @property
    def said(self):
        return json.loads(self.sent[1]["body"])

    @property
    def headers(self):
        return dict(self.sent[0]["headers"])


async def pages(scope, receive, send):
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


@pytest.fixture
def gate():
    made = GateDoor(pages)
    yield made
    # Each of its threads had a connection of its own.
    line = threading.Barrier(door.THREADS)

    def closed():
        line.wait(10)
        connection.close()

    for one in [made._threads.submit(closed) for _ in range(door.THREADS)]:
        one.result(20)
    made._threads.shutdown()


def ask(gate, *words, **more):
    return asyncio.run(Caller(*words, **more).ask(gate))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["report", "samples", "hello", "logs"])
def test_a_stranger_gets_the_answer_that_the_portals_own_door_gives(gate, path):
    here = ask(gate, f"/gate/v1/{path}", b"{}", headers=[("authorization", "Bearer x")])
    there = Client().post(f"/gate/v1/{path}", b"{}", "application/json")
    assert (here.status, here.said["code"]) == (401, "node_refused")
    assert (here.status, here.said) == (there.status_code, there.json())
    assert here.headers[b"content-length"] == str(len(here.sent[1]["body"])).encode()


@pytest.mark.django_db(transaction=True)
def test_the_request_id_that_was_given_comes_back(gate):
    here = ask(gate, "/gate/v1/report", b"{}", headers=[("x-request-id", "r-1")])
    assert here.headers[b"x-request-id"] == b"r-1"


def test_anything_else_goes_on_to_the_portal(gate):
    assert ask(gate, "/gate/v2/report").status == 299
    assert ask(gate, "/", method="GET").status == 299


def test_an_address_that_is_not_there_and_a_wrong_method_are_refused(gate):
    assert (ask(gate, "/gate/v1/nothing").status, ask(gate, "/gate/v1/").status) == (404, 404)
    assert ask(gate, "/gate/v1/report", method="GET").status == 405


def test_a_fault_of_ours_is_an_answer_and_no_end_of_the_server(gate, monkeypatch):
    def broken(request):
        raise ValueError("broken")

    monkeypatch.setattr(door, "_found", broken)
    here = ask(gate, "/gate/v1/report", b"{}")
    assert (here.status, here.said["code"]) == (500, "error")


def test_what_waited_longer_than_its_node_does_is_not_worked_on():
    moments = iter([0.0, door.LATE_S + 1])
    late = GateDoor(pages, clock=lambda: next(moments))
    here = ask(late, "/gate/v1/report", b"{}")
    assert (here.status, here.said["code"]) == (503, "overloaded")
    late._threads.shutdown()


def test_a_caller_that_hangs_up_before_its_body_is_whole_gets_no_answer(gate):
    caller = Caller("/gate/v1/report", b"{}")
    caller.waiting = [{"type": "http.disconnect"}]
    assert asyncio.run(caller.ask(gate)).sent == []
