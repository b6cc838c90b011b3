"""The embedded PostgreSQL: a real server, reached through a unix socket with a password."""

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from portal.up.account import Account, account_for
from portal.up.binaries import postgres_programs
from portal.up.processes import end_all, standing_in
from portal.up.refusal import Refused

USER = "gpupool"
DATABASE = "gpupool"
MANNERS = (
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_connections=200",
    "timezone=UTC",
    "log_timezone=UTC",
    "log_line_prefix=%m [%p] ",
)


@dataclass(frozen=True)
class Postgres:
    """One server: its folder, the folder of its socket, its password, as whom it runs."""

    folder: Path
    sockets: Path
    password: str
    programs: Path
    account: Account
    settings: tuple[str, ...] = ()

    @classmethod
    def found(
        cls, *, folder: Path, sockets: Path, password: str, settings: tuple[str, ...] = ()
    ) -> "Postgres":
        """With the wheel's programs and the account this machine allows.

        Raises:
            Refused: no programs for this platform, or no account that may run them here.
        """
        programs = postgres_programs()
        return cls(folder, sockets, password, programs, account_for(folder, programs), settings)

    @property
    def data(self) -> Path:
        """The cluster's own folder."""
        return self.folder / "data"

    @property
    def url(self) -> str:
        """The address of the database, in libpq's spelling with the socket folder as host."""
        return self.address(DATABASE)

    def address(self, database: str) -> str:
        """The address of another database of this server."""
        where = quote(str(self.sockets), safe="")
        return f"postgresql://{USER}:{quote(self.password)}@/{database}?host={where}"

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the caller's: an absent locale or a stray PG variable must not matter."""
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}

    def create(self) -> None:
        """Make the cluster when it is not there; a half-made one from a killed start is made anew.

        Raises:
            Refused: `initdb` failed; its last line says why.
        """
        if (self.data / "PG_VERSION").is_file():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.account.own(self.folder)
        new, word = self.folder / "data.new", self.folder / "password"
        shutil.rmtree(new, ignore_errors=True)
        word.unlink(missing_ok=True)
        with os.fdopen(os.open(word, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(self.password)
        self.account.own(word)
        try:
            self._initdb(new, word)
        finally:
            word.unlink()
        new.rename(self.data)

    def _initdb(self, new: Path, word: Path) -> None:
        made = subprocess.run(  # noqa: S603
            [
                *self.account.prefix,
                str(self.programs / "initdb"),
                *("-D", str(new), "-U", USER, "--auth=scram-sha-256", f"--pwfile={word}"),
                *("--encoding=UTF8", "--locale=C"),
                *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--no-instructions"),
            ],
            env=self.environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            user=self.account.uid,
            group=self.account.gid,
            extra_groups=self.account.groups,
        )
        if made.returncode != 0:
            last = (made.stderr.strip().splitlines() or ["no message"])[-1]
            raise Refused(f"PostgreSQL could not make its data folder {self.data}: {last}")

    @property
    def command(self) -> list[str]:
        """The server's command line; inside a user namespace the death signal is set anew."""
        prefix = list(self.account.prefix)
        if prefix and shutil.which("setpriv"):
            prefix += ["setpriv", "--pdeathsig", "QUIT"]
        switches = [part for one in (*MANNERS, *self.settings) for part in ("-c", one)]
        where = ["-D", str(self.data), "-k", str(self.sockets)]
        return [*prefix, str(self.programs / "postgres"), *where, *switches]

    def clear(self) -> None:
        """End what a dead server left: its backends and lock files would refuse the next start.

        Only called while the lock on the data folder is held: no other's server can stand there.
        """
        end_all(lambda: standing_in(self.data))
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for lock in self.sockets.glob(".s.PGSQL.*"):
            lock.unlink(missing_ok=True)

    def answers(self) -> bool:
        """Does it take a connection and a query now?"""
        try:
            with psycopg.connect(self.address("postgres"), connect_timeout=2) as link:
                link.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def create_database(self, name: str = DATABASE) -> None:
        """Make a database when it is not there yet."""
        link = psycopg.connect(self.address("postgres"), autocommit=True)
        with link, contextlib.suppress(psycopg.errors.DuplicateDatabase):
            link.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
