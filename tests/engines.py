"""The tests' engines: one real PostgreSQL and one real Valkey, shared by all workers of one run.

The first test that needs them starts a keeper process, which runs both by the code of `portal/up`
and ends them when the run's first process is gone. A run without such a test starts nothing.
"""

import contextlib
import fcntl
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from portal.up.postgres import Postgres
from portal.up.processes import dies_with
from portal.up.valkey import Valkey

FOLDER, OWNER = "GPUPOOL_TEST_FOLDER", "GPUPOOL_TEST_OWNER"
PASSWORD = "GPUPOOL_TEST_PASSWORD"
IN_A_HURRY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB")


@dataclass(frozen=True)
class Engines:
    """Both servers of one test run, in one temporary folder."""

    folder: Path
    owner: int
    password: str

    @property
    def postgres(self) -> Postgres:
        return Postgres.found(
            folder=self.folder / "postgres",
            sockets=self.folder,
            password=self.password,
            settings=IN_A_HURRY,
        )

    @property
    def valkey(self) -> Valkey:
        return Valkey.found(
            folder=self.folder / "valkey", sockets=self.folder, password=self.password
        )

    @classmethod
    def of_this_run(cls) -> "Engines":
        """Named by the environment, which the workers of xdist inherit; nothing is started."""
        if FOLDER not in os.environ:
            os.environ[FOLDER] = tempfile.mkdtemp(prefix="gt-")
            os.environ[OWNER] = str(os.getpid())
            os.environ[PASSWORD] = secrets.token_urlsafe(24)
        return cls(Path(os.environ[FOLDER]), int(os.environ[OWNER]), os.environ[PASSWORD])

    @contextlib.contextmanager
    def alone(self, what: str) -> Iterator[Path]:
        """One worker at a time; yields the mark that says whether `what` was done."""
        with (self.folder / f"{what}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self.folder / f"{what}.done"

    def started(self) -> None:
        """Both answer when this returns; the first caller of the run starts the keeper."""
        if os.environ.get("GPUPOOL_TEST_ENGINES") == "off":
            raise RuntimeError("this run was to need no engine (make test-pure)")
        with self.alone("engines") as done:
            if done.exists():
                return
            with (self.folder / "keeper.log").open("wb") as log:
                subprocess.Popen(
                    [sys.executable, "-m", "tests.engines"],
                    cwd=Path(__file__).parents[1],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                ).returncode = 0  # it outlives this worker on purpose
            self._wait()
            done.touch()

    def _wait(self) -> None:
        until = time.monotonic() + 60
        while not (self.postgres.answers() and self.valkey.answers()):
            if time.monotonic() > until:
                raise RuntimeError((self.folder / "keeper.log").read_text(errors="replace"))
            time.sleep(0.02)

    def over(self) -> None:
        """Called by the run's first process at its end: both stopped, nothing left on disk.

        A forked child of that process runs its exit handlers too; it must not end anything.
        """
        if os.getpid() != self.owner:
            return
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            keeper = int((self.folder / "keeper.pid").read_text())
            watch = os.pidfd_open(keeper)
            os.kill(keeper, signal.SIGTERM)
            select.select([watch], [], [], 15)
            os.close(watch)
        shutil.rmtree(self.folder, ignore_errors=True)


def keep(engines: Engines) -> None:
    """Run both until told to stop, or until the run's first process is gone."""
    stopping: list[int] = []
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda number, frame: stopping.append(number))
    owner = os.pidfd_open(engines.owner)
    (engines.folder / "keeper.pid").write_text(str(os.getpid()))
    postgres, valkey = engines.postgres, engines.valkey
    postgres.account.own(engines.folder)
    postgres.create()
    valkey.create()
    running = [
        subprocess.Popen(
            one.command,
            env=postgres.environment,
            cwd=engines.folder,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=dies_with(os.getpid(), signal.SIGQUIT),
        )
        for one in (postgres, valkey)
    ]
    while not stopping and all(one.poll() is None for one in running):
        if select.select([owner], [], [], 0.2)[0]:
            break
    for one, how in zip(running, (signal.SIGQUIT, signal.SIGKILL), strict=True):
        with contextlib.suppress(ProcessLookupError):
            one.send_signal(how)
    for one in running:
        one.wait(10)
    shutil.rmtree(engines.folder, ignore_errors=True)


if __name__ == "__main__":
    keep(Engines.of_this_run())
