"""What a notebook's own server says, however long or broken, never fills the gateway."""

import asyncio
import tracemalloc

import pytest
from websockets.asyncio.server import unix_serve

from portal.gateway import proxy
from tests.portal.gateway.visits import SOON_S, Visit

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.handmade_books]

MIB = 1024 * 1024
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n%s\r\n"
PART = b"%x\r\n%s\r\n" % (MIB, b"a" * MIB)


@pytest.fixture
def visit(tmp_path):
    return Visit(str(tmp_path / "s"))


def answering(*said, more=b""):
    """A server that says this to whoever asks, and hangs up."""

    async def server(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        for part in (HTML % more, *said):
            writer.write(part)
            await writer.drain()
        writer.close()

    return server


async def endless(reader, writer):
    """A page that goes on as long as somebody reads."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(HTML % b"")
    try:
        while True:
            writer.write(PART)
            await writer.drain()
    except ConnectionError:
        writer.close()


async def test_a_page_gets_the_banner_s_script(visit):
    page = b"<html><head><title>Lab</title></head></html>"
    server = answering(b"%x\r\n%s\r\n0\r\n\r\n" % (len(page), page))
    async with await asyncio.start_unix_server(server, visit.path):
        call = visit.call("http", {"type": "http.request"}, "lab")
        start, parts = await visit.page()
        await call
    body = b"".join(parts)
    assert b"gpupool/banner.js" in body
    assert (b"content-length", str(len(body)).encode()) in start["headers"]


async def test_a_page_that_is_too_long_goes_as_it_comes(visit):
    server = answering(*[PART] * 6, b"0\r\n\r\n")
    async with await asyncio.start_unix_server(server, visit.path):
        call = visit.call("http", {"type": "http.request"}, "lab")
        _start, parts = await visit.page()
        await call
    assert b"".join(parts) == b"a" * 6 * MIB
    assert max(map(len, parts)) <= proxy.LARGEST_PAGE + MIB


async def test_an_endless_page_is_never_held_whole(visit):
    visit.heard = asyncio.Queue(maxsize=1)
    async with await asyncio.start_unix_server(endless, visit.path):
        tracemalloc.start()
        call = visit.call("http", {"type": "http.request"}, "lab")
        assert (await visit.next())["status"] == 200
        passed = 0
        while passed < 64 * MIB:
            passed += len((await visit.next())["body"])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    assert peak < 4 * proxy.LARGEST_PAGE


async def test_a_packed_page_is_neither_unpacked_nor_changed(visit):
    server = answering(b"3\r\n\x1f\x8bX\r\n0\r\n\r\n", more=b"Content-Encoding: gzip\r\n")
    async with await asyncio.start_unix_server(server, visit.path):
        call = visit.call("http", {"type": "http.request"}, "lab")
        start, parts = await visit.page()
        await call
    assert b"".join(parts) == b"\x1f\x8bX"
    assert (b"content-encoding", b"gzip") in start["headers"]


async def test_an_answer_that_breaks_off_is_cut_and_does_not_look_whole(visit):
    server = answering(b"5\r\nhello\r\n", b"not a length\r\n")
    async with await asyncio.start_unix_server(server, visit.path):
        call = visit.call("http", {"type": "http.request"}, "files/x.html")
        assert (await visit.next())["status"] == 200
        async with asyncio.timeout(SOON_S):
            await call
    left = []
    while not visit.heard.empty():
        left.append(visit.heard.get_nowait())
    assert all(part.get("more_body") for part in left)


async def test_a_page_that_breaks_off_before_anything_was_sent_is_a_plain_no(visit):
    server = answering(b"5\r\nhello\r\n", b"not a length\r\n")
    async with await asyncio.start_unix_server(server, visit.path):
        call = visit.call("http", {"type": "http.request"}, "lab")
        assert (await visit.next())["status"] == 502
        await call


async def test_a_message_that_is_too_long_ends_its_socket_alone(visit, monkeypatch):
    monkeypatch.setattr(proxy, "LARGEST_MESSAGE", MIB)

    async def talks(socket):
        await socket.send("short")
        await socket.send(b"a" * 2 * MIB)
        await socket.wait_closed()

    async with unix_serve(talks, visit.path):
        call = visit.call("websocket", {"type": "websocket.connect"})
        assert (await visit.next())["type"] == "websocket.accept"
        assert (await visit.next()).get("text") == "short"
        over = await visit.next()
        assert (over["type"], over["code"]) == ("websocket.close", 1009)
        async with asyncio.timeout(SOON_S):
            await call


async def test_one_notebook_opens_only_so_many_sockets(visit):
    visit.room = False
    call = visit.call("websocket", {"type": "websocket.connect"})
    assert await visit.next() == {"type": "websocket.close", "code": proxy.FULL}
    await call
