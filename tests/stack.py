"""The whole stack as people start it: `manage.py up` as a process, for flows and drills."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from portal.up.processes import descendants
from tests.architecture.house import ROOT
from tests.waiting import until

# What the tests' own engines are reached by must not leak into a stack that brings its own.
NOT_PASSED_ON = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "GPUPOOL_", "PYTEST")


def free_port() -> int:
    """A port that is free together with the one above it (the gateway's)."""
    for _ in range(100):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return int(port)
    raise RuntimeError("no two free ports in a row")


class RunningStack:
    """One `manage.py up`; everything it prints is kept in `said`."""

    def __init__(self, data: Path, *options: str, prefix: tuple[str, ...] = (), **changed: str):
        self.data = data
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.last_words = ""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}
        self.output = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - closed in stop()
        self.process = subprocess.Popen(
            [
                *prefix,
                *(sys.executable, str(ROOT / "manage.py"), "up", "--port", str(self.port)),
                *("--data-dir", str(data), *options),
            ],
            env=kept | changed,
            cwd=tempfile.gettempdir(),
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
        )

    @property
    def said(self) -> str:
        """Standard output and error so far."""
        if not self.output.closed:
            self.last_words = os.pread(self.output.fileno(), 1 << 20, 0).decode(errors="replace")
        return self.last_words

    def ready(self, *, seconds: float = 120.0) -> "RunningStack":
        """Return when it has printed its address."""
        try:
            until(
                lambda: "Ready:" in self.said or self.process.poll() is not None,
                seconds=seconds,
                what="the stack is ready",
            )
            assert self.process.poll() is None, self.said
        except BaseException:
            self.stop()
            raise
        return self

    def health(self) -> dict[str, Any]:
        """What /healthz says, with the status under `code`; code 0 when nobody answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=5) as answer:
                return {"code": answer.status, **json.loads(answer.read())}
        except urllib.error.HTTPError as bad:
            return {"code": bad.code, **json.loads(bad.read() or b"{}")}
        except OSError:
            return {"code": 0}

    def healthy_again(self, *, seconds: float = 60.0) -> None:
        """Wait until every part is well by a look that began after this call.

        A look is kept for 1 s after its end and takes up to 4 s when parts do not answer: only a
        question put later than both together is surely not answered by an older one.
        """
        asked = time.monotonic()

        def well() -> bool:
            late_enough = time.monotonic() - asked > 5.0
            return self.health()["code"] == 200 and late_enough

        until(well, seconds=seconds, what="/healthz is 200")

    def below(self) -> list[int]:
        """Every live process of it."""
        return descendants(self.process.pid)

    def pids(self, words: str) -> list[int]:
        """Processes of it whose command line holds `words`, parents first."""
        found = []
        for pid in self.below():
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if words in line.decode(errors="replace"):
                found.append(pid)
        return found

    def ended(self, *, seconds: float = 60.0) -> int:
        """Its exit status, waited for."""
        try:
            return self.process.wait(seconds)
        finally:
            self._hear_out()

    def stop(self) -> int:
        """Ask it to end, and wait for that; whatever refuses is killed and fails the caller."""
        before = self.below() if self.process.poll() is None else []
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            for pid in [self.process.pid, *before]:
                os.kill(pid, signal.SIGKILL)
            raise
        finally:
            self._hear_out()

    def _hear_out(self) -> None:
        """Keep what it said; the file is not needed any more."""
        assert self.said is not None
        self.output.close()
