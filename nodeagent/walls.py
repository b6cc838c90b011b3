"""The walls round one job, put up by its own process before it leaves the agent's account.

Like the shim beside it this runs in a bare interpreter, so that it imports next to nothing. With
`--try` it puts the walls up round itself and looks whether they hold.
"""

import ctypes
import os
import resource
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
NOBODY = 65534

LIBC = ctypes.CDLL(None, use_errno=True)


def become(spec: dict[str, Any]) -> None:
    """Turn the forked child into the job's account, limits and folders: what needs root first."""
    os.setsid()
    os.umask(spec.get("umask", 0o077))
    enter(spec["walls"])
    for name, value in spec["limits"].items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        top = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (top, top))
    if spec["nice"]:
        os.nice(spec["nice"])
    if spec["uid"] is not None:
        os.setgroups(spec["groups"])
        os.setgid(spec["gid"])
        os.setuid(spec["uid"])
    # Set after the change of account, which clears it: the job must not outlive its shim.
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # No program with a set-uid bit lifts a job out of its account. The engine's client needs none.
    LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    os.chdir(spec["cwd"])


def enter(walls: dict[str, Any]) -> None:
    """Go into the control groups, then behind private mounts. Order matters: both need root.

    Raises:
        OSError: a wall could not be put up; the job must not start without it.
    """
    for procs in walls.get("groups", ()):
        handle = os.open(procs, os.O_WRONLY)
        try:
            os.write(handle, b"0")
        finally:
            os.close(handle)
    if walls.get("cpus"):
        os.sched_setaffinity(0, walls["cpus"])
    if walls.get("private"):
        _hide(walls)


def _hide(walls: dict[str, Any]) -> None:
    """Own view of /proc (one's own processes only), own temporary folders, own shared memory."""
    _call("unshare", CLONE_NEWNS | (CLONE_NEWIPC if walls.get("ipc") else 0))
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    given = _opened(walls)
    kept = MS_NOSUID | MS_NODEV
    _mount("proc", "/proc", "proc", kept | MS_NOEXEC, "hidepid=2")
    if walls.get("ipc"):
        _mount("shm", "/dev/shm", "tmpfs", kept, f"mode=1777,size={walls['shm_mib']}m")  # noqa: S108
    for source, target, read_only in walls.get("binds", ()):
        _mount(source, target, "", MS_BIND | MS_REC)
        if read_only:
            _mount("none", target, "", MS_BIND | MS_REMOUNT | MS_RDONLY | kept)
    for handle, at, read_only in given:
        _lay(handle, walls["home"], at, kept | (MS_RDONLY if read_only else 0))


def _opened(walls: dict[str, Any]) -> list[tuple[int, str, bool]]:
    """Folders that the job is given, held open before anything private is laid over their way."""
    return [(_below(root, tail), at, ro) for root, tail, at, ro in walls.get("laid", ())]


def _below(root: str, tail: str) -> int:
    """A handle of a folder; below its root no step may be a link."""
    handle = os.open(root, os.O_PATH | os.O_DIRECTORY)
    for step in filter(None, tail.split("/")):
        following = os.open(step, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
        os.close(handle)
        handle = following
    return handle


def _lay(handle: int, home: str, at: str, flags: int) -> None:
    """Mount an open folder at a place below the job's own; both ways are handles, not names."""
    under = _below(home, at)
    _mount(f"/proc/self/fd/{handle}", f"/proc/self/fd/{under}", "", MS_BIND)
    over = _below(home, at)
    _mount("none", f"/proc/self/fd/{over}", "", MS_BIND | MS_REMOUNT | flags)
    for one in (handle, under, over):
        os.close(one)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    words = (source.encode(), target.encode(), kind.encode() or None)
    _call("mount", *words, ctypes.c_ulong(flags), data.encode() or None)


def _call(name: str, *arguments: object) -> None:
    if getattr(LIBC, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def strangers_seen() -> bool:
    """Whether a process of another account can be seen from here."""
    seen = (name for name in os.listdir("/proc") if name.isdigit())
    return any(os.stat(f"/proc/{name}").st_uid != os.geteuid() for name in seen)


def tried() -> bool:
    """Put the walls up round this process, leave root, and look over them."""
    enter({"private": True, "ipc": True, "shm_mib": 1})
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    return not strangers_seen()


if __name__ == "__main__":
    sys.exit(0 if sys.argv[1:] == ["--try"] and tried() else 1)
