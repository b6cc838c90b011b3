"""Takes steps, one outcome each; a card is touched by one at a time, within a time limit."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from nodeagent import clock, neighbours, preflight, records
from nodeagent.drivers.base import Busy, Driver, DriverError
from nodeagent.giveway.keeper import LAST_GRACE_S
from nodeagent.neighbours import Mate
from nodeagent.protocol.desired import Desired, WantedSlice, WantedWork
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.report import FoundSlice, Origin, Outcome
from nodeagent.protocol.vocabulary import (
    ExitReason,
    SliceFound,
    StepKind,
    Vendor,
    WorkWanted,
)
from nodeagent.reconcile import Found, Step, impossible
from nodeagent.records import Record
from nodeagent.runners.base import Order, Runner, StartFailed

log = logging.getLogger(__name__)

CALL_LIMIT_S = 60.0
"""A driver call that takes longer has hung: its card is left alone, the others go on."""

RETRY_S = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Waits before a step that was refused for being busy is tried again."""


class Executor:
    """The acts of one node. It keeps what failed, so that reports show it and steps can wait."""

    def __init__(self, driver: Driver, runner: Runner, cards: dict[str, Card]) -> None:
        self.cards = cards
        self.driver = driver
        self.runner = runner
        self.failed: dict[str, FoundSlice] = {}
        self.stuck: dict[str, str] = {}
        self.moving: dict[str, SliceFound] = {}
        self.fence_s = 300.0
        self.lease_at = 0.0
        self._locks: dict[str, asyncio.Lock] = {}
        self._tries: dict[Step, int] = {}
        self._retry_at: dict[Step, float] = {}
        self._acts: dict[StepKind, Callable[[Step, Desired, Found], Awaitable[None]]] = {
            StepKind.SET_MODE: self._set_mode,
            StepKind.CREATE_SLICE: self._create,
            StepKind.DELETE_SLICE: self._delete,
            StepKind.START_WORK: self._start,
            StepKind.STOP_WORK: self._stop,
            StepKind.NOTIFY_WORK: self._notify,
            StepKind.CLEAN: self._clean,
        }

    def waits(self, step: Step) -> float:
        """Seconds until this step may be tried again; 0 is now."""
        return max(self._retry_at.get(step, 0.0) - clock.boottime(), 0.0)

    def tried(self, step: Step) -> bool:
        """Was it tried before, so that it no longer holds the generation up?"""
        return step in self._tries

    def settle(self, wish: Desired) -> None:
        """Forget failures of slices that nobody wants any more: the next wish starts afresh."""
        wanted = {one.uid for one in wish.slices}
        self.failed = {uid: found for uid, found in self.failed.items() if uid in wanted}

    def seen(self, present: tuple[FoundSlice, ...], wish: Desired) -> tuple[FoundSlice, ...]:
        """What the driver finds, with what is being done to it and what could not be made."""
        rows = {one.uid or one.device: self._marked(one) for one in present}
        for one in wish.slices:
            if one.uid not in rows and one.uid in self.moving:
                rows[one.uid] = _unmade(one, self.moving[one.uid], "")
        for uid, one_failed in self.failed.items():
            rows.setdefault(uid, one_failed)
        return tuple(rows.values())

    def _marked(self, one: FoundSlice) -> FoundSlice:
        if one.uid in self.moving:
            return replace(one, state=self.moving[one.uid])
        if one.uid in self.stuck:
            return replace(one, state=SliceFound.FAILED, reason=self.stuck[one.uid])
        return one

    async def take(self, step: Step, wish: Desired, found: Found) -> Outcome | None:
        """Try the step once. Nothing that a card or a job can do makes this raise.

        None when it is only put off: a failure that is told is one that counts.
        """
        began = clock.boottime()
        reason = ""
        final = True
        try:
            async with self._lock(step), asyncio.timeout(CALL_LIMIT_S):
                await self._acts[step.kind](step, wish, found)
        except TimeoutError:
            reason = f"no answer within {CALL_LIMIT_S:g} s"
            final = self._judge(step, wish, Busy(reason))
        except (DriverError, StartFailed, OSError) as failure:
            reason = str(failure) or type(failure).__name__
            final = self._judge(step, wish, failure)
        except Exception as odd:  # of a driver's or a job's making: it ends neither agent nor loop
            log.exception("%s %s", step.kind, step.target)
            reason = f"{type(odd).__name__}: {odd}"
            final = self._judge(step, wish, odd)
        else:
            self._tries.pop(step, None)
            self._retry_at.pop(step, None)
        if reason:
            self._back_off(step)
        if not final:
            return None
        took = clock.boottime() - began
        return Outcome(
            step=step.kind, target=step.target, ok=not reason, reason=reason, took_s=took
        )

    def _lock(self, step: Step) -> asyncio.Lock:
        return self._locks.setdefault(step.card or step.target, asyncio.Lock())

    def _back_off(self, step: Step) -> None:
        tries = self._tries.get(step, 0)
        self._tries[step] = tries + 1
        self._retry_at[step] = clock.boottime() + RETRY_S[min(tries, len(RETRY_S) - 1)]

    def _judge(self, step: Step, wish: Desired, failure: Exception) -> bool:
        """A card that says no for good makes its slice failed; one that is busy is asked again.

        Returns whether the step has failed, rather than been put off.
        """
        if step.kind == StepKind.DELETE_SLICE:
            self.stuck[step.target] = str(failure)
        if step.kind == StepKind.CLEAN and step.target in self.runner.records:
            self.runner.records[step.target].unclean = str(failure)
        if step.kind not in (StepKind.CREATE_SLICE, StepKind.SET_MODE):
            return True
        if isinstance(failure, Busy) and self._tries.get(step, 0) < len(RETRY_S):
            return False
        for one in wish.slices:
            meant = one.uid == step.target or (
                step.kind == StepKind.SET_MODE and one.card == step.card and one.mode == step.mode
            )
            if meant:
                self.failed[one.uid] = _unmade(one, SliceFound.FAILED, str(failure))
        return True

    async def _set_mode(self, step: Step, wish: Desired, found: Found) -> None:
        if step.mode is not None:
            await self.driver.set_mode(step.card, step.mode)

    async def _create(self, step: Step, wish: Desired, found: Found) -> None:
        wanted = next((one for one in wish.slices if one.uid == step.target), None)
        if wanted is None:
            return
        self.moving[step.target] = SliceFound.CREATING
        try:
            await self.driver.create_slice(wanted)
        finally:
            self.moving.pop(step.target, None)

    async def _delete(self, step: Step, wish: Desired, found: Found) -> None:
        self.moving[step.target] = SliceFound.DELETING
        try:
            await self.driver.delete_slice(step.target)
            self.failed.pop(step.target, None)
            self.stuck.pop(step.target, None)
        finally:
            self.moving.pop(step.target, None)

    async def _start(self, step: Step, wish: Desired, found: Found) -> None:
        work = _work(wish, step.target)
        if work is None or work.wanted != WorkWanted.RUN:
            return
        why = impossible(work, found) or self._unrunnable(work)
        if why:
            self.runner.refuse(work, why)
            raise StartFailed(why)
        by_uid = {one.uid: one for one in found.slices}
        slices = tuple(by_uid[uid] for uid in work.slices)
        cards = [self.cards[one.card] for one in slices]
        await self._preflight(step, work, slices, cards)
        vendor = cards[0].vendor if cards else Vendor.OTHER
        numa = tuple(sorted({card.numa for card in cards if card.numa is not None}))
        devices = await self.driver.device_nodes(slices)
        told: dict[str, str] = {}
        for uid in work.slices:
            told |= self.driver.environment(uid)
        slow = self.driver.start_delay_s()
        lease = self.lease_at
        was = origin_of(work, wish)
        order = Order(work, slices, vendor, self.fence_s, lease, devices, numa, told, was, slow)
        await self.runner.start(order)

    def _unrunnable(self, work: WantedWork) -> str:
        """Why no runner of this node can run it, or nothing."""
        if work.runner not in self.runner.kinds:
            return f"this node has no runner {work.runner!r}"
        return "" if work.command else "there is no command to run"

    async def _preflight(
        self, step: Step, work: WantedWork, slices: tuple[FoundSlice, ...], cards: list[Card]
    ) -> None:
        """Put the start off while its card is not free; give it up when that does not end."""
        never = preflight.unfit(work, cards)
        why = never or await preflight.not_there(work, self.runner.own)
        why = why or await preflight.not_free(self.driver, slices, cards)
        if why and (never or self._tries.get(step, 0) >= len(RETRY_S)):
            self.runner.refuse(work, why)
            raise StartFailed(why)
        if why:
            raise Busy(why)

    async def _stop(self, step: Step, wish: Desired, found: Found) -> None:
        work = _work(wish, step.target)
        record = self.runner.records.get(step.target)
        if work is not None:
            rank = work.launch.rank if work.launch is not None else 0
            reason = reason_of(work.stop_reason)
            grace = float(work.grace_s) if work.notice is None else LAST_GRACE_S
            await self.runner.stop(step.target, reason, grace, rank)
        elif record is not None:
            await self.runner.stop(step.target, ExitReason.NODE_LOST, record.grace_s)

    async def _notify(self, step: Step, wish: Desired, found: Found) -> None:
        work = _work(wish, step.target)
        record = self.runner.records.get(step.target)
        if work is not None and work.notice is not None and record is not None:
            await self.runner.giveway.deliver(record, work.notice, draining=work.draining)

    async def _clean(self, step: Step, wish: Desired, found: Found) -> None:
        record = self.runner.records.get(step.target)
        if record is None:
            return
        await self.runner.clean(step.target)
        words = await asyncio.gather(
            *(self._back(uid) for uid in record.slices), return_exceptions=True
        )
        for word in words:
            if isinstance(word, BaseException):
                raise word
            self.runner.removed(step.target, word)
        await self._blame(record, found)
        self.runner.cleaned(step.target)

    async def _back(self, uid: str) -> tuple[str, ...]:
        """Wait for a slice's memory; shown as being cleaned meanwhile."""
        self.moving[uid] = SliceFound.CLEANING
        try:
            word = await preflight.memory_back(self.driver, uid)
        finally:
            self.moving.pop(uid, None)
        return (word,) if word else ()

    async def _blame(self, record: Record, found: Found) -> None:
        """Whose fault its end was: known once those beside it have had time to end as well."""
        shared = {one.uid: one.card for one in found.slices if one.mode in neighbours.SHARED}
        mine = _mate(record, shared)
        if not mine.failed or not neighbours.beside(mine, self._mates(mine, shared)):
            return
        left = (record.ended_at or 0.0) + neighbours.NEAR_S - clock.wall()
        await asyncio.sleep(min(max(left, 0.0), neighbours.NEAR_S))
        struck = neighbours.struck(mine, self._mates(mine, shared))
        for one in [mine, *struck] if struck else ():
            records.blame_neighbour(self.runner.records[one.attempt])

    def _mates(self, mine: Mate, shared: dict[str | None, str]) -> list[Mate]:
        """Everything else that this node remembers."""
        others = (r for r in self.runner.records.values() if r.attempt != mine.attempt)
        return [_mate(one, shared) for one in others]


def _mate(record: Record, shared: dict[str | None, str]) -> Mate:
    ends = neighbours.OWN_ENDS | {ExitReason.NEIGHBOUR}
    return Mate(
        attempt=record.attempt,
        workload=record.workload,
        cards=frozenset(shared[uid] for uid in record.slices if uid in shared),
        ended_at=record.ended_at,
        failed=record.started_at is not None and record.exit_code != 0 and record.reason in ends,
    )


def _unmade(one: WantedSlice, state: SliceFound, reason: str) -> FoundSlice:
    """A slice that is wanted and not there yet, or never will be: it has no device."""
    return FoundSlice(
        uid=one.uid,
        card=one.card,
        mode=one.mode,
        profile=one.profile,
        state=state,
        memory_mib=one.memory_mib,
        start=one.start,
        size=one.size,
        reason=reason,
    )


def origin_of(work: WantedWork, wish: Desired) -> Origin:
    """What has to be remembered of the wish for one attempt: no variable and no file of it."""
    return Origin(
        kind=work.kind,
        number=work.number,
        project=work.env.get("GPUPOOL_PROJECT", ""),
        account=work.account,
        command=work.command,
        slices=tuple(one for one in wish.slices if one.uid in work.slices),
        cpu_milli=work.cpu_milli,
        memory_mib=work.memory_mib,
        disk_mib=work.disk_mib,
        grace_s=work.grace_s,
        runner=work.runner,
        image=work.image,
        size=work.launch.size if work.launch is not None else 1,
    )


def _work(wish: Desired, attempt: str) -> WantedWork | None:
    return next((work for work in wish.work if work.attempt == attempt), None)


def reason_of(words: str) -> ExitReason:
    """The portal's stop reason as an exit reason; words that are none mean stopped."""
    try:
        return ExitReason(words)
    except ValueError:
        return ExitReason.STOPPED
