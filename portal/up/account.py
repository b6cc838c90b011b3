"""As whom PostgreSQL runs: it refuses root, so root lends it an ordinary uid."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from portal.up.refusal import Refused

NAMESPACE = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


@dataclass(frozen=True)
class Account:
    """How to start a program that refuses root.

    `prefix` goes before its command line; `uid` and `gid` are set when another account must own its
    files (None: the files stay the caller's own).
    """

    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    @property
    def groups(self) -> list[int] | None:
        """Supplementary groups: none of the caller's for another account."""
        return None if self.uid is None else []

    def own(self, path: Path) -> None:
        """Hand a file or folder to the account; nothing to do when the caller keeps its files."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def account_for(*folders: Path) -> Account:
    """The account for PostgreSQL, which must be able to reach every one of `folders`.

    An ordinary user is used as is. Root maps itself to an ordinary uid in a user namespace;
    where the kernel refuses that, the account `nobody` is used.

    Raises:
        Refused: root, no user namespaces, and `nobody` cannot reach one of the folders.
    """
    if needs_another():
        return _nobody(folders)
    return Account(prefix=NAMESPACE if os.geteuid() == 0 else ())


def needs_another() -> bool:
    """Root, where the kernel refuses user namespaces: only another account will do."""
    return os.geteuid() == 0 and not _namespaces_work()


def _namespaces_work() -> bool:
    if not shutil.which(NAMESPACE[0]):
        return False
    tried = subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False)  # noqa: S603
    return tried.returncode == 0


def _nobody(folders: tuple[Path, ...]) -> Account:
    try:
        found = pwd.getpwnam("nobody")
    except KeyError:
        raise Refused(
            "PostgreSQL refuses to run as root, and this machine has neither user namespaces nor an"
            " account `nobody`: start as an ordinary user."
        ) from None
    for folder in folders:
        for step in (folder, *folder.parents):
            if step.exists() and not step.stat().st_mode & 0o001:
                raise Refused(
                    f"PostgreSQL refuses to run as root, user namespaces are off, and the account"
                    f" `nobody` cannot enter {step}: choose another --data-dir or start as an"
                    " ordinary user."
                )
    return Account(uid=found.pw_uid, gid=found.pw_gid)
