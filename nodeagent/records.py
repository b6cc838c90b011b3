"""What a node remembers of each attempt: one folder each; any crash leaves the truth in it."""

import contextlib
import hashlib
import logging
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from nodeagent import clock, diagnosis, disk, processes
from nodeagent.protocol.notebooks import NotebookSeen
from nodeagent.protocol.report import FoundWork, Origin
from nodeagent.protocol.vocabulary import ExitReason, WorkFound

log = logging.getLogger(__name__)

STRUCK = "it ended within seconds of others on its card"

SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")


@dataclass
class Record:
    """One attempt. Files of its folder, and who writes them:

    `record.json` (agent: it was accepted), `notice.json` (agent: it was told to leave), `claim`
    (shim, or the agent when it shall never start), `started`, `stopping`, `ended` (shim),
    `clean.json` (agent), `log/` (shim).
    """

    attempt: str
    folder: Path
    workload: str = ""
    slices: tuple[str, ...] = ()
    rank: int = 0
    port: int = 0
    accepted: float = 0.0
    boot: str = ""
    grace_s: float = 30.0
    requeue: bool = False
    memory_mib: int = 0
    card_mib: int = 0
    disk_mib: int = 0
    claimed: bool = False
    shim_pid: int = 0
    shim_ticks: int = 0
    pid: int | None = None
    pid_ticks: int = 0
    started_at: float | None = None
    stop_asked: bool = False
    asked: str = ""
    ended_at: float | None = None
    exit_code: int | None = None
    reason: ExitReason | None = None
    message: str = ""
    refused: bool = False
    swept: bool = False
    clean: bool = False
    unclean: str = ""
    removed: tuple[str, ...] = ()
    warning: str = ""
    disk_warning: str = ""
    stopped_for: str = ""
    held_s: float | None = None
    clean_at: float | None = None
    peak_memory_mib: int | None = None
    container: bool = False
    pulling: bool = False
    signal: str = "TERM"
    hook: str = ""
    scrape: str = ""
    notice: str = ""
    noticed_at: float | None = None
    acked_at: float | None = None
    signalled: bool = False
    checkpoint_step: int | None = None
    checkpoint_at: float | None = None
    checkpoint_path: str = ""
    origin: Origin | None = None
    notebook: NotebookSeen | None = None

    @property
    def state(self) -> WorkFound:
        """Where the attempt stands, read from what is known of it."""
        if self.ended_at is not None:
            return WorkFound.REFUSED if self.refused else WorkFound.EXITED
        if self.stop_asked:
            return WorkFound.STOPPING
        return WorkFound.STARTING if self.started_at is None else WorkFound.RUNNING

    @property
    def begun(self) -> bool:
        """Has a shim taken it, is it over, or is its image on the way? Then nobody starts it."""
        return self.claimed or self.ended_at is not None or self.pulling

    @property
    def told(self) -> str:
        """The order to leave that reached the job, or nothing: without its signal it did not."""
        return self.notice if self.signalled else ""

    def shim_alive(self) -> bool:
        """Does the very shim that claimed this attempt still run?"""
        return self.shim_pid > 0 and processes.alive(self.shim_pid, self.shim_ticks)

    def report(self) -> FoundWork:
        """The attempt in the protocol's words."""
        return FoundWork(
            attempt=self.attempt,
            workload=self.workload,
            state=self.state,
            rank=self.rank,
            port=self.port,
            pid=self.pid,
            started_at=self.started_at,
            ended_at=self.ended_at,
            exit_code=self.exit_code,
            exit_reason=self.reason,
            message=self.message or self.stopped_for or self.warning or self.disk_warning,
            clean=self.clean,
            unclean=self.unclean,
            removed=self.removed,
            held_s=self.held_s,
            clean_at=self.clean_at,
            log_bytes=log_size(self.folder),
            peak_memory_mib=self.peak_memory_mib,
            checkpoint_step=self.checkpoint_step,
            checkpoint_at=self.checkpoint_at,
            checkpoint_path=self.checkpoint_path,
            notice=self.notice,
            noticed_at=self.noticed_at,
            acked_at=self.acked_at,
            notebook=self.notebook,
        )


def folder_name(attempt: str, rank: int = 0) -> str:
    """A file name for an attempt's id, whatever the portal sends.

    Simulated nodes of one machine share a work root, so that ranks must not share a folder.
    """
    if not SAFE_NAME.fullmatch(attempt):
        attempt = "x" + hashlib.sha256(attempt.encode()).hexdigest()[:40]
    return f"{attempt}-r{rank}" if rank else attempt


def accept(record: Record) -> None:
    """Remember, before anything is started, that this attempt was taken on."""
    record.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk.write_json(
        record.folder / "record.json",
        {
            "attempt": record.attempt,
            "workload": record.workload,
            "slices": list(record.slices),
            "rank": record.rank,
            "container": record.container,
            "port": record.port,
            "accepted": record.accepted,
            "boot": record.boot,
            "grace_s": record.grace_s,
            "requeue": record.requeue,
            "memory_mib": record.memory_mib,
            "card_mib": record.card_mib,
            "disk_mib": record.disk_mib,
            "signal": record.signal,
            "hook": record.hook,
            "scrape": record.scrape,
            "origin": msgspec.to_builtins(record.origin),
        },
    )


def load(folder: Path) -> Record:
    """The attempt as its folder tells it; torn or missing files only leave words unknown."""
    said = disk.read_json(folder / "record.json") or {}
    record = Record(attempt=str(said.get("attempt", folder.name)), folder=folder)
    with contextlib.suppress(TypeError, ValueError):
        record.workload = str(said.get("workload", ""))
        record.slices = tuple(str(uid) for uid in said.get("slices", ()))
        record.rank = int(said.get("rank", 0))
        record.port = int(said.get("port", 0))
        record.accepted = float(said.get("accepted", clock.boottime()))
        record.boot = str(said.get("boot", ""))
        record.grace_s = float(said.get("grace_s", 30.0))
        record.requeue = bool(said.get("requeue", False))
        record.memory_mib = int(said.get("memory_mib", 0))
        record.card_mib = int(said.get("card_mib", 0))
        record.disk_mib = int(said.get("disk_mib", 0))
        record.container = bool(said.get("container", False))
        record.signal = str(said.get("signal", "TERM"))
        record.hook = str(said.get("hook", ""))
        record.scrape = str(said.get("scrape", ""))
    with contextlib.suppress(msgspec.ValidationError):
        record.origin = msgspec.convert(said.get("origin"), Origin | None)
    refresh(record)
    return record


def refresh(record: Record) -> None:
    """Read again what the shim has written."""
    claim = disk.read_pairs(record.folder / "claim")
    if claim is not None:
        record.claimed = True
        record.shim_pid = int(claim.get("pid", "0"))
        record.shim_ticks = int(claim.get("ticks", "0"))
        record.boot = record.boot or claim.get("boot", "")
    started = disk.read_pairs(record.folder / "started")
    if started is not None:
        record.pid = int(started["pid"])
        record.pid_ticks = int(started.get("ticks", "0"))
        record.started_at = float(started["at"])
    if (record.folder / "stopping").exists():
        record.stop_asked = True
    ended = disk.read_pairs(record.folder / "ended")
    if ended is not None:
        _read_end(record, ended)
    _read_notice(record, disk.read_json(record.folder / "notice.json") or {})
    cleaned = disk.read_json(record.folder / "clean.json")
    if cleaned is not None:
        record.clean = True
        record.held_s = cleaned.get("held_s")
        record.clean_at = cleaned.get("at")
        record.removed = tuple(str(one) for one in cleaned.get("removed", ()))


def _read_notice(record: Record, said: dict[str, Any]) -> None:
    """An order to leave that was handed over, so that the next agent does not do it again."""
    if not said.get("order"):
        return
    record.notice = str(said["order"])
    record.noticed_at, record.acked_at = said.get("at"), said.get("acked_at")
    record.signalled = said.get("signalled") is True


def _read_end(record: Record, ended: dict[str, str]) -> None:
    record.ended_at = float(ended["at"])
    code = ended.get("exit_code", "")
    record.exit_code = int(code) if code.lstrip("-").isdigit() else None
    with contextlib.suppress(ValueError):
        record.reason = ExitReason(ended.get("reason", ""))
        if record.reason == ExitReason.STOPPED and record.asked:
            record.reason = ExitReason(record.asked)
    if record.reason == ExitReason.OWN_ERROR and diagnosis.out_of_card_memory(record.folder):
        record.reason = ExitReason.OOM_CARD
    record.swept = ended.get("swept") == "yes"
    left = ended.get("left", "0")
    if left != "0" and not record.removed:
        many = "process" if left == "1" else "processes"
        record.removed = (f"{left} {many} that outlived its main one",)
    record.message = ended.get("message", "")
    record.refused = ended.get("refused") == "yes"


def claim_for_end(record: Record) -> bool:
    """Take the attempt so that no shim ever runs it; False when one has taken it already."""
    record.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    mine = record.folder / f"claim.agent.{os.getpid()}"
    disk.write_pairs(mine, {"pid": 0, "ticks": 0, "boot": record.boot})
    try:
        os.link(mine, record.folder / "claim")
    except FileExistsError:
        return False
    finally:
        mine.unlink(missing_ok=True)
    return True


def ask_to_stop(record: Record, reason: ExitReason, grace_s: float) -> None:
    """Leave word for the shim. The first reason stands though its shim has not read it yet; a later
    ask may only hurry. On a full disk the reason is kept in memory, and the shim, which its signal
    reaches all the same, gives the grace that it began with.
    """
    record.asked = _first_word(record.folder / "stop") or record.asked or str(reason)
    try:
        disk.write_whole(record.folder / "stop", f"{record.asked} {grace_s}".encode())
    except OSError as full:
        log.warning("%s is stopped without its file: %s", record.attempt, full)


def _first_word(file: Path) -> str:
    """The reason of an earlier ask; empty when there was none."""
    with contextlib.suppress(OSError):
        return file.read_text(encoding="utf-8").partition(" ")[0]
    return ""


def end(
    record: Record, reason: ExitReason, *, code: int | None, message: str, refused: bool
) -> None:
    """Write the end that no shim will write: never started, or its shim is gone."""
    pairs: dict[str, object] = {"exit_code": code, "reason": reason, "message": message}
    pairs["at"] = clock.wall()
    pairs["refused"] = "yes" if refused else "no"
    with contextlib.suppress(OSError):  # a full disk: the end is told from memory
        disk.write_pairs(record.folder / "ended", pairs)
    _read_end(record, {key: "" if value is None else str(value) for key, value in pairs.items()})


def blame_neighbour(record: Record) -> None:
    """It ended together with others on its card: none of them is blamed. Kept over a restart."""
    ended = disk.read_pairs(record.folder / "ended")
    if ended is None or record.clean or record.reason == ExitReason.NEIGHBOUR:
        return
    ended |= {"reason": ExitReason.NEIGHBOUR, "message": STRUCK}
    with contextlib.suppress(OSError):  # a full disk: it is told from memory
        disk.write_pairs(record.folder / "ended", dict(ended))
    _read_end(record, ended)


def mark_clean(record: Record) -> None:
    """Nothing of the attempt is left: stop its clock, once."""
    if record.clean:
        return
    same_boot = record.boot in ("", clock.boot_id())
    record.held_s = max(clock.boottime() - record.accepted, 0.0) if same_boot else None
    record.clean_at = clock.wall()
    record.unclean = ""
    # On a full disk it is told from memory: only then may its files go, and make room again.
    with contextlib.suppress(OSError):
        said = {"held_s": record.held_s, "at": record.clean_at, "removed": list(record.removed)}
        disk.write_json(record.folder / "clean.json", said)
    record.clean = True


def forget(record: Record) -> None:
    """The books have taken the end in; the folder may go."""
    shutil.rmtree(record.folder, ignore_errors=True)


def log_size(folder: Path) -> int:
    """Bytes of output so far, the forgotten middle counted."""
    with contextlib.suppress(OSError, ValueError):
        last = max((folder / "log").iterdir(), key=lambda path: int(path.name))
        return int(last.name) + last.stat().st_size
    return 0
