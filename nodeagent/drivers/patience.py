"""One thread for each card: a call that hangs costs its own card its answers, and nobody else's."""

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nodeagent import clock
from nodeagent.drivers.base import Lost

T = TypeVar("T")

LOOK_S = 2.0
"""How long a reading may take; the next one comes so soon anyway."""

ACT_S = 30.0
"""How long a change of a card may take."""


@dataclass
class _Work:
    call: Callable[[], Any]
    answer: Future[Any] = field(default_factory=Future)


class _Line:
    """The calls on one card, one after the other. The thread dies with the process."""

    def __init__(self, name: str) -> None:
        self.waiting: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self.since: float | None = None
        threading.Thread(target=self._serve, name=f"card {name}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            work = self.waiting.get()
            if not work.answer.set_running_or_notify_cancel():
                continue
            self.since = clock.boottime()
            try:
                answer = work.call()
            except BaseException as failure:  # noqa: BLE001 - it is the asker's, whatever it is
                self.since = None
                work.answer.set_exception(failure)
            else:
                self.since = None
                work.answer.set_result(answer)


class Patience:
    """Asks cards within a limit. A question that is still open is waited for, never asked twice."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._open: dict[tuple[str, str], Future[Any]] = {}

    def hanging(self, card: str, limit_s: float) -> bool:
        """Has the card been on one call for longer than that?"""
        line = self._lines.get(card)
        since = None if line is None else line.since
        return since is not None and clock.boottime() - since >= limit_s

    async def ask(
        self, card: str, question: str, call: Callable[[], T], limit_s: float | None = None
    ) -> T:
        """The card's answer; `question` names the call, so that it stands in line only once.

        The limit is that of a reading when none is given.

        Raises:
            Lost: no answer in time. A call that had not begun by then is not made any more.
            Whatever the call itself raises.
        """
        limit_s = LOOK_S if limit_s is None else limit_s
        key = (card, question)
        answer = self._open.get(key)
        if answer is None:
            if self.hanging(card, limit_s):
                raise Lost("no answer: an earlier question to the card is still open")
            answer = self._put(key, call)
        waited = asyncio.wrap_future(answer)
        waited.add_done_callback(_heard)
        done, _ = await asyncio.wait([waited], timeout=limit_s)
        if not done or waited.cancelled():
            answer.cancel()
            raise Lost(f"no answer within {limit_s:g} s")
        found: T = waited.result()
        return found

    async def all(self, asked: dict[str, Callable[[], Coroutine[Any, Any, T]]]) -> tuple[T, ...]:
        """The answers of many cards that are asked at the same time, in their order."""
        return tuple(await asyncio.gather(*(ask() for ask in asked.values())))

    def _put(self, key: tuple[str, str], call: Callable[[], Any]) -> Future[Any]:
        if key[0] not in self._lines:
            self._lines[key[0]] = _Line(key[0])
        work = _Work(call)
        self._open[key] = work.answer
        work.answer.add_done_callback(lambda _: self._open.pop(key, None))
        self._lines[key[0]].waiting.put(work)
        return work.answer


def _heard(answer: asyncio.Future[Any]) -> None:
    """A failure that comes after nobody waits for it any more is nobody's."""
    if not answer.cancelled():
        answer.exception()
