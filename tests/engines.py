"""The tests' engines: a real PostgreSQL and a real Valkey for each process that runs tests.

The first test that needs them starts a keeper process, which runs both by the code of `portal/up`
and ends them when its owner is gone. A run without such a test starts nothing. Workers of xdist do
not share a server: transaction numbers belong to the whole server, and whoever reads events in
their order would wait for the open transactions of another worker's tests.
"""

import contextlib
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from portal.up.postgres import Postgres
from portal.up.processes import dies_with
from portal.up.valkey import Valkey

PASSWORD = "GPUPOOL_TEST_PASSWORD"
IN_A_HURRY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB")


def _unused_folder() -> Path:
    """A short name that nobody has; the folder is made when an engine is needed."""
    return Path(tempfile.gettempdir()) / f"gt-{secrets.token_hex(6)}"


@dataclass
class Engines:
    """Both servers of one process, in one temporary folder."""

    folder: Path = field(default_factory=_unused_folder)
    owner: int = field(default_factory=os.getpid)
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    running: bool = False

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

    def started(self) -> None:
        """Both answer when this returns; the first call starts the keeper."""
        if self.running:
            return
        if os.environ.get("GPUPOOL_TEST_ENGINES") == "off":
            raise RuntimeError("this run was to need no engine (make test-pure)")
        self.folder.mkdir(mode=0o700)
        with (self.folder / "keeper.log").open("wb") as log:
            subprocess.Popen(
                [sys.executable, "-m", "tests.engines", str(self.folder), str(self.owner)],
                cwd=Path(__file__).parents[1],
                env={**os.environ, PASSWORD: self.password},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            ).returncode = 0  # it watches its owner and is asked to end by `over`
        self._wait()
        self.running = True

    def _wait(self) -> None:
        until = time.monotonic() + 120
        while not (self.postgres.answers() and self.valkey.answers()):
            if time.monotonic() > until:
                raise RuntimeError((self.folder / "keeper.log").read_text(errors="replace"))
            time.sleep(0.02)

    def over(self) -> None:
        """Called by the owner at its end: both stopped, nothing left on disk.

        A forked child of the owner runs its exit handlers too; it must not end anything.
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
    """Run both until told to stop, or until the owner is gone."""
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
    keep(Engines(Path(sys.argv[1]), int(sys.argv[2]), os.environ[PASSWORD]))
