"""What `manage.py up` was asked to do."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from portal.up.refusal import Refused

HOSTS = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "::")  # noqa: S104 - asked for by a person
FIRST_RUNS = ("example", "empty", "observe")


@dataclass(frozen=True)
class Options:
    """The command line, checked. Paths are absolute; `first_run` is None when nothing was said."""

    port: int
    host: str
    data_dir: Path
    work_dir: Path | None
    fleet: Path | None
    first_run: str | None
    agents: bool
    web_workers: int
    open_browser: bool

    @property
    def url(self) -> str:
        """Where people go; the gateway has the next port under another name, so cookies differ."""
        shown = "127.0.0.1" if self.open_to_others else self.host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.port}"

    @property
    def open_to_others(self) -> bool:
        """Does it listen on more than loopback?"""
        return self.host in {"0.0.0.0", "::"}  # noqa: S104

    @property
    def gateway_origin(self) -> str:
        """The origin of notebooks and endpoints."""
        return f"http://localhost:{self.port + 1}"

    @property
    def gateway_self(self) -> str:
        """Where local agents dial the gateway."""
        host = "127.0.0.1" if self.open_to_others else self.host
        return f"ws://{f'[{host}]' if ':' in host else host}:{self.port + 1}"

    @property
    def work(self) -> Path:
        """Where workloads' files lie.

        Root's jobs run under other accounts, which must reach it: then outside of the private data
        folder, in a folder of this installation.
        """
        if self.work_dir:
            return self.work_dir
        if os.geteuid() != 0:
            return self.data_dir / "work"
        own = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:8]
        return Path("/var/lib/gpupool/work") / own

    def check(self) -> None:
        """Refuse what cannot be meant.

        Raises:
            Refused: a port, a number or a file that makes no sense.
        """
        if not 1 <= self.port <= 65534:
            raise Refused(f"--port must lie between 1 and 65534, not {self.port}.")
        if self.host not in HOSTS:
            raise Refused(
                f"--host must be a loopback address, or 0.0.0.0 or :: for every address of this"
                f" machine, not {self.host!r}: the local agents go by loopback."
            )
        if not 1 <= self.web_workers <= 64:
            raise Refused(f"--web-workers must lie between 1 and 64, not {self.web_workers}.")
        if self.fleet is not None and not self.fleet.is_file():
            raise Refused(f"The fleet file {self.fleet} does not exist.")
