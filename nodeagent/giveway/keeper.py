"""The orders to give way of one node: handed to the jobs, answered, and over at their deadline."""

import asyncio
import contextlib
import json
import logging
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from nodeagent import clock, disk, processes
from nodeagent.giveway import folder
from nodeagent.giveway.contract import ACK, CHECKPOINT, NOTICE, SIGNALS, Mark, mark_of
from nodeagent.protocol.desired import Desired, Notice
from nodeagent.records import Record

log = logging.getLogger(__name__)

QUICK_S = 0.2
"""How often answers are looked for while a notice is open."""

SLOW_S = 2.0
"""How often checkpoints are looked for otherwise."""

HOOK_LIMIT_S = 5.0
"""For the whole call, whatever the job does with it."""

JSON = {"Content-Type": "application/json"}

LAST_GRACE_S = 2.0
"""Between SIGTERM and SIGKILL for work whose time to leave is over: it had its notice."""


@dataclass(frozen=True)
class Heard:
    """One order as this node heard of it; its end on CLOCK_BOOTTIME, which nothing steps."""

    notice: Notice
    deadline: float


class GiveWay:
    """One node's orders and marks. `homes` says where the folder of an attempt is."""

    def __init__(self, records: dict[str, Record], homes: Callable[[Record], Path]) -> None:
        self._records = records
        self._homes = homes
        self._heard: dict[str, Heard] = {}
        self._calls: set[asyncio.Task[None]] = set()

    def hear(self, wish: Desired) -> None:
        """Remember when each order of the wish ends; what it no longer lists is forgotten."""
        at = clock.boottime()
        before = self._heard
        self._heard = {
            work.attempt: self._kept(before.get(work.attempt), work.notice, at)
            for work in wish.work
            if work.notice is not None
        }

    @staticmethod
    def _kept(before: Heard | None, notice: Notice, at: float) -> Heard:
        """The first word on an order counts; a later one can only say the same."""
        if before is not None and before.notice.order == notice.order:
            return before
        return Heard(notice, at + max(notice.seconds, 0.0))

    def late(self) -> frozenset[str]:
        """Attempts that should have left by now."""
        at = clock.boottime()
        live = {a for a, record in self._records.items() if record.ended_at is None}
        return frozenset(a for a, one in self._heard.items() if a in live and one.deadline <= at)

    async def run(self, changed: Callable[[], None]) -> None:
        """Look for answers and checkpoints; tell of each, and of every order whose time is over."""
        while True:
            busy = any(a in self._records for a in self._heard)
            await asyncio.sleep(QUICK_S if busy else SLOW_S)
            asked = {a for a in self.late() if not self._records[a].stop_asked}
            if self.look() or asked:
                changed()

    def look(self) -> bool:
        """Read what the jobs say; true when any of it is new."""
        live = [record for record in list(self._records.values()) if not record.clean]
        return any([self._read_safely(record) for record in live])

    def _read_safely(self, record: Record) -> bool:
        """What one job writes must never end the loop that reads all of them."""
        try:
            return self.read(record)
        except Exception:
            log.exception("%s: what it says cannot be read", record.attempt)
            return False

    def read(self, record: Record) -> bool:
        """One job's newest checkpoint and its answer to the notice; true when either is new."""
        home = self._homes(record)
        news = False
        found = folder.look(home, CHECKPOINT)
        mark = mark_of(found[0]) if found is not None else None
        if found is not None and mark is not None and self._newer(record, mark, found[1]):
            record.checkpoint_step, record.checkpoint_path = mark.step, mark.path
            record.checkpoint_at = min(found[1], clock.wall())
            news = True
        if record.notice and record.acked_at is None:
            answer = folder.look(home, ACK)
            at = max((t for t in (_answered(answer, record), _saved(record)) if t), default=None)
            if at is not None:
                self._acked(record, at)
                news = True
        return news

    @staticmethod
    def _newer(record: Record, mark: Mark, written: float) -> bool:
        """Whether the file tells of another checkpoint than the one known. A file dated in the
        future counts as written when it was read first: a job cannot look saved for ever.
        """
        known = record.checkpoint_at
        if known is None or (mark.step, mark.path) != (
            record.checkpoint_step,
            record.checkpoint_path,
        ):
            return True
        return written != known and written <= clock.wall()

    async def deliver(self, record: Record, notice: Notice, *, draining: bool = False) -> None:
        """Hand the notice over: file, signal, call. Safe to repeat; a crash may repeat a signal.

        Work that is `draining` gets no new requests any more and answers those that it has.
        """
        home, at = self._homes(record), clock.wall()
        body = _body(notice, at, draining=draining)
        if record.notice != notice.order:
            record.notice, record.noticed_at, record.acked_at = notice.order, at, None
            record.signalled = False
            with contextlib.suppress(OSError):  # a job that removed its folder still gets a signal
                await asyncio.to_thread(folder.put, home, NOTICE, body)
            self._save(record)
        if not record.signalled:
            _signal(record)
            record.signalled = True
            self._save(record)
            if record.hook:
                self._call(record, body)

    def _call(self, record: Record, body: bytes) -> None:
        call = asyncio.create_task(self._hook(record, body))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _hook(self, record: Record, body: bytes) -> None:
        """Call the job's own address on this node; a 2xx answer acknowledges the notice.

        Only the status is read: a job must not fill the agent's memory with its answer.
        """
        order = record.notice
        try:
            async with (
                asyncio.timeout(HOOK_LIMIT_S),
                httpx.AsyncClient(timeout=HOOK_LIMIT_S, trust_env=False) as client,
                client.stream("POST", record.hook, content=body, headers=JSON) as answer,
            ):
                heard = answer.is_success
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as failure:
            log.info("%s: its hook does not answer: %r", record.attempt, failure)
            return
        if heard and record.notice == order and record.acked_at is None:
            self._acked(record, clock.wall())

    def _acked(self, record: Record, at: float) -> None:
        record.acked_at = at
        self._save(record)

    def _save(self, record: Record) -> None:
        """What was handed over and answered, for the agent after this one."""
        said = {
            "order": record.notice,
            "at": record.noticed_at,
            "acked_at": record.acked_at,
            "signalled": record.signalled,
        }
        with contextlib.suppress(OSError):  # a full disk: the signal may come twice after a crash
            disk.write_json(record.folder / "notice.json", said)


def _answered(answer: tuple[bytes, float] | None, record: Record) -> float | None:
    """When the job wrote its answer to this notice: an older one was to another."""
    if answer is None:
        return None
    named = answer[0].decode("utf-8", "replace").strip()
    fresh = answer[1] >= (record.noticed_at or 0.0) - 1.0
    return answer[1] if named == record.notice or (not named and fresh) else None


def _saved(record: Record) -> float | None:
    """A checkpoint after the notice is an answer as well."""
    saved = record.checkpoint_at
    return saved if saved is not None and saved > (record.noticed_at or 0.0) else None


def _body(notice: Notice, at: float, *, draining: bool) -> bytes:
    """What the job reads; its deadline by this node's own clock."""
    said = {
        "order": notice.order,
        "kind": notice.kind,
        "reason": notice.reason,
        "seconds": round(max(notice.seconds, 0.0), 3),
        "at": at,
        "deadline": at + max(notice.seconds, 0.0),
        "draining": draining,
    }
    return json.dumps(said, ensure_ascii=False).encode()


def _signal(record: Record) -> None:
    """The chosen signal to every process of the job's group, if its leader is still the same."""
    number = SIGNALS.get(record.signal)
    if number is None or record.pid is None:
        return
    if processes.alive(record.pid, record.pid_ticks):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(record.pid, number)
            os.killpg(record.pid, signal.SIGCONT)
