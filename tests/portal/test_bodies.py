"""Bodies over the limit never reach Django."""

import json

import pytest

from portal.bodies import BodyLimit


class Server:
    """A client's body in parts, and what the application answers."""

    def __init__(self, *parts: bytes, declared: int | None = None) -> None:
        self.parts = list(parts)
        self.sent = []
        headers = [] if declared is None else [(b"content-length", str(declared).encode())]
        self.scope = {"type": "http", "headers": headers}

    async def receive(self):
        body = self.parts.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(self.parts)}

    async def send(self, message):
        self.sent.append(message)


async def reads_all(scope, receive, send):
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.mark.parametrize(
    ("server", "status"),
    [
        (Server(b"12345", b"67890"), 200),
        (Server(b"12345", b"678901"), 413),
        (Server(b"1", declared=11), 413),
        (Server(b"1", declared=10), 200),
    ],
    ids=["within", "over, in parts", "declared over", "declared within"],
)
async def test_ten_bytes_are_ten_bytes(server, status):
    await BodyLimit(reads_all, most=10)(server.scope, server.receive, server.send)
    assert server.sent[0]["status"] == status
    if status == 413:
        assert json.loads(server.sent[1]["body"])["code"] == "too_large"


async def test_a_body_that_grows_after_the_answer_began_ends_the_call():
    async def early(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await reads_all(scope, receive, send)

    server = Server(b"12345", b"678901")
    await BodyLimit(early, most=10)(server.scope, server.receive, server.send)
    assert [m["type"] for m in server.sent] == ["http.response.start"]


async def test_sockets_pass():
    passed = []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    await BodyLimit(app)({"type": "websocket"}, None, None)
    assert passed == ["websocket"]
