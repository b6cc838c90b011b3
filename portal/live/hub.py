"""One hub a web process: hears what happened, reads once, renders once, hands the same bytes on.

Announcements are collected for a quarter of a second, so that a first change is seen at once; after
it a topic is drawn no oftener than once a second, with all that came meanwhile. Permission is asked
when a socket subscribes, after events that change rights, and every few minutes. After a time
without the channel layer every socket is sent a fresh picture.
"""

import asyncio
from collections import defaultdict
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import structlog
from channels.db import database_sync_to_async

from pool.topics import USE
from portal.live import reading
from portal.live.ear import Listener, ear
from portal.live.missed import LOOK_S, Missed
from portal.live.pace import Pace
from portal.live.relevance import LOG, News, log_of, news_of, touches
from portal.live.seat import LogPlace, Seat, said

log = structlog.get_logger(__name__)

COLLECT_S = 0.25
DEAF_S = 3.0
"""Without the channel layer everything is looked at again after so long."""
RIGHTS_S = 300.0

_key_of = database_sync_to_async(reading.key_of)
_draw = database_sync_to_async(reading.draw)
_log_news = database_sync_to_async(reading.log_news)
_newest_event = database_sync_to_async(reading.newest_event)
_sight = database_sync_to_async(reading.sight)


class Hub:
    """All seats of one process."""

    def __init__(self) -> None:
        self._seats: set[Seat] = set()
        self._listener = Listener(self._heard, self._everything)
        self._messages: list[dict[str, Any]] = []
        self._logs: set[str] = set()
        self._all = False
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._number = 0
        self._arrived: dict[str, list[Seat]] = defaultdict(list)
        self._doors: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._asked_at = -COLLECT_S
        self._asking: asyncio.Future[int] | None = None
        self._missed = Missed()
        self._pace = Pace()
        self._waiters: dict[str, set[asyncio.Event]] = defaultdict(set)

    def sit(self, seat: Seat) -> None:
        """Take a place; the hub runs as long as one is taken."""
        self._seats.add(seat)
        self._run()

    async def rise(self, seat: Seat) -> None:
        """Give the place back."""
        seat.gone = True
        self._seats.discard(seat)
        await self._rest()

    async def subscribe(self, seat: Seat, topic: str, offset: int | None = None) -> None:
        """Look at a topic, if the person may: the first message is a fresh picture."""
        key = await _key_of(seat.user, topic)
        if key is None:
            seat.refuse(topic)
            return
        seat.leave(topic)
        seat.keys[topic] = key
        await self._learn_number()
        if topic.startswith(LOG):
            seat.logs[topic] = LogPlace(offset=offset)
            await self._send_log(topic, [seat])
        else:
            await self._welcome(topic, seat)

    async def _welcome(self, topic: str, seat: Seat) -> None:
        """The first picture: one for all who come while the one before is drawn.

        After an outage every page comes back at once; each would have a picture drawn for itself.
        """
        self._arrived[topic].append(seat)
        door = self._doors.setdefault(topic, asyncio.Lock())
        async with door:
            seats = self._arrived.pop(topic, [])
            try:
                if seats:
                    await self._send(topic, seats)
            except Exception:  # whoever came with this one gets theirs at the next look
                self._everything()
                raise

    async def _learn_number(self) -> None:
        """Ask for the newest event, once for all who come within a moment.

        A number that is a moment old is good: it never claims more than what is shown.
        """
        now = asyncio.get_running_loop().time()
        if now - self._asked_at >= COLLECT_S:
            self._asked_at = now
            self._asking = asyncio.ensure_future(_newest_event())
        if self._asking is not None:
            self._number = max(self._number, await asyncio.shield(self._asking))

    def listen(self, uid: str) -> asyncio.Event:
        """An event that is set whenever the workload or its log changes; for streams."""
        waiter = asyncio.Event()
        self._waiters[uid].add(waiter)
        self._run()
        return waiter

    async def unlisten(self, uid: str, waiter: asyncio.Event) -> None:
        """The stream is over."""
        self._waiters[uid].discard(waiter)
        if not self._waiters[uid]:
            del self._waiters[uid]
        await self._rest()

    def again(self, topic: str) -> None:
        """A log of which more can be read at once, now that its last piece was sent."""
        self._logs.add(log_of(topic)[0])
        self._news.set()

    def _run(self) -> None:
        ear().join(self._listener)
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._always())

    async def _rest(self) -> None:
        if self._seats or self._waiters:
            return
        task, self._task = self._task, None
        await ear().leave(self._listener)
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.wait({task})

    def _heard(self, message: dict[str, Any]) -> None:
        if message.get("type") == "log":
            self._logs.add(str(message.get("workload")))
        elif message.get("type") == "event":
            self._messages.append(message)
            self._missed.heard(int(message["number"]))
        elif message.get("type") in {"bell", "use"}:
            self._messages.append(message)
        self._news.set()

    def _everything(self) -> None:
        self._all = True
        self._news.set()

    async def _always(self) -> None:
        rights_at = asyncio.get_running_loop().time() + RIGHTS_S
        while True:
            await self._wait()
            now = asyncio.get_running_loop().time()
            due = now >= rights_at
            rights_at = now + RIGHTS_S if due else rights_at
            try:
                self._all = await self._missed.any(now) or self._all
                await self._look(check=due)
            except Exception:  # a database that is away: the next look shows the truth
                log.exception("hub.look")
                self._all = True

    async def _wait(self) -> None:
        """Until something happened, and then a moment for what comes with it."""
        patience = LOOK_S if ear().hears else DEAF_S
        due = self._pace.due_in(asyncio.get_running_loop().time())
        try:
            await asyncio.wait_for(self._news.wait(), patience if due is None else due)
        except TimeoutError:
            self._all = self._all or (due is None and not ear().hears)
        await asyncio.sleep(COLLECT_S)
        self._news.clear()

    async def _look(self, *, check: bool) -> None:
        messages, self._messages = self._messages, []
        logs, self._logs = self._logs, set()
        everything, self._all = self._all, False
        news = news_of(messages)
        told = await _newest_event() if everything else news.number
        self._number = max(self._number, told)
        if check or news.rights:
            await self._check()
        self._wake(news, logs, everything)
        wanted: dict[str, list[Seat]] = defaultdict(list)
        for seat in self._seats:
            for topic in seat.keys:
                touched = topic.startswith(LOG) and log_of(topic)[0] in logs
                if everything or touched or touches(news, topic, seat.projects):
                    wanted[topic].append(seat)
        for topic, seats in self._pace.take(wanted, asyncio.get_running_loop().time()):
            await (self._send_log if topic.startswith(LOG) else self._send)(topic, seats)

    def _wake(self, news: News, logs: set[str], everything: bool) -> None:
        for uid, waiters in self._waiters.items():
            if everything or uid in logs or f"workload:{uid}" in news.topics:
                for waiter in waiters:
                    waiter.set()

    async def _send(self, topic: str, seats: list[Seat]) -> None:
        """Render once per permission class and language."""
        groups: dict[tuple[str, str], list[Seat]] = defaultdict(list)
        for seat in seats:
            if topic in seat.keys:
                groups[seat.keys[topic], seat.language].append(seat)
        for (_key, language), group in groups.items():
            html = await _draw(group[0].user, topic, language)
            how = "data" if topic.partition(":")[0] == USE else "html"
            message = said(topic=topic, event=self._number, **{how: html})
            for seat in group:
                if topic in seat.keys and not seat.gone:
                    seat.show(topic, html, message)

    async def _send_log(self, topic: str, seats: list[Seat]) -> None:
        """Read once per place in the log; a socket that has not sent its last piece waits."""
        groups: dict[tuple[int, int | None], list[Seat]] = defaultdict(list)
        for seat in seats:
            place = seat.logs.get(topic)
            if place is not None and topic not in seat.outbox:
                groups[place.attempt, place.offset].append(seat)
        for (attempt, offset), group in groups.items():
            uid, rank = log_of(topic)
            found = await _log_news(uid, attempt, offset, rank)
            if found is None:
                continue
            for seat in group:
                self._hand_log(topic, seat, found)

    def _hand_log(self, topic: str, seat: Seat, found: reading.LogNews) -> None:
        place = seat.logs.get(topic)
        if place is None or seat.gone:
            return
        fresh = found.attempt != place.attempt or found.end != place.end or place.offset is None
        place.attempt, place.offset, place.end = found.attempt, found.part.end, found.end
        if not found.part.text and not fresh:
            return
        message = said(
            topic=topic,
            text=found.part.text,
            start=found.part.start,
            offset=found.part.end,
            attempt=found.attempt,
            end=found.end,
        )
        seat.put(topic, message)

    async def _check(self) -> None:
        """Who may still see what; a login that is over ends its sockets.

        A person with many pages is asked about once, and of each topic once.
        """
        sights: dict[tuple[int, str], reading.Sight | None] = {}
        keys: dict[tuple[int, str], str | None] = {}
        for seat in list(self._seats):
            who = (seat.user.pk, seat.session)
            if who not in sights:
                sights[who] = await _sight(*who)
            found = sights[who]
            if found is None:
                seat.keys.clear()
                seat.logs.clear()
                seat.gone = True
                seat.ready.set()
                continue
            seat.user, seat.projects = found.user, found.projects
            for topic in list(seat.keys):
                asked = (seat.user.pk, topic)
                if asked not in keys:
                    keys[asked] = await _key_of(seat.user, topic)
                key = keys[asked]
                if key is None:
                    seat.refuse(topic)
                else:
                    seat.keys[topic] = key


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The one hub of this process (of this event loop)."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())
