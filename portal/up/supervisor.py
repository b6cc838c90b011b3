"""The supervisor: starts parts, adopts orphans, restarts what dies, ends everything in order."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from portal.up.board import Board
from portal.up.child import Child
from portal.up.part import Part, Phase
from portal.up.processes import become_subreaper, descendants, end_all
from portal.up.refusal import Refused

ASKED_TO_STOP = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
WATCHED = ASKED_TO_STOP | {signal.SIGCHLD}
TURN = 0.1
PROBE_FIRST, PROBE_LATER = 0.25, 3.0
HURRY = 1.0
TOO_OFTEN = 6
TRIM_EVERY = 60.0


class Stopped(Exception):
    """A person or the system asked for the end while something was awaited."""


class Supervisor:
    """One of it runs in a process; only it takes SIGINT and SIGTERM."""

    def __init__(self, *, board: Board, logs: Path, environment: Mapping[str, str]) -> None:
        self.board = board
        self.logs = logs
        self.environment = environment
        self.children: list[Child] = []
        self.asked = 0
        self.stopping = False
        self._trimmed = time.monotonic()
        signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
        become_subreaper()
        self._prober = threading.Thread(target=self._probe_for_ever, daemon=True)
        self._prober.start()

    def begin(self, parts: Sequence[Part]) -> list[Child]:
        """Start parts; they are kept alive from now on."""
        new = [
            Child(part, log=self.logs / f"{part.name}.log", environment=self.environment)
            for part in parts
        ]
        self.children += new
        for child in new:
            child.start()
        self._show()
        return new

    def wait_for(self, ready: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Take turns until `ready`.

        Raises:
            Refused: the time is over, or a part ends again and again before it was ever well.
            Stopped: asked to stop meanwhile.
        """
        until = time.monotonic() + seconds
        while not ready():
            self.turn()
            for child in self.children:
                if child.failures >= TOO_OFTEN:
                    raise Refused(
                        f"{child.name} ends again and again ({child.last_line()[:300]});"
                        f" its log is {child.log}"
                    )
            if time.monotonic() > until:
                late = ", ".join(c.name for c in self.children if c.phase != Phase.HEALTHY)
                raise Refused(
                    f"{what} was not ready after {seconds:g} s (waiting for: {late or what});"
                    f" the logs are in {self.logs}"
                )

    def run(self, parts: Sequence[Part], *, seconds: float = 600.0) -> None:
        """Run parts that end by themselves, side by side, once.

        Raises:
            Refused: one ended badly; the message is the last line of its log.
            Stopped: asked to stop meanwhile.
        """
        new = [
            Child(part, log=self.logs / f"{part.name}.log", environment=self.environment)
            for part in parts
        ]
        for child in new:
            child.log.unlink(missing_ok=True)
            self.board.step(child.name, Phase.STARTING)
            child.start()
        until = time.monotonic() + seconds
        while any(child.process for child in new):
            self.turn(also=new)
            if time.monotonic() > until:
                for child in new:
                    child.signal_group(signal.SIGKILL)
        for child in new:
            self._judge(child)

    def _judge(self, child: Child) -> None:
        done = child.note.startswith("exit 0;")
        self.board.step(child.name, Phase.DONE if done else Phase.STOPPED)
        if not done:
            said = child.last_line() or f"{child.name} failed ({child.note})"
            raise Refused(f"{said} (the log is {child.log})")

    def turn(self, *, also: Sequence[Child] = ()) -> None:
        """Wait for a signal or a moment, reap, start what is due, show.

        Raises:
            Stopped: asked to stop, and not stopping yet.
        """
        self._listen(TURN)
        self._reap(also)
        if self.asked and not self.stopping:
            raise Stopped
        for child in self.children:
            due = child.phase == Phase.RESTARTING and time.monotonic() >= child.due
            if due and not self.stopping:
                child.start()
        if time.monotonic() - self._trimmed > TRIM_EVERY:
            self._trimmed = time.monotonic()
            for child in self.children:
                child.trim_log()
        self._show()

    def _listen(self, seconds: float) -> None:
        got = signal.sigtimedwait(WATCHED, seconds)
        if got and got.si_signo in ASKED_TO_STOP:
            self.asked += 1

    def _reap(self, also: Sequence[Child] = ()) -> None:
        """Take every exit status, of orphans too: a subreaper must."""
        known = {c.pid: c for c in [*self.children, *also] if c.pid}
        with contextlib.suppress(ChildProcessError):
            while (got := os.waitpid(-1, os.WNOHANG))[0]:
                if got[0] in known:
                    known[got[0]].reaped(got[1])

    def _show(self) -> None:
        if not self.stopping:
            self.board.show(self.children)

    def _probe_for_ever(self) -> None:
        """In a thread of its own: a probe may take a second, a restart must not wait for it."""
        while not self.stopping:
            for child in list(self.children):
                if child.process is not None:
                    child.probe()
            settled = all(child.phase == Phase.HEALTHY for child in list(self.children))
            time.sleep(PROBE_LATER if settled and self.children else PROBE_FIRST)

    def stop(self, order: Sequence[Callable[[Child], bool]]) -> None:
        """End the parts, group after group, then everything that is left below this process.

        A second request to stop shortens every wait to one second.
        """
        self.stopping = True
        self.board.stopping()
        for belongs in order:
            group = [c for c in self.children if belongs(c)]
            self._end(group)
        end_all(lambda: self._left_over())
        self._reap()

    def _end(self, group: list[Child]) -> None:
        for child in group:
            child.farewell()
        begun = time.monotonic()
        while any(child.process for child in group):
            self.turn()
            for child in group:
                patience = HURRY if self.asked > 1 else child.part.grace
                if child.process and time.monotonic() - begun > patience:
                    child.signal_group(signal.SIGKILL)
        for child in group:
            child.phase, child.note = Phase.STOPPED, ""
            self.board.step(child.name, Phase.STOPPED)

    def _left_over(self) -> list[int]:
        self._reap()
        return descendants(os.getpid())
