"""A part while it runs: its process, its phase, and when it is started again."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO

from portal.up.part import Part, Phase
from portal.up.processes import dies_with

LONGEST_LOG = 64 << 20
FIRST_DELAY, LONGEST_DELAY, STEADY = 0.5, 30.0, 30.0


def delay(failures: int) -> float:
    """Seconds before the n-th start in a row after a failure: 0.5, 1, 2 … at most 30."""
    return float(min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(failures - 1, 10)))


def fresh_child(death: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: no signal stays blocked, and the child does not outlive the supervisor."""
    dies = dies_with(os.getpid(), death)

    def arrange() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        dies()

    return arrange


class Child:
    """Keeps the phase of one part true; the supervisor calls it, it never blocks."""

    def __init__(self, part: Part, *, log: Path, environment: Mapping[str, str]) -> None:
        self.part = part
        self.log = log
        self.environment = environment
        self.phase = Phase.WAITING
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0
        self.started = self.due = 0.0
        self.note = ""

    @property
    def name(self) -> str:
        """The part's name."""
        return self.part.name

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self.process.pid if self.process else None

    def start(self) -> None:
        """Begin a process in a session of its own; a program that cannot start counts as failed."""
        part = self.part
        shown = dict(part.environment)
        try:
            part.before()
            with _appended(self.log) as out:
                self.process = subprocess.Popen(  # noqa: S603
                    part.command,
                    env=shown if part.own_environment else {**self.environment, **shown},
                    cwd=self.log.parent if part.own_environment else None,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                    pass_fds=part.keep_open,
                    user=part.account.uid,
                    group=part.account.gid,
                    extra_groups=part.account.groups,
                    umask=part.umask,
                    preexec_fn=fresh_child(part.death),
                )
        except OSError as bad:
            self.ended(f"cannot start: {bad.strerror}")
            return
        self.phase, self.started = Phase.STARTING, time.monotonic()

    def reaped(self, status: int) -> None:
        """The kernel gave its exit status."""
        code = os.waitstatus_to_exitcode(status)
        if self.process:
            self.process.returncode = code
            self.signal_group(signal.SIGKILL)
        self.ended(f"exit {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}")

    def ended(self, how: str) -> None:
        """It is gone: it will be started again after a growing pause, unless it ran steadily."""
        steady = self.phase == Phase.HEALTHY and time.monotonic() - self.started > STEADY
        self.failures = 1 if steady else self.failures + 1
        self.due = time.monotonic() + delay(self.failures)
        self.process, self.phase = None, Phase.RESTARTING
        self.note = f"{how}; again in {delay(self.failures):g} s"

    def probe(self) -> None:
        """Ask how it is; a bad answer of a healthy part is shown, it does not restart it."""
        asked = self.process
        well = self.part.well()
        if asked is None or self.process is not asked:
            return
        if well:
            self.phase, self.note = Phase.HEALTHY, ""
        elif self.phase == Phase.HEALTHY:
            self.phase = Phase.UNWELL

    def signal_group(self, number: signal.Signals) -> None:
        """To its whole process group: pool children go with their parent."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    def farewell(self) -> None:
        """Ask it to end, in the way that it takes for orderly."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, self.part.farewell)

    def trim_log(self) -> None:
        """A log past 64 MiB becomes NAME.log.1 and begins anew; the process writes at its end."""
        with contextlib.suppress(FileNotFoundError):
            if self.log.stat().st_size > LONGEST_LOG:
                shutil.copyfile(self.log, self.log.with_name(self.log.name + ".1"))
                os.truncate(self.log, 0)

    def last_line(self) -> str:
        """The end of its log, for a message to a person."""
        with contextlib.suppress(OSError):
            with self.log.open("rb") as file:
                file.seek(max(0, self.log.stat().st_size - 4000))
                lines = file.read().decode(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""


def _appended(log: Path) -> IO[bytes]:
    """Its log, private to the owner, written at the end whoever truncates it."""
    return os.fdopen(os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "ab")
