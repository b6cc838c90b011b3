"""One node's notebooks: made ready, looked at, and reached by tunnels."""

import asyncio
import dataclasses
import logging
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from nodeagent import clock
from nodeagent.notebooks import asking, launch
from nodeagent.notebooks.library import Library
from nodeagent.notebooks.moving import Look, Moving, moving
from nodeagent.protocol.codec import BadMessage, decode
from nodeagent.protocol.desired import Desired
from nodeagent.protocol.notebooks import TOKEN, NotebookSeen, Stage, TunnelAsk
from nodeagent.protocol.vocabulary import WorkloadKind
from nodeagent.records import Record
from nodeagent.tunnel import Tunnels

if TYPE_CHECKING:
    from nodeagent.runners.base import Order

log = logging.getLogger(__name__)

TELL_S = 1.0
"""Progress is told at most so often."""

QUICK_S = 0.5
"""How often a notebook that starts is asked whether it answers."""

SLOW_S = 5.0
"""How often one that answers is asked what moves in it."""

LOOK_S = 15.0
"""For one look at one notebook, all its questions together."""

AT_ONCE = 64
"""Notebooks that are asked at the same time: more than a node has cards for."""


@dataclass
class Memory:
    """What is remembered of one notebook between two looks; moments are CLOCK_BOOTTIME."""

    token: str
    looked_at: float | None = None
    told: dict[str, str] = field(default_factory=dict)
    moved_at: dict[str, float] = field(default_factory=dict)
    look: Look | None = None
    moving: "asyncio.Future[tuple[Moving, Look]] | None" = None


class Notebooks:
    """`home` says where the folder of an attempt is."""

    def __init__(
        self,
        records: dict[str, Record],
        home: Callable[[Record], Path],
        library: Library,
    ) -> None:
        self._records = records
        self._home = home
        self._library = library
        self._known: dict[str, Memory] = {}
        self._net: Counter[str] = Counter()
        self._at_once = asyncio.Semaphore(AT_ONCE)
        # Threads of their own: looks that hang must not take those by which the agent works.
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="notebooks")
        self._tunnels = Tunnels(self._carried, library.ca)

    async def prepare(self, record: Record, order: "Order", changed: Callable[[], None]) -> "Order":
        """The order with what is executed, once the environment is there; progress is reported.

        Raises:
            Unavailable: no notebook can run here.
        """

        told_at = [0.0]

        def say(words: str) -> None:
            record.notebook = NotebookSeen(stage=Stage.ENVIRONMENT, words=words)
            if clock.boottime() - told_at[0] >= TELL_S:
                told_at[0] = clock.boottime()
                changed()

        say("")
        folder = await self._library.environment.ready(say)
        files = await asyncio.to_thread(launch.kept_files, self._library.homes, order.work)
        record.notebook = NotebookSeen(stage=Stage.STARTING)
        work = launch.command(order.work, folder, files, self._home(record))
        return dataclasses.replace(order, work=work)

    def hear_wish(self, wish: Desired) -> None:
        """Learn the tokens of the notebooks that are wanted here; an adopted one has no other."""
        wanted = {one.attempt: one for one in wish.work if one.kind == WorkloadKind.NOTEBOOK}
        known = self._known
        self._known = {
            attempt: known.get(attempt) or Memory(token=work.env.get(TOKEN, ""))
            for attempt, work in wanted.items()
        }
        self._net = Counter({k: v for k, v in self._net.items() if k in wanted})

    def hear(self, word: str) -> bool:
        """Whether a word of the portal asked for a tunnel; if so it is being dug."""
        if not word.startswith("{"):
            return False
        try:
            ask = decode(word.encode(), TunnelAsk)
        except BadMessage as bad:
            log.warning("a word of the portal is not understood: %s", bad)
            return True
        record = self._records.get(ask.attempt)
        if record is not None and record.ended_at is None and ask.attempt in self._known:
            self._tunnels.open(ask, self._home(record))
        return True

    def close(self) -> None:
        """Hang up; the notebooks go on."""
        self._tunnels.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, changed: Callable[[], None]) -> None:
        """Look at every notebook that runs here, and tell when one is ready.

        Each by itself: one that does not answer makes no other wait, and one that is still being
        asked is not asked a second time.
        """
        asking_now: dict[str, asyncio.Task[None]] = {}
        try:
            while True:
                asking_now = {a: task for a, task in asking_now.items() if not task.done()}
                for record in self._looked_after():
                    if record.attempt not in asking_now:
                        look = asyncio.create_task(self._look(record, changed))
                        asking_now[record.attempt] = look
                if asking_now:
                    await asyncio.wait(asking_now.values(), timeout=QUICK_S)
                await asyncio.sleep(QUICK_S if self._starting() else SLOW_S)
        finally:
            for task in asking_now.values():
                task.cancel()

    def _looked_after(self) -> list[Record]:
        return [
            one
            for one in self._records.values()
            if one.attempt in self._known and one.started_at is not None and one.ended_at is None
        ]

    def _starting(self) -> bool:
        stages = (one.notebook.stage for one in self._looked_after() if one.notebook is not None)
        return any(stage != Stage.READY for stage in stages)

    async def _look(self, record: Record, changed: Callable[[], None]) -> None:
        """One look at one notebook; whatever it does, it ends no other's."""
        memory = self._known.get(record.attempt)
        if memory is None:
            return
        was = record.notebook.stage if record.notebook else None
        try:
            async with self._at_once, asyncio.timeout(LOOK_S):
                seen = await self._seen(record, memory)
        except TimeoutError:
            seen = self._grown_old(record, memory, f"no answer within {LOOK_S:g} s")
        except Exception:
            log.exception("%s: its notebook cannot be looked at", record.attempt)
            return
        record.notebook = seen
        if seen.stage != was:
            changed()

    async def _seen(self, record: Record, memory: Memory) -> NotebookSeen:
        """One look; when it does not answer any more, what was known grows old."""
        try:
            found = await asking.ask(self._home(record), record.workload, memory.token)
        except asking.NoAnswer as failure:
            return self._grown_old(record, memory, str(failure))
        if memory.moving is not None and not memory.moving.done():
            return self._grown_old(record, memory, "its processes cannot be looked at")
        shim, main, net = record.shim_pid, record.pid or 0, self._net[record.attempt]
        loop = asyncio.get_running_loop()
        look = loop.run_in_executor(self._threads, moving, shim, main, net, memory.look)
        memory.moving = look
        # Given up after a time, it goes on in its thread, and no second one is begun beside it.
        moved, memory.look = await asyncio.shield(look)
        return self._told(found, moved, memory)

    def _grown_old(self, record: Record, memory: Memory, why: str) -> NotebookSeen:
        if memory.looked_at is None or record.notebook is None:
            return NotebookSeen(stage=Stage.STARTING)
        log.info("%s: its notebook does not answer: %s", record.attempt, why)
        return replace(record.notebook, looked_ago_s=clock.boottime() - memory.looked_at)

    def _told(
        self, found: dict[str, list[dict[str, Any]]], moved: Moving, memory: Memory
    ) -> NotebookSeen:
        at = memory.looked_at = clock.boottime()
        busy = sum(one.get("execution_state") == "busy" for one in found["kernels"])
        return NotebookSeen(
            stage=Stage.READY,
            looked_ago_s=0.0,
            kernels=len(found["kernels"]),
            busy=busy,
            kernel_quiet_s=0.0 if busy else _quiet(memory, "kernels", found["kernels"], at),
            terminals=len(found["terminals"]),
            terminal_quiet_s=_quiet(memory, "terminals", found["terminals"], at),
            jobs=moved.jobs,
            cpu_cores=moved.cpu_cores,
            disk_mib_s=moved.disk_mib_s,
            net_mib_s=moved.net_mib_s,
        )

    def _carried(self, attempt: str, size: int) -> None:
        self._net[attempt] += size


def _quiet(memory: Memory, name: str, found: list[dict[str, Any]], at: float) -> float:
    """Seconds since the list's own stamps last changed: no stamp is ever compared with a clock."""
    stamps = ((str(one.get("id", one.get("name"))), str(one.get("last_activity"))) for one in found)
    now = repr(sorted(stamps))
    if memory.told.get(name) != now:
        memory.told[name] = now
        memory.moved_at[name] = at
    return at - memory.moved_at[name]
