"""The loop of one node: pull the wish, compare with what is, act, report; level-triggered."""

import asyncio
import contextlib
import logging
from pathlib import Path

from msgspec.structs import replace

from nodeagent import clock, enrol, rendezvous, telemetry
from nodeagent.drivers.base import Driver
from nodeagent.execute import Executor
from nodeagent.limits import Limits
from nodeagent.link import BackOff, CutOff, Link, NotTaken, pause, pause_kept
from nodeagent.logs import Logs
from nodeagent.mounts import Places
from nodeagent.news import PULL_EVERY_S, News
from nodeagent.protocol.desired import Desired
from nodeagent.protocol.report import FoundWork, Outcome, Report
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from nodeagent.reconcile import Found, Step, WorkSeen, steps
from nodeagent.runners.base import Runner
from nodeagent.telemetry import READ_EVERY_S, ROW_S, Telemetry
from nodeagent.wish import Wish

log = logging.getLogger(__name__)

REPORT_EVERY_S = 10.0
KEPT_OUTCOMES = 1000
LAST_WORDS_S = 2.0
"""How long an agent that ends may try to tell the portal; all is on disk anyway."""


class Agent:
    """One node. It has no module state: a process may hold many."""

    def __init__(
        self,
        *,
        name: str,
        driver: Driver,
        runner: Runner,
        link: Link,
        state_dir: Path,
        enrolment: enrol.Enrolment,
        address: str = "",
    ) -> None:
        self.name = name
        self.address = address
        self.driver = driver
        self.runner = runner
        self.link = link
        self.enrolment = enrolment
        self.wish = Wish(state_dir / "wish.json")
        self.telemetry = Telemetry(state_dir / "samples")
        self.limits = Limits()
        self.places = Places()
        self.logs = Logs(runner, link)
        self.executor = Executor(driver, runner, {})
        self.draining = False
        self._boot = ""
        self._reached = (0, 0)
        self._running: dict[Step, asyncio.Task[None]] = {}
        self._outcomes: list[Outcome] = []
        self._told: set[str] = set()
        self._pull = asyncio.Event()
        self.news = News(self._pull)
        self._act = asyncio.Event()
        self._tell = asyncio.Event()
        self._begun = asyncio.Event()
        self._welcome = asyncio.Event()

    async def run(self) -> None:
        """Run until cancelled. Adoption and the wish on disk come before the portal does."""
        await self.driver.open()
        await self._find_address()
        self._boot = self.driver.boot_id()
        self.executor.cards = {card.uuid: card for card in await self.driver.inventory()}
        self.runner.changed = self._on_change
        self.runner.listed_at = self.wish.listed_at
        self.runner.notebooks.hear_wish(self.wish.desired)
        await self.runner.adopt()
        self._act.set()
        first = (self._greet(), self._listen(), self._pull_loop(), self._act_loop())
        rest = (self._report_loop(), self._sample_loop(), self.logs.run(self._begun))
        look = self.places.run(lambda: self.wish.desired.watched, self._tell)
        async with asyncio.TaskGroup() as group:
            for loop in (*first, *rest, look, *(s.run(self._on_change) for s in self.runner.sides)):
                group.create_task(loop)

    async def stop_workloads(self, grace_s: float) -> None:
        """Stop everything that runs here, wait until it is clean, and try to tell the portal."""
        self.draining = True
        until = clock.boottime() + grace_s + 5.0
        while clock.boottime() < until and (self._unclean() or self._running):
            live = [r for r in self.runner.records.values() if r.ended_at is None]
            for record in live:
                if not record.stop_asked:
                    await self.runner.stop(record.attempt, ExitReason.NODE_STOPPED, grace_s)
            self._act.set()
            await asyncio.sleep(0.05)
        with contextlib.suppress(CutOff, TimeoutError):
            async with asyncio.timeout(LAST_WORDS_S):
                await self.logs.send()
                await self._report_once()

    async def close(self) -> None:
        """Let go of everything; workloads go on."""
        self.telemetry.close()
        self.runner.close()
        await self.link.close()

    def _unclean(self) -> bool:
        return any(not record.clean for record in self.runner.records.values())

    def _on_change(self) -> None:
        """A process began or ended: tell at once, and see what is to be done now."""
        for event in (self._tell, self._act, self._begun):
            event.set()

    async def _greet(self) -> None:
        """Join or say hello until the portal answers; again whenever the node was rebooted."""
        back_off = BackOff()
        while True:
            try:
                welcome = await self.enrolment.greet(self.link, await self._hello_parts())
            except CutOff as failure:
                log.warning("%s: %s", self.name, failure)
                await asyncio.sleep(back_off.next())
                continue
            back_off.reset()
            self.executor.fence_s = float(welcome.fence_s)
            self.news.forget()
            self._welcome.set()
            for event in (self._pull, self._tell):
                event.set()
            await self._reboot_or_rejected()
            self._welcome.clear()

    async def _hello_parts(self) -> enrol.Self:
        await self._find_address()
        return enrol.Self(
            name=self.name,
            boot_id=self._boot,
            host=self.places.on(self.runner.claims(await self.driver.host())),
            cards=await self.driver.inventory(),
            address=self.address,
        )

    async def _find_address(self) -> None:
        """Asked once, beside the loop: a name may take long to resolve."""
        if not self.address:
            self.address = await asyncio.to_thread(rendezvous.own_address, self.link.portal)

    async def _reboot_or_rejected(self) -> None:
        """Return when hello has to be said again."""
        while self.driver.boot_id() == self._boot and not self.enrolment.rejected:
            await asyncio.sleep(READ_EVERY_S)
        if self.driver.boot_id() != self._boot:
            self._boot = self.driver.boot_id()
            log.warning("%s: the node was rebooted", self.name)
            await asyncio.to_thread(self.runner.kill_everything)
            self._act.set()

    async def _listen(self) -> None:
        """Hold the wake socket; each wake, and each connect, is a reason to pull."""
        back_off = BackOff()
        while True:
            await self._welcome.wait()
            with contextlib.suppress(CutOff):
                async for word in self.link.wakes():
                    back_off.reset()
                    if not self.runner.notebooks.hear(word):
                        self._pull.set()
            await asyncio.sleep(back_off.next())

    async def _pull_loop(self) -> None:
        back_off = BackOff()
        while True:
            await self._welcome.wait()
            try:
                asked = clock.boottime()
                wish = await self.link.desired(self.wish.since)
            except CutOff as failure:
                self.enrolment.refused(failure)
                # A wake socket that opens again says that the line is back: no more waiting then.
                await pause(self._pull, back_off.next())
                continue
            back_off.reset()
            self._answered(asked)
            self.news.pulled()
            if wish is not None and self.wish.accept(wish):
                self.executor.settle(wish)
                self.runner.giveway.hear(wish)
                self.runner.notebooks.hear_wish(wish)
                self.places.ask()
                self._act.set()
            elif wish is not None:
                log.warning(
                    "%s: refused an older wish %s.%s", self.name, wish.epoch, wish.generation
                )
            await self.news.until_pull()

    def _wanted(self) -> Desired:
        """The wish in force; a node that was started to observe does no more than that."""
        wish = self.wish.desired
        return replace(wish, observe=True) if self.enrolment.observe else wish

    def _answered(self, asked: float) -> None:
        """The portal lives: leases count from the moment the request was sent."""
        self.executor.lease_at = asked
        self.runner.renew(asked)

    async def _act_loop(self) -> None:
        """Start every step that can be taken; each runs beside the others and tells its end."""
        while True:
            try:
                wait = await self._act_once()
            except Exception:  # what is wanted is compared again with what is, a little later
                log.exception("%s: the node cannot be looked at", self.name)
                wait = READ_EVERY_S
            await pause(self._act, wait)

    async def _act_once(self) -> float:
        """Returns seconds until a step that waits may be tried again."""
        self._forget(self.wish.desired.closed)
        found = await self.found()
        # Read after what was found, with no wait between: what is forgotten is in no later wish.
        wish = self.wish.desired
        wanted = steps(self._wanted(), found)
        waits = [PULL_EVERY_S]
        untried = False
        for step in wanted:
            if step in self._running:
                untried = True
                continue
            wait = self.executor.waits(step)
            if wait > 0:
                waits.append(wait)
                continue
            untried = True
            self._running[step] = asyncio.create_task(self._take(step, found))
        if self.wish.whole and not untried and not self._running:
            self._reach((wish.epoch, wish.generation))
        return min(waits)

    def _reach(self, number: tuple[int, int]) -> None:
        if number != self._reached:
            self._reached = number
            self._tell.set()

    async def _take(self, step: Step, found: Found) -> None:
        try:
            outcome = await self.executor.take(step, self.wish.desired, found)
            if outcome is not None:
                self._outcomes = [*self._outcomes[-KEPT_OUTCOMES:], outcome]
            if outcome is not None and not outcome.ok:
                log.warning("%s: %s %s: %s", self.name, step.kind, step.target, outcome.reason)
        finally:
            self._running.pop(step, None)
            self._on_change()

    def _forget(self, closed: tuple[str, ...]) -> None:
        """Ends that the books have: their folders go once all output is handed in.

        Only after its clean end was told and answered, and not while the wish in force still lists
        the attempt: forgotten, it would be run again.
        """
        listed = {work.attempt for work in self.wish.desired.work}
        for attempt in closed:
            record = self.runner.records.get(attempt)
            if record is None or attempt in listed:
                continue
            if attempt in self._told and not self.logs.pending(record):
                self._told.discard(attempt)
                self.runner.forget(attempt)

    async def found(self) -> Found:
        """The node as it is now, for the steps and for the report."""
        wish = self.wish.desired
        modes = await self.driver.modes()
        present = self.executor.seen(await self.driver.slices(), wish)
        records = list(self.runner.records.values())
        work = [WorkSeen(r.attempt, r.state, r.slices, r.clean, r.begun, r.told) for r in records]
        work += [WorkSeen(old.attempt, old.state, (), True) for old in self._buried()]
        may_start = self.wish.whole and not self.draining
        late = self.runner.giveway.late()
        return Found(present, tuple(work), modes, may_start, late)

    def _buried(self) -> list[FoundWork]:
        """Attempts that the wish lists and that ended here long ago: only old books do that."""
        listed = [w.attempt for w in self.wish.desired.work if w.attempt not in self.runner.records]
        ends = (self.runner.buried(attempt) for attempt in listed)
        return [end for end in ends if end is not None]

    def _absent(self) -> list[FoundWork]:
        """What the books closed unseen (this node was given up) and what is not here: it is clean.

        Told until the books strike it off; only a wish from the portal itself is answered so.
        """
        unknown = [a for a in self.wish.desired.closed if a not in self.runner.records]
        if not self.wish.whole:
            return []
        over = WorkFound.EXITED
        return [
            self.runner.buried(a)
            or FoundWork(attempt=a, workload="", state=over, clean=True, message="it is not here")
            for a in unknown
        ]

    async def _report_loop(self) -> None:
        """At once after a change, and every ten seconds: it is the heartbeat, too."""
        back_off = BackOff()
        while True:
            await self._welcome.wait()
            self._tell.clear()
            try:
                await self._report_once()
            except CutOff as failure:
                self.enrolment.refused(failure)
            except Exception:  # an odd answer of a card costs this report, not the agent
                log.exception("%s: there is no report", self.name)
            else:
                back_off.reset()
                await pause_kept(self._tell, REPORT_EVERY_S)
                continue
            await asyncio.sleep(back_off.next())

    async def _report_once(self) -> None:
        reached = self._reached  # read first: what is found afterwards is at least as new
        found = await self.found()
        told = self._outcomes
        ghosts = (*self._buried(), *self._absent())
        asked = clock.boottime()
        report = Report(
            epoch=reached[0],
            generation=reached[1],
            boot_id=self._boot,
            sent_at=clock.wall(),
            slices=found.slices,
            work=(*self.wish.told(self.runner.records.values()), *ghosts),
            cards=await self.driver.health(),
            outcomes=tuple(told),
            places=self.places.found,
        )
        if self.news.known(report):
            return
        taken = await self.link.report(report)
        self._answered(asked)
        self.news.taken(report)
        self._outcomes = [one for one in self._outcomes if one not in told]
        self._told |= {w.attempt for w in report.work if w.clean} & self.runner.records.keys()
        self._forget(taken.closed)
        self.enrolment.rejected |= taken.hello
        self.news.hear(taken.epoch, taken.generation, self.wish.since)
        if taken.wake:
            self._pull.set()

    async def _sample_loop(self) -> None:
        """Read the meters every two seconds, hand in rows of ten."""
        next_row = clock.boottime() + ROW_S
        while True:
            await asyncio.sleep(READ_EVERY_S)
            try:
                await self._sample_once()
            except Exception:  # one odd answer of a card costs this look, not the agent
                log.exception("%s: the cards cannot be read", self.name)
            if clock.boottime() >= next_row:
                next_row = clock.boottime() + ROW_S
                self.telemetry.pack(self._boot)
                await self._hand_in()

    async def _sample_once(self) -> None:
        records = list(self.runner.records.values())
        usage = self.telemetry.usage(records)
        reserved = self.runner.reserved()
        loads = telemetry.loads(records, usage, reserved)
        readings = await self.driver.sample(clock.wall(), loads)
        self.telemetry.take(self.runner.throughput.beside(readings))
        warnings, stops = self.limits.look(telemetry.uses(records, usage, reserved, readings))
        for record in records:
            record.warning = warnings.get(record.attempt, "")
        for attempt, reason in stops.items():
            log.warning("%s: %s is stopped, it %s", self.name, attempt, warnings[attempt])
            self.runner.records[attempt].stopped_for = warnings[attempt]
            await self.runner.stop(attempt, reason, self.runner.records[attempt].grace_s)

    async def _hand_in(self) -> None:
        """Oldest first; what is not taken waits for the next time."""
        try:
            while self._welcome.is_set() and (batch := self.telemetry.oldest()) is not None:
                try:
                    self.news.hear(*await self.link.samples(batch), self.wish.since)
                except NotTaken as failure:
                    log.warning("%s: readings are lost, the portal refuses: %s", self.name, failure)
                self.telemetry.handed_in(batch)
        except CutOff as failure:
            self.enrolment.refused(failure)
