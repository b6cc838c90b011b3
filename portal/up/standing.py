"""A database to work on: the site's, the running stack's, or the embedded one started for this."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from portal.up.folders import DataFolder, socket_folder
from portal.up.postgres import Postgres
from portal.up.refusal import Refused

STARTS_S = 60.0
STOPS_S = 60.0


@contextmanager
def to_read(data: Path) -> Iterator[str]:
    """The address of the installation's database, whether its stack runs or not.

    Raises:
        Refused: there is none.
    """
    found = os.environ.get("DATABASE_URL", "") or running(data)
    if found:
        yield found
        return
    if not (data / "postgres" / "data").is_dir():
        raise Refused(f"There is no installation in {data}, and DATABASE_URL is not set.")
    with alone(data) as url:
        yield url


@contextmanager
def to_replace(data: Path) -> Iterator[str]:
    """The address of a database that nobody else uses; an embedded one is made where none is.

    Raises:
        Refused: the stack runs, or somebody is connected.
    """
    site = os.environ.get("DATABASE_URL", "")
    if not site:
        with alone(data) as url:
            yield url
        return
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    )
    try:
        with psycopg.connect(site, connect_timeout=10) as link:
            row = link.execute(others).fetchone()
    except psycopg.Error as bad:
        raise Refused(f"The database cannot be used: {str(bad).strip().splitlines()[0]}") from bad
    if row and row[0]:
        raise Refused(f"{row[0]} others are connected to the database: stop the portal first.")
    yield site


def running(data: Path) -> str:
    """The address of the embedded database while its stack runs; else nothing."""
    try:
        known = json.loads((data / "run" / "connection.json").read_text(encoding="utf-8"))
        url = str(known.get("database_url", ""))
        with psycopg.connect(url, connect_timeout=5) as link:
            link.execute("SELECT 1")
    except (OSError, ValueError, psycopg.Error):
        return ""
    return url


@contextmanager
def alone(data: Path) -> Iterator[str]:
    """The embedded server for as long as this lasts, with the lock on its folder.

    Raises:
        Refused: the stack runs, or the server does not start.
    """
    folder = DataFolder(data)
    folder.create()
    handle = folder.lock()
    sockets = socket_folder()
    try:
        words = folder.words()
        engine = Postgres.found(
            folder=data / "postgres", sockets=sockets, password=words["postgres_password"]
        )
        engine.account.own(sockets)
        engine.create()
        engine.clear()
        with _served(engine, folder.log / "postgres.log"):
            engine.create_database()
            yield engine.url
    finally:
        shutil.rmtree(sockets, ignore_errors=True)
        os.close(handle)


@contextmanager
def _served(engine: Postgres, log: Path) -> Iterator[None]:
    with log.open("ab") as said:
        process = subprocess.Popen(  # noqa: S603
            engine.command,
            env=engine.environment,
            cwd=engine.folder,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
            user=engine.account.uid,
            group=engine.account.gid,
            extra_groups=engine.account.groups,
        )
        try:
            _wait(engine, process, log)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOPS_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(engine: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTS_S
    while not engine.answers():
        if process.poll() is not None or time.monotonic() > until:
            raise Refused(f"The embedded PostgreSQL does not start; {log} says why.")
        time.sleep(0.1)
