"""Attempts as plain processes, each under a shim that outlives this agent."""

import asyncio
import contextlib
import dataclasses
import logging
import marshal
import os
import secrets
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from nodeagent import clock, disk, records, rendezvous, secrets_shelf, shim, walls
from nodeagent.diskuse import DiskUse
from nodeagent.enclosure import enclosure
from nodeagent.enclosure.enclosure import Enclosure
from nodeagent.giveway import contract
from nodeagent.giveway.keeper import GiveWay
from nodeagent.mounts import NotThere
from nodeagent.notebooks.environment import Unavailable
from nodeagent.notebooks.keeper import Notebooks
from nodeagent.notebooks.library import Library
from nodeagent.protocol.desired import WantedWork
from nodeagent.protocol.inventory import Host
from nodeagent.protocol.report import FoundWork
from nodeagent.protocol.version import GIVEN_WAY, NOTEBOOK_WAY
from nodeagent.protocol.vocabulary import ExitReason, Silence, WorkloadKind
from nodeagent.records import Record
from nodeagent.runners import adoption, leftovers, staging
from nodeagent.runners.accounts import NoAccount, resolve
from nodeagent.runners.base import Order, StartFailed
from nodeagent.runners.cleaning import Cleaning
from nodeagent.runners.container import Containers, PullFailed
from nodeagent.runners.setting import WORDS_FD, Setting
from nodeagent.runners.tombs import Tombs
from nodeagent.runners.watch import Watch
from nodeagent.throughput import contract as throughput
from nodeagent.throughput.keeper import Throughput

log = logging.getLogger(__name__)

SOURCES = {"__init__.py": b"", "walls.py": Path(walls.__file__).read_bytes()}
SHIM_SOURCE = Path(shim.__file__).read_bytes()
"""Read once with the program: an upgrade on disk must not mix old orders and new shims."""
PROCESS, CONTAINER = "process", "container"


class ProcessRunner:
    """One node's attempts. `state_dir` is the agent's alone, jobs can pass `work_root`."""

    def __init__(
        self,
        state_dir: Path,
        work_root: Path,
        tools: Path,
        ports: tuple[int, int] | None = None,
        enclosed: Enclosure | None = None,
        containers: Containers | None = None,
        library: Library | None = None,
    ) -> None:
        self.records: dict[str, Record] = {}
        self.changed: Callable[[], None] = lambda: None
        self.listed_at: Callable[[str], float] = lambda attempt: clock.boottime()
        self._attempts = state_dir / "work"
        self._lease = state_dir / "lease"
        self._tombs = Tombs(state_dir / "forgotten")
        self._label = str(state_dir)
        # Its folder keeps the name by which people and tests know it in a list of processes.
        self._shim = state_dir / "nodeagent" / "shim.py"
        self._shim.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, source in {**SOURCES, self._shim.name: SHIM_SOURCE}.items():
            disk.write_whole(self._shim.with_name(name), source)
        self._enclosure = enclosed or enclosure.none()
        self._containers = containers or Containers("")
        engine = (CONTAINER,) if self._containers.program else ()
        self.kinds: tuple[str, ...] = (PROCESS, *engine, NOTEBOOK_WAY, GIVEN_WAY)
        self._setting = Setting(work_root, tools, self._lease, self._enclosure, self._containers)
        self._work_root = work_root
        self._cleaning = Cleaning(
            self._label, work_root, self._enclosure, self._containers, self._setting, self.records
        )
        self.own: tuple[Path, ...] = (state_dir, work_root)
        self._ports = ports
        self._watches: dict[str, Watch] = {}
        self._pulls: dict[str, asyncio.Task[None]] = {}
        self._preparing: dict[str, asyncio.Task[Order]] = {}
        self.giveway = GiveWay(self.records, self._home)
        self.disk = DiskUse(self.records, self._home, self.stop)
        self.throughput = Throughput(self.records, self._home, state_dir, work_root)
        self.notebooks = Notebooks(self.records, self._home, library or Library(work_root))
        self.sides: tuple[GiveWay | Notebooks | Throughput | DiskUse, ...]
        self.sides = (self.giveway, self.notebooks, self.throughput, self.disk)

    async def adopt(self) -> None:
        """Folders first, then shims whose folder is gone or torn: the same processes go on."""
        self._attempts.mkdir(mode=0o700, parents=True, exist_ok=True)
        for record in await asyncio.to_thread(adoption.find, self._attempts, self._label):
            self.records[record.attempt] = record
            if record.ended_at is None and record.claimed:
                self._watch(record, None)
        live = {r.folder.name for r in self.records.values() if not r.clean}
        await asyncio.to_thread(self._enclosure.sweep, live)
        await asyncio.to_thread(secrets_shelf.sweep, self._label, live)
        self.changed()

    async def start(self, order: Order) -> None:
        """Accept on disk, then let one shim claim and run it."""
        work = order.work
        if self._tombs.find(work.attempt) is not None:
            return
        record = self.records.get(work.attempt) or self._accepted(work, order)
        if record.begun:
            return
        if not await self._waits(work):
            await self._launch(record, order)
            return
        # Long work of its own: the step returns, so that a stop is never kept waiting behind it.
        record.pulling = True
        self._pulls[work.attempt] = asyncio.create_task(self._fetch(record, order))

    async def _waits(self, work: WantedWork) -> bool:
        """Whether something has to be fetched or built first, which may take minutes."""
        if work.kind == WorkloadKind.NOTEBOOK:
            return True
        return work.runner == CONTAINER and not await self._containers.has(work.image)

    async def _fetch(self, record: Record, order: Order) -> None:
        """Pull the image or make the environment, then start; what comes of it is in the record."""
        try:
            if order.work.kind == WorkloadKind.NOTEBOOK:
                order = await self._prepared(record, order)
            else:
                await self._containers.pull(record, order.work)
            if record.ended_at is None:
                await self._launch(record, order)
        except StartFailed as failure:
            log.warning("%s cannot start: %s", record.attempt, failure)
        except (PullFailed, Unavailable) as failure:
            self.refuse(order.work, str(failure))
        finally:
            record.pulling = False
            self._pulls.pop(record.attempt, None)
            self.changed()

    async def _prepared(self, record: Record, order: Order) -> Order:
        """The order of a notebook once its environment is there; a stop calls the waiting off."""
        preparing = asyncio.create_task(self.notebooks.prepare(record, order, self.changed))
        self._preparing[record.attempt] = preparing
        try:
            return await preparing
        finally:
            self._preparing.pop(record.attempt, None)

    async def _launch(self, record: Record, order: Order) -> None:
        work = order.work
        try:
            self._meet(record, work)
            if order.delay_s:
                self.changed()
                await asyncio.sleep(order.delay_s)
            child, words = await asyncio.to_thread(self._spawn, record, order)
        except (OSError, NoAccount, NotThere, ValueError) as failure:
            self.refuse(work, str(failure))
            raise StartFailed(str(failure)) from failure
        watch = self._watch(record, child, words)
        await watch.begun.wait()
        if record.reason == ExitReason.START_FAILED:
            raise StartFailed(record.message)

    def refuse(self, work: WantedWork, why: str) -> None:
        """End an attempt that cannot start here, so that it is never tried again."""
        record = self.records.get(work.attempt) or self._accepted(work)
        if records.claim_for_end(record):
            reason = ExitReason.START_FAILED
            records.end(record, reason, code=None, message=why, refused=True)
        else:
            self._take_up(record)
        self.changed()

    async def stop(self, attempt: str, reason: ExitReason, grace_s: float, rank: int = 0) -> None:
        """Tell the shim; without one, the attempt ends here and now."""
        record = self.records.get(attempt)
        if record is None:
            record = self._remember(Record(attempt, self._folder(attempt, rank), rank=rank))
        if record.ended_at is not None:
            return
        if not record.claimed and records.claim_for_end(record):
            self._containers.cancel(attempt)
            if attempt in self._preparing:
                self._preparing[attempt].cancel()
            records.end(record, reason, code=None, message="never started", refused=False)
            self.changed()
            return
        self._take_up(record)
        records.ask_to_stop(record, reason, grace_s)
        watch = self._watches.get(attempt)
        if watch is not None and watch.signal(signal.SIGTERM):
            record.stop_asked = True
        self.changed()

    async def clean(self, attempt: str) -> None:
        """Kill what is left of it wherever it hid, then remove what it left behind."""
        record = self.records[attempt]
        self.removed(attempt, await asyncio.to_thread(self._cleaning.clean, record))
        self.giveway.read(record)
        await asyncio.to_thread(self._cleaning.tidy, record)

    def removed(self, attempt: str, words: tuple[str, ...]) -> None:
        """Each thing is named once, however often cleaning was tried."""
        record = self.records[attempt]
        new = tuple(one for one in words if one not in record.removed)
        record.removed = leftovers.short((*record.removed, *new))

    def cleaned(self, attempt: str) -> None:
        """Stop the attempt's clock and tell."""
        records.mark_clean(self.records[attempt])
        self.changed()

    def forget(self, attempt: str) -> None:
        """Folder and files go; only an end that was cleaned may be forgotten."""
        record = self.records.get(attempt)
        if record is not None and record.clean:
            self._tombs.bury(record.report())
            del self.records[attempt]
            records.forget(record)
            shutil.rmtree(self._work_root / record.folder.name, ignore_errors=True)

    def buried(self, attempt: str) -> FoundWork | None:
        """How an attempt ended that was forgotten since."""
        return self._tombs.find(attempt)

    def claims(self, host: Host) -> Host:
        """What was tried at the start and held; nothing is claimed beyond it."""
        return self._enclosure.claims(replace(host, runners=self.kinds), self._setting.places)

    def renew(self, lease_at: float) -> None:
        """One small file that all shims of this node read; nothing when none of them asks."""
        if not any(r.requeue and r.ended_at is None for r in self.records.values()):
            return
        with contextlib.suppress(OSError):  # a full disk: work that asked for it may be fenced
            disk.write_whole(self._lease, repr(lease_at).encode(), sync=False)

    def reserved(self) -> dict[str, int | None]:
        """From the file that GPUPOOL_MEMORY_FILE names, in each running attempt's folder."""
        live = [record for record in self.records.values() if record.ended_at is None]
        return {record.attempt: self._reserved(record) for record in live}

    def _reserved(self, record: Record) -> int | None:
        with contextlib.suppress(OSError, ValueError):
            home = self._work_root / record.folder.name
            return max(int(disk.read_of_job(home, ("tmp", "gpu_memory_mib"), most=32)), 0)
        return None

    def close(self) -> None:
        """Stop watching."""
        for watch in list(self._watches.values()):
            watch.close()
        self._watches.clear()
        for pull in self._pulls.values():
            pull.cancel()
        self.notebooks.close()
        self._enclosure.close()

    def kill_everything(self) -> None:
        """The node was rebooted: nothing may live on. Only a simulated node needs this."""
        for record in self.records.values():
            if record.ended_at is None:
                self._cleaning.sweep(record, shims_too=True)

    def _told(self, record: Record, order: Order) -> Order:
        """The order with where the job leaves words about its speed."""
        return dataclasses.replace(order, told=order.told | self.throughput.variables(record))

    def _home(self, record: Record) -> Path:
        return self._work_root / record.folder.name

    def _folder(self, attempt: str, rank: int) -> Path:
        return self._attempts / records.folder_name(attempt, rank)

    def _meet(self, record: Record, work: WantedWork) -> None:
        """Rank 0 chooses the port where its gang meets, and keeps to it; the others are told."""
        if work.launch is None or record.port:
            return
        record.port = work.launch.port
        if work.launch.rank == 0 and not record.port:
            record.port = rendezvous.free_port(self._ports)
        records.accept(record)

    def _accepted(self, work: WantedWork, order: Order | None = None) -> Record:
        slices = order.slices if order is not None else ()
        rank = work.launch.rank if work.launch is not None else 0
        choice = contract.choice_of(work.env)
        return self._remember(
            Record(
                attempt=work.attempt,
                folder=self._folder(work.attempt, rank),
                rank=rank,
                workload=work.workload,
                slices=work.slices,
                grace_s=float(work.grace_s),
                requeue=work.silence == Silence.REQUEUE,
                memory_mib=work.memory_mib,
                container=work.runner == CONTAINER,
                disk_mib=work.disk_mib,
                card_mib=sum(one.memory_mib for one in slices),
                signal=choice.signal,
                hook=choice.hook,
                scrape=throughput.choice_of(work.env),
                origin=order.origin if order is not None else None,
            )
        )

    def _remember(self, record: Record) -> Record:
        record.accepted = self.listed_at(record.attempt)
        record.boot = clock.boot_id()
        records.accept(record)
        self.records[record.attempt] = record
        return record

    def _take_up(self, record: Record) -> None:
        """Look after an attempt whose shim took it later than we looked: an earlier agent's."""
        records.refresh(record)
        lives = record.claimed and record.ended_at is None
        if lives and record.attempt not in self._watches:
            self._watch(record, None)

    def _watch(self, record: Record, child: int | None, words: int | None = None) -> Watch:
        def on_change() -> None:
            if record.ended_at is not None:
                self._watches.pop(record.attempt, None)
            self.changed()

        watch = Watch(record, child, words, on_change)
        self._watches[record.attempt] = watch
        watch.open()
        return watch

    def _spawn(self, record: Record, order: Order) -> tuple[int, int]:
        """Start the shim and hand it its order: (its pid, where its words come in)."""
        account = resolve(order.work.account, order.work.group)
        staged = self._work_root / f".{record.folder.name}.{secrets.token_hex(4)}"
        shelf, private = self._setting.shelf(record), self._setting.lays(record)
        staging.prepare(staged, order.work, account, shelf, private=private)
        spec = marshal.dumps(self._setting.spec(record, self._told(record, order), account, staged))
        order_read, order_write = os.pipe()
        words_read, words_write = os.pipe()
        try:
            pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-I", "-S", "-E", str(self._shim)],
                adoption.labels(record, self._label),
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, order_read, 0),
                    (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, words_write, WORDS_FD),
                ],
                setsid=True,
            )
            os.close(order_read)
            order_read = -1
            with os.fdopen(order_write, "wb") as pipe, contextlib.suppress(BrokenPipeError):
                order_write = -1
                pipe.write(spec)
        except OSError:
            os.close(words_read)
            raise
        finally:
            for handle in (order_read, order_write, words_write):
                if handle >= 0:
                    os.close(handle)
        return pid, words_read
