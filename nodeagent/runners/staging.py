"""The private folders of one attempt, made apart and brought to their place by its shim.

What it is given of storage and secrets is laid in by its own process behind the walls; on a node
without walls links stand for it, and nothing there keeps a folder from being written.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from nodeagent import mounts, rendezvous, secrets_shelf
from nodeagent.giveway import contract
from nodeagent.protocol.desired import WantedWork
from nodeagent.runners.accounts import Account

CONTAINER = "container"
"""The runner whose engine walks to what is given by name, where a process does it by handle."""

SECRETS = "secrets"
"""In the attempt's own folder, beside its files."""


@dataclass(frozen=True)
class Laid:
    """A folder of the node that is laid into the attempt's own: `at` is relative to that."""

    root: str
    tail: str
    at: str
    read_only: bool

    @property
    def source(self) -> str:
        """The whole path on the node."""
        return f"{self.root.rstrip('/')}/{self.tail}".rstrip("/")


def laid(work: WantedWork, shelf: Path) -> tuple[Laid, ...]:
    """Everything that is laid into the attempt's folder."""
    found = [Laid(one.root, one.tail, f"files/{one.at}", one.read_only) for one in work.mounts]
    if work.secret_files:
        found.append(Laid(str(shelf), "", SECRETS, True))
    return tuple(found)


def prepare(
    staged: Path, work: WantedWork, account: Account, shelf: Path, *, private: bool
) -> None:
    """Make the folders; only root reaches them until all is there.

    Raises:
        OSError, ValueError: a file or a folder cannot be.
        NotThere: storage that it should be given is not on this node.
    """
    for folder in (staged, staged / "files", staged / "tmp", staged / contract.FOLDER):
        folder.mkdir(mode=0o700)
    _files(staged, work)
    for mount in work.mounts:
        mounts.way_in(mount, account, work.group, by_name=work.runner == CONTAINER)
    if work.secret_files:
        secrets_shelf.put(shelf, work.secret_files, account)
    for one in laid(work, shelf):
        target = _inside(staged, one.at)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if private:
            target.mkdir(mode=0o700)
        else:
            target.symlink_to(one.source)
    _give(staged, account)


def _files(staged: Path, work: WantedWork) -> None:
    """The texts that travel with the work."""
    for name, text in work.files.items():
        target = _inside(staged / "files", name)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    if work.launch is not None:
        listed = staged / "tmp" / rendezvous.HOSTS_FILE
        listed.write_text(rendezvous.hosts_file(work.launch), encoding="utf-8")


def _give(staged: Path, account: Account) -> None:
    """All of it to the account; what links lead to is not touched."""
    if account.uid is not None and account.gid is not None:
        for path in (*staged.rglob("*"), staged):
            os.chown(path, account.uid, account.gid, follow_symlinks=False)


def variables(work: WantedWork, home: Path) -> dict[str, str]:
    """Where a job finds what it was given."""
    found = {
        f"GPUPOOL_STORAGE_{re.sub(r'[^A-Z0-9]+', '_', one.name.upper())}": str(
            home / "files" / one.at
        )
        for one in work.mounts
    }
    if work.secret_files:
        found["GPUPOOL_SECRETS"] = str(home / SECRETS)
    return found


def _inside(folder: Path, name: str) -> Path:
    target = folder / name
    if not Path(os.path.normpath(target)).is_relative_to(folder) or name in ("", "."):
        raise ValueError(f"{name!r} leads out of the job's folder")
    return target
