"""A notebook that hangs, by chance or on purpose, makes no other notebook of the node wait."""

import asyncio
import os
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from nodeagent.notebooks import keeper
from nodeagent.notebooks.keeper import Memory, Notebooks
from nodeagent.protocol.notebooks import SOCKET, Stage
from nodeagent.records import Record
from tests.nodeagent.waiting import until

pytestmark = pytest.mark.asyncio
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"


async def answers(reader, writer):
    while await reader.readuntil(b"\r\n\r\n"):
        writer.write(EMPTY)
        await writer.drain()


async def hangs(reader, writer):
    await reader.read()


async def drips(reader, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")
    while not writer.is_closing():
        writer.write(b" ")
        await asyncio.sleep(0.02)


async def quiet(serve, served, reader, writer):
    """Serve until the other side hangs up; whoever closes the server awaits those in ``served``."""
    served.append(asyncio.current_task())
    try:
        await serve(reader, writer)
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_the_ready_ones_are_seen_while_others_hang_or_drip_and_grow_old(monkeypatch):
    monkeypatch.setattr(keeper, "LOOK_S", 4.0)
    monkeypatch.setattr(keeper, "SLOW_S", 0.1)
    monkeypatch.setattr(keeper, "QUICK_S", 0.1)
    served = {"at-1": hangs, "at-2": hangs, "at-3": drips, "at-4": answers}
    with tempfile.TemporaryDirectory(prefix="gp-") as short:
        root = Path(short)
        records, servers, calls = {}, [], []
        for name, serve in served.items():
            (root / name).mkdir()
            servers.append(
                await asyncio.start_unix_server(
                    lambda r, w, serve=serve: quiet(serve, calls, r, w), str(root / name / SOCKET)
                )
            )
            records[name] = Record(name, root / name, started_at=1.0, shim_pid=os.getpid())
        library = SimpleNamespace(ca=None)
        kept = Notebooks(records, lambda one: root / one.attempt, library)
        kept._known = {name: Memory(token="t") for name in served}
        told = []
        looking = asyncio.create_task(kept.run(lambda: told.append(1)))
        seen = lambda name: records[name].notebook  # noqa: E731
        await until(lambda: seen("at-4") and seen("at-4").stage == Stage.READY)
        first = kept._known["at-4"].looked_at
        await until(lambda: kept._known["at-4"].looked_at > first, "it is looked at again")
        await until(
            lambda: all(seen(n) and seen(n).stage == Stage.STARTING for n in served if n != "at-4")
        )
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        for one in servers:
            one.close()
        await asyncio.gather(*calls)


async def test_a_look_at_processes_that_hangs_takes_one_thread_and_none_of_the_agents_own(
    monkeypatch,
):
    monkeypatch.setattr(keeper, "LOOK_S", 0.1)
    let_go, looks = threading.Event(), []

    def hangs_in_the_kernel(shim, *_):
        looks.append(shim)
        let_go.wait(20)
        return keeper.Moving(0), keeper.Look(0.0, 0, 0, 0)

    async def nothing(*_):
        return {"kernels": [], "terminals": []}

    monkeypatch.setattr(keeper, "moving", hangs_in_the_kernel)
    monkeypatch.setattr(keeper.asking, "ask", nothing)
    records = {"at-1": Record("at-1", Path("at-1"), started_at=1.0, shim_pid=os.getpid())}
    kept = Notebooks(records, lambda one: one.folder, SimpleNamespace(ca=None))
    kept._known = {"at-1": Memory(token="t")}
    try:
        for _ in range(3):
            await kept._look(records["at-1"], lambda: None)
        assert looks == [os.getpid()]
        await until(lambda: records["at-1"].notebook.stage == Stage.STARTING)
        names = {one.name for one in threading.enumerate() if one.name.startswith("notebooks")}
        assert len(names) == 1
    finally:
        let_go.set()
    await asyncio.wait_for(asyncio.shield(kept._known["at-1"].moving), 10)
    await kept._look(records["at-1"], lambda: None)
    assert (len(looks), records["at-1"].notebook.stage) == (2, Stage.READY)
    kept.close()
