"""The folders of a stack: the data folder with its lock, and a short one for unix sockets."""

import fcntl
import json
import os
import secrets
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.up.refusal import Refused

SOCKET_PATH_LIMIT = 107
SOCKET_FOLDER = "gp-"
LONGEST_SOCKET_NAME = ".s.PGSQL.5432"


def socket_folder() -> Path:
    """A fresh 0700 folder whose sockets' paths stay within the kernel's 107 bytes.

    Raises:
        Refused: no folder short enough can be written.
    """
    asked = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()]
    for base in [*asked, "/run", "/dev/shm", "/var/tmp"]:  # noqa: S108 - mkdtemp makes them private
        if not base or not os.access(base, os.W_OK | os.X_OK):
            continue
        length = (
            len(os.fsencode(base)) + len(f"/{SOCKET_FOLDER}12345678/") + len(LONGEST_SOCKET_NAME)
        )
        if length <= SOCKET_PATH_LIMIT:
            return Path(tempfile.mkdtemp(prefix=SOCKET_FOLDER, dir=base))
    raise Refused(
        "No folder for unix sockets: XDG_RUNTIME_DIR and TMPDIR are too long (a socket's path ends"
        f" at {SOCKET_PATH_LIMIT} bytes) or not writable. Set TMPDIR to a short folder."
    )


def work_folder(folder: Path) -> None:
    """Make the root of the jobs' files; root's jobs run under other accounts and must reach it.

    Raises:
        Refused: it cannot be made, or a folder on the way is closed to those accounts.
    """
    try:
        for step in reversed([folder, *folder.parents]):
            if not step.exists():
                step.mkdir()
                step.chmod(0o711)
    except OSError as bad:
        raise Refused(
            f"The work folder {folder} cannot be made: {bad.strerror}. Choose another with"
            " --work-dir."
        ) from bad
    closed = [step for step in folder.parents if not step.stat().st_mode & 0o001]
    if os.geteuid() == 0 and closed:
        raise Refused(
            f"Jobs run under accounts of their own, which cannot pass {closed[-1]}: choose another"
            " --work-dir, or start as an ordinary user."
        )


@dataclass(frozen=True)
class DataFolder:
    """D of one installation: everything that must survive a restart lies below it."""

    root: Path

    @property
    def run(self) -> Path:
        """Connection data and secrets, 0700."""
        return self.root / "run"

    @property
    def log(self) -> Path:
        """One file a process."""
        return self.root / "log"

    @property
    def connection(self) -> Path:
        """What other commands read to reach the running stack, 0600."""
        return self.run / "connection.json"

    @property
    def fleet(self) -> Path:
        """The simulated fleet that later starts use when none is named."""
        return self.root / "fleet.yaml"

    @property
    def credentials(self) -> Path:
        """Who may log in, written once by the first run, 0600."""
        return self.root / "credentials.json"

    def create(self) -> None:
        """Make it, private to its owner.

        Raises:
            Refused: it cannot be made or written.
        """
        try:
            for folder in (self.root, self.run, self.log, self.root / "mail"):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.run):
                pass
        except OSError as bad:
            raise Refused(
                f"The data folder {self.root} cannot be written: {bad.strerror}. Choose another"
                " with --data-dir."
            ) from bad

    def lock(self) -> int:
        """Hold it for this process; the lock goes with the process, however it ends.

        Returns the open file descriptor, which the caller keeps.

        Raises:
            Refused: another process holds it.
        """
        handle = os.open(self.run / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode(errors="replace").strip()
            os.close(handle)
            raise Refused(
                f"The stack on {self.root} is already running (process {holder or 'unknown'}):"
                " stop it first, or choose another --data-dir."
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        return handle

    def words(self) -> dict[str, str]:
        """The secrets of this installation, made on the first start and kept."""
        file = self.run / "secrets.json"
        kept: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        wanted = (
            "postgres_password",
            "valkey_password",
            "secret_key",
            "health_token",
            "sealing_key",
        )
        missing = [name for name in wanted if name not in kept]
        if missing:
            kept |= {name: secrets.token_urlsafe(48) for name in missing}
            write_private(file, kept)
        return kept


def write_private(path: Path, value: Any) -> None:
    """Replace a JSON file that only its owner may read, whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
