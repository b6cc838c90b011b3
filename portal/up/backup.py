"""Backup and restore of an installation: its books, and the keys that open what is sealed there."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from portal.settings.env import ROOT
from portal.up import clients, standing
from portal.up.archive import BOOKS, FORMAT, KEYS, PEOPLE, About, pack, sum_of, unpacked
from portal.up.folders import DataFolder, write_private
from portal.up.refusal import Refused

Say = Callable[[str], None]
EPOCH = "SELECT epoch FROM pool_installation WHERE id = 1"
FRESH = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;"
OF_THE_ENGINES = ("postgres_password", "valkey_password")
"""Words of a data folder that belong to the engines in it, and to no other's."""


def backup(*, data: Path, target: Path, say: Say) -> About:
    """Write an archive of the installation; the stack may run: a dump is one consistent reading.

    Raises:
        Refused: the file is there already or cannot be written, or the database cannot be read.
    """
    if target.exists():
        raise Refused(f"{target} is there already: name another file.")
    if not target.parent.is_dir():
        raise Refused(f"There is no folder {target.parent}.")
    with (
        standing.to_read(data) as url,
        TemporaryDirectory(prefix=".backup-", dir=target.parent) as folder,
    ):
        books = Path(folder) / BOOKS
        epoch, server = int(str(clients.asked(url, EPOCH)[0])), clients.server(url)
        say("Reading the database …")
        clients.run("pg_dump", "--format=custom", "--no-owner", url=url, output=books)
        parts = {BOOKS: books, KEYS: data / "run" / KEYS, PEOPLE: data / PEOPLE}
        parts = {name: path for name, path in parts.items() if path.is_file()}
        say(f"Writing the archive ({_size(books)} of books) …")
        about = About(
            format=FORMAT,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            epoch=epoch,
            server=server,
            sums={name: sum_of(path) for name, path in parts.items()},
        )
        pack(target, about, parts)
    verify(archive=target, say=say)
    return about


def verify(*, archive: Path, say: Say) -> About:
    """Read an archive whole: every sum, and every piece of the dump.

    Raises:
        Refused: it is no backup of this product, or is damaged.
    """
    with unpacked(archive) as (about, room):
        clients.run("pg_restore", "--no-owner", str(room / BOOKS), output=Path(os.devnull))
        say(f"Verified: {', '.join(sorted(about.sums))}; every piece of the dump can be read.")
    return about


def restore(*, archive: Path, data: Path, reason: str, least_epoch: int, say: Say) -> int:
    """Put the books back as they were, in one transaction, and begin a new epoch; its number.

    The epoch is above that of the archive, above that of the books that are replaced, and at least
    `least_epoch`: agents refuse what is older than what they have seen.

    Raises:
        Refused: the archive is damaged or of a newer server, the stack runs, or a step failed.
    """
    with unpacked(archive) as (about, room), standing.to_replace(data) as url:
        here = clients.server(url)
        if here < about.server:
            raise Refused(f"The backup is of PostgreSQL {about.server}, and this server is {here}.")
        epoch = max(about.epoch, _epoch_before(url), least_epoch - 1)
        script = room / "books.sql"
        say(f"Reading the backup of {about.made_at}, epoch {about.epoch} …")
        clients.run("pg_restore", "--no-owner", str(room / BOOKS), output=script)
        say("Putting the database back …")
        raised = f"UPDATE public.pool_installation SET epoch = {epoch:d} WHERE id = 1"  # noqa: S608
        order = ("--command", FRESH, "--file", str(script), "--command", raised)
        quiet = ("--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--single-transaction")
        clients.run("psql", *quiet, *order, url=url)
        _keys_back(room, data, say)
        for words in (("migrate", "--no-input"), ("raise_epoch", "--reason", reason)):
            say(f"manage.py {words[0]} …")
            _manage(data, url, *words)
        return int(str(clients.asked(url, EPOCH)[0]))


def _epoch_before(url: str) -> int:
    """That of the books which are replaced; 0 for an empty database."""
    (there,) = clients.asked(url, "SELECT to_regclass('pool_installation') IS NOT NULL")
    known = "SELECT coalesce(max(epoch), 0) FROM pool_installation"
    return int(str(clients.asked(url, known)[0])) if there else 0


def _keys_back(room: Path, data: Path, say: Say) -> None:
    """The keys of the archive; the passwords of the engines that are here stay."""
    folder = DataFolder(data)
    if (room / KEYS).is_file():
        folder.create()
        kept = json.loads((room / KEYS).read_text(encoding="utf-8"))
        own = {name: word for name, word in folder.words().items() if name in OF_THE_ENGINES}
        write_private(folder.run / KEYS, kept | own)
        say("The keys for what is sealed are back.")
    if (room / PEOPLE).is_file():
        write_private(folder.credentials, json.loads((room / PEOPLE).read_text(encoding="utf-8")))


def _manage(data: Path, url: str, *words: str) -> None:
    known = {"DATABASE_URL": url, "GPUPOOL_DATA_DIR": str(data)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, str(ROOT / "manage.py"), *words],
        env=os.environ | known,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise Refused(f"manage.py {words[0]} failed, and the portal must not be started: {said}")


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"
