"""PostgreSQL's own programs for dumps, told where the database is by their environment alone."""

import os
import shutil
import subprocess
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from portal.up.binaries import postgres_programs
from portal.up.refusal import Refused

SPELLED = {"dbname": "PGDATABASE", "application_name": "PGAPPNAME"}
"""Parts of an address whose variable is not called PG and the part's name."""


def program(name: str) -> str:
    """The program: the product's own, else the system's.

    Raises:
        Refused: neither is there.
    """
    try:
        return str(postgres_programs() / name)
    except Refused:
        found = shutil.which(name)
    if not found:
        raise Refused(f"There is no {name}: install the client programs of PostgreSQL.")
    return found


def variables(url: str) -> dict[str, str]:
    """The address as variables: no argument that others can list may hold its password."""
    parts = {name: str(value) for name, value in conninfo_to_dict(url).items() if value}
    named = {SPELLED.get(name, f"PG{name.upper()}"): value for name, value in parts.items()}
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **named}


def run(name: str, *words: str, url: str = "", output: Path | None = None) -> str:
    """One program to its end; what it said. Files that it makes are its owner's alone.

    Raises:
        Refused: it failed; its last line says why.
    """
    line = [program(name), *words, *(["--file", str(output)] if output else [])]
    known = variables(url) if url else {"PATH": os.environ.get("PATH", os.defpath)}
    done = subprocess.run(  # noqa: S603
        line, env=known, capture_output=True, text=True, check=False, umask=0o077
    )
    if done.returncode != 0:
        raise Refused(f"{name} failed: {_why(done.stderr)}")
    return done.stdout


def _why(said: str) -> str:
    """The line that names the error, else the last one."""
    lines = said.strip().splitlines() or ["no message"]
    return next((line for line in lines if "error:" in line.lower()), lines[-1])


def asked(url: str, query: str) -> tuple[object, ...]:
    """One row of the database.

    Raises:
        Refused: it cannot be reached, or does not hold that.
    """
    try:
        with psycopg.connect(url, connect_timeout=10) as link:
            row = link.execute(query.encode()).fetchone()
    except psycopg.Error as bad:
        raise Refused(f"The database cannot be used: {str(bad).strip().splitlines()[0]}") from bad
    if row is None:
        raise Refused("The database holds no installation.")
    return tuple(row)


def server(url: str) -> int:
    """The major version of the server."""
    return int(str(asked(url, "SELECT current_setting('server_version_num')::int / 10000")[0]))
