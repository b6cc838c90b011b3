"""How soon the last of many browsers sees a change, beside a bare broadcast of the same bytes."""

import asyncio
import json
import os
import resource
import socket
import time
from itertools import cycle

import pytest
import uvicorn
from asgiref.sync import sync_to_async
from websockets.asyncio.client import connect
from websockets.asyncio.server import broadcast, serve

from pool.events import SYSTEM
from pool.services.workloads import workload_hold, workload_release
from portal.asgi import application
from portal.live import hub as hubs
from portal.live import reading
from tests.portal.live.test_sockets import cookie_of
from tests.portal.world import World

CLIENTS = tuple(int(n) for n in os.environ.get("BENCH_CLIENTS", "200,1000").split(","))
ROUNDS = 5
PATIENCE_S = 120.0
AT_A_TIME = 40
TOPIC = "home"
"""Rendered once for all sockets of a person, from a dozen queries."""


def _files(count):
    """Each client is two open sockets of this process."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(4 * count + 1000, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _last(clients):
    """The moment at which the last of them has heard one message, and its bytes."""
    heard = await asyncio.gather(*(one.recv(decode=False) for one in clients))
    return time.perf_counter(), heard[0]


async def _told(client, number):
    """The first message that knows of this event."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            body = await client.recv(decode=False)
            told = json.loads(body)
            assert "error" not in told, told
            if told.get("html") and told["event"] >= number:
                return body


async def _all_in(count, url, **how):
    """So many clients, a few dozen at a time: a thousand at once would only wait for each other."""
    gate = asyncio.Semaphore(AT_A_TIME)

    async def one():
        async with gate:
            return await connect(
                url,
                compression=None,
                max_size=None,
                open_timeout=PATIENCE_S,
                ping_interval=None,
                **how,
            )

    return await asyncio.gather(*(one() for _ in range(count)))


async def _all_out(clients):
    """All of them hang up."""
    await asyncio.gather(*(one.close() for one in clients))


async def _bare(count, body):
    """Seconds from the broadcast to the last of so many clients, sorted."""
    async with serve(lambda link: link.wait_closed(), "127.0.0.1", 0, compression=None) as server:
        port = server.sockets[0].getsockname()[1]
        clients = await _all_in(count, f"ws://127.0.0.1:{port}/")
        took = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            broadcast(server.connections, body)
            took.append((await _last(clients))[0] - begun)
        await _all_out(clients)
    return sorted(took)


async def _hub(count, session, change, drawn):
    """The same from when it is drawn, and from when the hub begins to read and render."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = door.getsockname()[1]
    config = uvicorn.Config(application, port=port, log_level="error", backlog=count + 100)
    server = uvicorn.Server(config)
    running = asyncio.ensure_future(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    begun = time.perf_counter()
    clients = await _all_in(
        count,
        f"ws://127.0.0.1:{port}/live/",
        additional_headers={"Cookie": f"sessionid={session}"},
        origin=f"http://127.0.0.1:{port}",
    )
    for one in clients:
        await one.send(json.dumps({"subscribe": [TOPIC]}))
    body = (await asyncio.gather(*(_told(one, 0) for one in clients)))[0]
    print(f"\n{count} browsers came in {time.perf_counter() - begun:.1f} s")  # noqa: T201
    took = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        number = await sync_to_async(change)()
        bodies = await asyncio.gather(*(_told(one, number) for one in clients))
        last = time.perf_counter()
        begins, ends = [one for one in drawn if begun <= one[0] and one[1] <= last][-1]
        took.append((last - ends, last - begins))
        body = bodies[0]
    await _all_out(clients)
    server.should_exit = True
    await running
    return took, body


@pytest.mark.handmade_books
@pytest.mark.usefixtures("valkey")
@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(3600)
def test_the_last_of_many_browsers_sees_a_change_soon(monkeypatch, settings):
    settings.ALLOWED_HOSTS = ["*"]
    world, drawn, real = World(), [], reading.draw
    for _ in range(29):
        world.own.work()
    work = world.own.work()  # the newest is on top of the page: each change of it is seen
    verbs = cycle((workload_hold, workload_release))

    def draw(user, topic, language):
        begun = time.perf_counter()
        html = real(user, topic, language)
        drawn.append((begun, time.perf_counter()))
        return html

    monkeypatch.setattr(hubs, "_draw", hubs.database_sync_to_async(draw))
    session = cookie_of(world.own.owner)

    def change():
        next(verbs)(workload=work, actor=SYSTEM)
        return reading.newest_event()

    for count in CLIENTS:
        _files(count)

        async def both(count=count):
            running = _hub(count, session, change, drawn)
            ours, body = await asyncio.wait_for(running, PATIENCE_S * 4)
            return ours, await _bare(count, body), len(body)

        ours, bare, size = asyncio.run(both())
        sent, whole = (sorted(one[which] for one in ours) for which in (0, 1))
        print(  # noqa: T201
            f"\n{count} browsers, {size} bytes: last after {1000 * sent[0]:.0f} ms at best,"
            f" {1000 * sent[ROUNDS // 2]:.0f} ms in the middle, with reading and rendering once"
            f" {1000 * whole[0]:.0f} and {1000 * whole[ROUNDS // 2]:.0f} ms;"
            f" bare broadcast {1000 * bare[0]:.0f} and {1000 * bare[ROUNDS // 2]:.0f} ms;"
            f" ratio {sent[ROUNDS // 2] / bare[ROUNDS // 2]:.2f}"
        )
        assert len(ours) == len(bare) == ROUNDS
