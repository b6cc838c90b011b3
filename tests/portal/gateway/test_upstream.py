"""A notebook's socket at the gateway: there when somebody calls, gone when nobody does."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from portal.gateway import upstream
from portal.gateway.upstream import MOST_SOCKETS, Upstreams

GUEST = SimpleNamespace(workload="wl-1", attempt="at-1", node="nd-1", reads=False)
OTHER = SimpleNamespace(workload="wl-2", attempt="at-2", node="nd-1", reads=False)


@pytest.fixture
async def known():
    made = Upstreams(tunnels=None)
    yield made
    for one in made._known.values():
        await one.close()


async def test_whoever_gets_one_finds_its_socket(known):
    found = await asyncio.gather(*(known.of(GUEST) for _ in range(8)), known.of(OTHER))
    assert len({id(one) for one in found}) == 2
    assert all(Path(one.path).is_socket() for one in found)


async def test_a_neighbour_who_comes_at_the_same_moment_closes_none(known):
    first, _second = await asyncio.gather(known.of(GUEST), known.of(OTHER))
    assert await known.of(GUEST) is first
    assert Path(first.path).exists()


async def test_one_that_nobody_called_for_ten_minutes_is_let_go(known, monkeypatch):
    one = await known.of(GUEST)
    with one.in_use():
        one.used_at -= upstream.IDLE_S + 1
        await known.of(OTHER)
        assert Path(one.path).exists()
    one.used_at -= upstream.IDLE_S + 1
    one._open.add(asyncio.ensure_future(asyncio.Event().wait()))  # a connection that is only kept
    await known.of(OTHER)
    assert not Path(one.path).exists()


async def test_another_run_has_another_socket(known):
    one = await known.of(GUEST)
    again = SimpleNamespace(workload="wl-1", attempt="at-9", node="nd-1", reads=False)
    assert (await known.of(again)).attempt == "at-9"
    assert not Path(one.path).exists()


async def test_sockets_are_counted_and_given_back(known):
    one = await known.of(GUEST)
    held = [one.in_use(socket=True) for _ in range(MOST_SOCKETS)]
    assert all(way.__enter__() for way in held)
    with one.in_use(socket=True) as room:
        assert not room
    held[0].__exit__(None, None, None)
    with one.in_use(socket=True) as room:
        assert room
    for way in held[1:]:
        way.__exit__(None, None, None)
    assert (one.calls, one.sockets) == (0, 0)


async def test_those_who_only_read_have_a_socket_of_their_own(known):
    """What they move is not counted as use of the notebook."""
    dug = []

    class Ground:
        async def dig(self, **asked):
            dug.append(asked["looks"])
            raise upstream.NoTunnel

    known._tunnels = Ground()
    reader = SimpleNamespace(workload="wl-1", attempt="at-1", node="nd-1", reads=True)
    for guest in (GUEST, reader):
        one = await known.of(guest)
        _reader, writer = await asyncio.open_unix_connection(one.path)
        await _reader.read()
        writer.close()
    assert dug == [False, True]
