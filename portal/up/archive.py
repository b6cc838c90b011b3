"""The file that a backup is: a plain tar of the books, the keys, and sums of both."""

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

from portal.up.refusal import Refused

ABOUT, BOOKS = "about.json", "books.dump"
KEYS, PEOPLE = "secrets.json", "credentials.json"
FORMAT = 1


@dataclass(frozen=True)
class About:
    """What an archive says of itself: `sums` are SHA-256 by name, `server` a major version."""

    format: int
    made_at: str
    epoch: int
    server: int
    sums: dict[str, str]


def pack(target: Path, about: About, parts: Mapping[str, Path]) -> None:
    """Write an archive that only its owner may read, whole or not at all, and read it again.

    Raises:
        Refused: it cannot be written.
    """
    try:
        # Made in a private folder beside it: in a shared one somebody may wait under any name.
        with TemporaryDirectory(dir=target.parent, prefix=".backup-") as folder:
            told, beside = Path(folder) / ABOUT, Path(folder) / "archive"
            told.write_text(json.dumps(asdict(about), indent=1), encoding="utf-8")
            handle = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "wb") as file:
                with tarfile.open(fileobj=file, mode="w") as made:
                    for name, path in {ABOUT: told, **parts}.items():
                        made.add(path, arcname=name, recursive=False)
                file.flush()
                os.fsync(file.fileno())
            with unpacked(beside):
                beside.replace(target)
    except OSError as bad:
        raise Refused(f"{target} cannot be written: {bad.strerror}.") from bad


@contextmanager
def unpacked(archive: Path) -> Iterator[tuple[About, Path]]:
    """What an archive says, and a private folder with its parts, each held to its sum.

    Raises:
        Refused: there is none, it is no backup of this product, or it is damaged.
    """
    # Beside the archive there is room for its parts; /tmp is often memory.
    beside = archive.parent if os.access(archive.parent, os.W_OK) else None
    with TemporaryDirectory(prefix=".restore-", dir=beside) as folder:
        room = Path(folder)
        try:
            with tarfile.open(archive, mode="r:") as found:
                for name in {ABOUT, BOOKS, KEYS, PEOPLE}.intersection(found.getnames()):
                    found.extract(found.getmember(name), room, filter="data")
        except FileNotFoundError:
            raise Refused(f"There is no file {archive}.") from None
        except (tarfile.TarError, OSError, EOFError) as bad:
            raise Refused(f"{archive} is no backup that can be read: {bad}") from bad
        about = _told(room, archive)
        for name, wanted in about.sums.items():
            if not (room / name).is_file() or sum_of(room / name) != wanted:
                raise Refused(f"{archive} is damaged: {name} is not what was written.")
        yield about, room


def sum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _told(room: Path, archive: Path) -> About:
    try:
        told = json.loads((room / ABOUT).read_text(encoding="utf-8"))
        about = About(**{one.name: told[one.name] for one in fields(About)})
    except (OSError, ValueError, KeyError, TypeError):
        raise Refused(f"{archive} is no backup of this product.") from None
    if about.format != FORMAT:
        raise Refused(f"{archive} was made by another version, in format {about.format}.")
    if BOOKS not in about.sums:
        raise Refused(f"{archive} holds no database.")
    return about
