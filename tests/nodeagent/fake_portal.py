"""A portal small enough to be seen through: one wish, a memory, and a switch that cuts it off."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from nodeagent.protocol import codec
from nodeagent.protocol.desired import Desired, WantedSlice, WantedWork
from nodeagent.protocol.inventory import Hello, Join, Joined, Welcome
from nodeagent.protocol.report import FoundSlice, FoundWork, Report, Taken
from nodeagent.protocol.samples import LogBatch, LogChunk, SampleBatch
from nodeagent.protocol.version import PROTOCOL
from nodeagent.protocol.vocabulary import Mode, WorkloadKind, WorkWanted

DEADLINE_S = 30.0


@dataclass
class FakePortal:
    """Answers one node. `cut` makes every request fail with 503, as a portal that is away does.

    `lost` asks the node for its hello again.
    """

    wish: Desired = Desired(epoch=1, generation=1)
    fence_s: int = 300
    cut: bool = False
    spits: bool = False
    token: str = "join-me"
    credential: str = "secret-credential"
    hellos: list[Hello] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    batches: list[SampleBatch] = field(default_factory=list)
    chunks: list[LogChunk] = field(default_factory=list)
    closed: tuple[str, ...] = ()
    lost: bool = False
    url: str = ""

    def __post_init__(self):
        self._sockets: set[web.WebSocketResponse] = set()
        self._news = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self):
        app = web.Application(middlewares=[self._guard])
        app.add_routes(
            [
                web.post("/gate/v1/join", self._join),
                web.post("/gate/v1/hello", self._hello),
                web.get("/gate/v1/desired", self._desired),
                web.post("/gate/v1/report", self._report),
                web.post("/gate/v1/samples", self._samples),
                web.post("/gate/v1/logs", self._logs),
                web.get("/gate/v1/wake", self._wake),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        await self._runner.cleanup()

    async def want(self, *, slices=None, work=None, closed=(), wake=True, **changes):
        """A new wish, one generation on; what is not given stays."""
        self.wish = Desired(
            epoch=changes.pop("epoch", self.wish.epoch),
            generation=changes.pop("generation", self.wish.generation + 1),
            slices=self.wish.slices if slices is None else tuple(slices),
            work=self.wish.work if work is None else tuple(work),
            closed=tuple(closed),
            **changes,
        )
        if wake:
            for socket in list(self._sockets):
                await socket.send_str("wake")

    async def until(self, holds: Callable[[], object]):
        """Wait for something to be true of what was told; fails after the deadline."""
        async with self._news:
            try:
                await asyncio.wait_for(self._news.wait_for(lambda: bool(holds())), DEADLINE_S)
            except TimeoutError:
                last = self.reports[-1] if self.reports else None
                raise AssertionError(
                    f"never true; last report {last}; log {self.log()!r}"
                ) from None
        return holds()

    def work(self, attempt: str) -> FoundWork | None:
        """The attempt in the newest report."""
        rows = self.reports[-1].work if self.reports else ()
        return next((row for row in rows if row.attempt == attempt), None)

    def slice(self, uid: str) -> FoundSlice | None:
        """The slice in the newest report."""
        rows = self.reports[-1].slices if self.reports else ()
        return next((row for row in rows if row.uid == uid), None)

    def settled(self) -> bool:
        """Has every step of the wish in force been tried, as the newest report says?"""
        wish = (self.wish.epoch, self.wish.generation)
        return any((r.epoch, r.generation) == wish for r in self.reports[-1:])

    def outcomes(self):
        return [outcome for report in self.reports for outcome in report.outcomes]

    def log(self, attempt: str | None = None) -> str:
        """The output so far, each byte once, in order."""
        chunks = [c for c in self.chunks if attempt in (None, c.attempt)]
        return "".join(c.text for c in sorted(chunks, key=lambda c: c.offset))

    @web.middleware
    async def _guard(self, request, handler):
        if self.cut:
            return web.Response(status=503, text="away")
        known = request.headers.get("Authorization") == f"Bearer {self.credential}"
        if request.path != "/gate/v1/join" and not known:
            return web.Response(status=401, text="unknown")
        answer = await handler(request)
        async with self._news:
            self._news.notify_all()
        return answer

    async def _join(self, request):
        join = codec.decode(await request.read(), Join)
        if join.token != self.token:
            return web.Response(status=401, text="no such token")
        return self._answer(Joined(node="nd-1", credential=self.credential))

    async def _hello(self, request):
        self.lost = False
        self.hellos.append(codec.decode(await request.read(), Hello))
        return self._answer(
            Welcome(
                protocol=PROTOCOL,
                node="nd-1",
                epoch=self.wish.epoch,
                generation=self.wish.generation,
                fence_s=self.fence_s,
                skew_s=0.0,
            )
        )

    async def _desired(self, request):
        since = (int(request.query["epoch"]), int(request.query["since"]))
        if since >= (self.wish.epoch, self.wish.generation):
            return web.Response(status=204)
        return self._answer(self.wish)

    async def _report(self, request):
        self.reports.append(codec.decode(await request.read(), Report))
        return self._answer(Taken(epoch=self.wish.epoch, closed=self.closed, hello=self.lost))

    async def _samples(self, request):
        if self.spits:
            return web.Response(status=400, text="not that")
        self.batches.append(codec.decode(await request.read(), SampleBatch))
        return web.Response(status=204)

    async def _logs(self, request):
        if self.spits:
            return web.Response(status=422, text="not that")
        self.chunks.extend(codec.decode(await request.read(), LogBatch).chunks)
        return web.Response(status=204)

    async def _wake(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.add(socket)
        try:
            async for message in socket:
                if message.type == WSMsgType.ERROR:
                    break
        finally:
            self._sockets.discard(socket)
        return socket

    def _answer(self, message):
        return web.Response(body=codec.encode(message), content_type="application/json")


def mig(
    uid: str, card: str, start: int = 0, profile: str = "1g.10gb", size: int = 1
) -> WantedSlice:
    """A wanted MIG slice of an A100-80GB."""
    return WantedSlice(
        uid=uid,
        card=card,
        mode=Mode.MIG,
        profile=profile,
        memory_mib=9728,
        compute_milli=143,
        start=start,
        size=size,
    )


def job(attempt: str, *command: str, slices=(), **changes) -> WantedWork:
    """A job that shall run."""
    given = {
        "workload": f"wl-{attempt}",
        "number": 1,
        "kind": WorkloadKind.JOB,
        "wanted": WorkWanted.RUN,
        "slices": tuple(slices),
        "account": "uid:200123",
        "command": command,
    }
    return WantedWork(attempt=attempt, **(given | changes))
