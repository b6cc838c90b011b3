"""Folders that work may be given: whether this node has them, and the way into them.

Nobody follows a link below a root: what people can write there must not lead elsewhere.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from nodeagent.protocol.inventory import Host
from nodeagent.protocol.places import Mount, Place, Watched
from nodeagent.runners.accounts import Account

INFO = Path("/proc/self/mountinfo")
LOOK_S = 5.0
"""A file system that does not answer for so long counts as not there."""

LOOK_EVERY_S = 10.0
CLOSED = (
    "/proc",
    "/sys",
    "/dev",
    "/etc",
    "/boot",
    "/root",
    "/run",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
)
OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class NotThere(Exception):
    """This node has no such folder, or it may not be given to work."""


def why_not(root: str, types: Sequence[str] = (), info: Path = INFO) -> str:
    """What is wrong with a folder, or nothing. Blocks for as long as its file system does."""
    real = os.path.realpath(root)
    if not root.startswith("/") or real == "/":
        return "it is no folder that may be given"
    if not Path(real).is_dir():
        return "there is no such folder"
    if types and not type_of(real, info).startswith(tuple(types)):
        return f"nothing of type {' or '.join(types)} is mounted there"
    return ""


def given_wrongly(root: str, own: Iterable[Path]) -> str:
    """Why a folder is never given to work: it belongs to the system, or to this agent."""
    real = os.path.realpath(root)
    if any(real == one or real.startswith(f"{one}/") for one in CLOSED):
        return "it belongs to the system"
    for folder in own:
        mine = os.path.realpath(folder)
        if f"{real}/".startswith(f"{mine}/") or f"{mine}/".startswith(f"{real}/"):
            return "the node keeps its own files there"
    return ""


def type_of(real: str, info: Path = INFO) -> str:
    """The type of the file system that a path lies on; "" when nobody says."""
    best, found = -1, ""
    for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
        head, _, tail = line.partition(" - ")
        words = head.split()
        if len(words) < 5 or not tail:
            continue
        point = words[4].encode().decode("unicode_escape").rstrip("/")
        if len(point) >= best and f"{real}/".startswith(f"{point}/"):
            best, found = len(point), tail.split()[0]
    return found


def way_in(mount: Mount, account: Account, group: int, *, by_name: bool = False) -> str:
    """The path of a mount on this node, its missing folders made where that is allowed.

    `by_name` says that a container's engine walks the path once more, as root and following links:
    then nobody but root may be able to put something else into it meanwhile.

    Raises:
        NotThere: a step is missing, is a link, or could be exchanged.
        OSError: the file system refuses.
    """
    handle = os.open(mount.root, OPEN)
    steps = [step for step in mount.tail.split("/") if step]
    try:
        for number, step in enumerate(steps):
            last = number == len(steps) - 1
            if by_name:
                _kept_by_root(handle, step)
            if mount.create:
                _make(handle, step, _own(mount, account, group) if last else None)
            following = _enter(handle, step)
            os.close(handle)
            handle = following
    finally:
        os.close(handle)
    return "/".join([mount.root.rstrip("/"), *steps])


def _kept_by_root(handle: int, step: str) -> None:
    """Whoever may write into a folder may put a link in the place of what lies in it."""
    found = os.fstat(handle)
    if os.geteuid() == 0 and (found.st_uid != 0 or found.st_mode & 0o022):
        raise NotThere(
            f"others than root may exchange {step!r} on the way to it: "
            "it is given to processes only, not to containers"
        )


def _enter(handle: int, step: str) -> int:
    try:
        return os.open(step, OPEN | os.O_NOFOLLOW, dir_fd=handle)
    except FileNotFoundError:
        raise NotThere(f"there is no folder {step!r} in it") from None
    except NotADirectoryError:
        raise NotThere(f"{step!r} in it is no folder") from None


@dataclass(frozen=True)
class _Owner:
    """Whose a new folder is, and who may do what there."""

    uid: int
    gid: int
    mode: int


def _own(mount: Mount, account: Account, group: int) -> _Owner:
    """The work's own account, or all accounts of its project, else whoever this is."""
    if os.geteuid() != 0 or account.uid is None or account.gid is None:
        return _Owner(-1, -1, 0o700)
    if mount.shared and group:
        return _Owner(0, group, 0o2770)
    return _Owner(account.uid, account.gid, 0o700)


def _make(handle: int, step: str, owner: _Owner | None) -> None:
    """Make a folder that is not there; one on the way may be passed by all and read by none."""
    try:
        os.mkdir(step, 0o700, dir_fd=handle)
    except FileExistsError:
        return
    made = os.open(step, OPEN | os.O_NOFOLLOW, dir_fd=handle)
    try:
        if owner is not None and owner.uid >= 0:
            os.fchown(made, owner.uid, owner.gid)
        os.fchmod(made, 0o711 if owner is None else owner.mode)
    finally:
        os.close(made)


class Places:
    """What this node has of the folders that the portal watches; looked at again and again.

    A look that hangs is left alone, and its folder is not looked at again until it ends.
    """

    def __init__(self) -> None:
        self.found: tuple[Place, ...] | None = None
        self._hanging: dict[str, asyncio.Future[str]] = {}
        self._asked = asyncio.Event()

    def on(self, host: Host) -> Host:
        """The host with the folders it is known to have."""
        have = tuple(one.path for one in self.found or () if not one.why)
        return replace(host, mounts=have)

    def ask(self) -> None:
        """The list may have changed: look now."""
        self._asked.set()

    async def run(self, watched: Callable[[], tuple[Watched, ...]], changed: asyncio.Event) -> None:
        """Look until cancelled; tell when something is different."""
        while True:
            self._asked.clear()
            if await self.look(watched()):
                changed.set()
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._asked.wait()
            except TimeoutError:
                continue

    async def look(self, watched: Sequence[Watched]) -> bool:
        """Look at each folder at once; whether anything differs from the time before."""
        whys = await asyncio.gather(*(self._why(one) for one in watched))
        now = tuple(Place(path=one.path, why=why) for one, why in zip(watched, whys, strict=True))
        if now == (self.found or ()) and (self.found is not None or not watched):
            return False
        self.found = now
        return True

    async def _why(self, one: Watched) -> str:
        hanging = self._hanging.get(one.path)
        if hanging is not None and not hanging.done():
            return "it does not answer"
        look = asyncio.ensure_future(asyncio.to_thread(why_not, one.path, one.types))
        self._hanging[one.path] = look
        done, _ = await asyncio.wait({look}, timeout=LOOK_S)
        if not done:
            return "it does not answer"
        del self._hanging[one.path]
        failure = look.exception()
        return look.result() if failure is None else str(failure)
