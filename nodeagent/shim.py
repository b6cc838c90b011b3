"""The small process that outlives the agent: runs one attempt, keeps its output and end on disk.

Started as a script with a bare interpreter (`-I -S -E`): it imports the fast part of the standard
library and nothing of the agent. Its order comes over standard input as marshal, so that no secret
touches a file or an argument. pathlib would cost half of the start-up time, so `os` it is.
"""

import contextlib
import ctypes
import marshal
import os
import select
import signal
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from nodeagent import walls

PR_SET_CHILD_SUBREAPER = 36
TAKEN = 75
LEFTOVER_GRACE_S = 2.0
"""How long processes that the main one left behind may take to end after SIGTERM."""
LEASE_LOOK_S = 1.0
END_RETRY_S = 2.0
READ_BYTES = 65536
RESET = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that the interpreter or the shim ignores, and that the job must not."""

LIBC = ctypes.CDLL(None, use_errno=True)


def now() -> float:
    """CLOCK_BOOTTIME: the lease and the grace must not move with the wall clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def write_pairs(path: str, pairs: dict[str, object]) -> None:
    """Lines of `key=value` and a closing `end`, put in place in one step and synced."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    beside = f"{path}.{os.getpid()}"
    lines = [f"{key}={' '.join(str(value).split())}" for key, value in pairs.items()]
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(handle, ("\n".join([*lines, "end"]) + "\n").encode("utf-8", "replace"))
    os.fsync(handle)
    os.close(handle)
    os.replace(beside, path)


def started_ticks(pid: int | str) -> str:
    """When the process started, in ticks since boot: with the pid, its identity."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        body = stat.read()
    return body[body.rindex(b")") + 2 :].split()[19].decode()


def claim(folder: str) -> bool:
    """Take the attempt; False when another shim has taken it: an attempt runs once, ever."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    mine = f"{folder}/claim.{os.getpid()}"
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot:
        pairs = {"pid": os.getpid(), "ticks": started_ticks("self"), "boot": boot.read().strip()}
    write_pairs(mine, pairs)
    try:
        os.link(mine, f"{folder}/claim")
    except FileExistsError:
        return False
    finally:
        os.unlink(mine)
    return True


def out_of_memory_kills() -> int:
    """How often this machine's kernel has killed for want of memory."""
    with contextlib.suppress(OSError, ValueError), open("/proc/vmstat", "rb") as stat:
        for line in stat:
            if line.startswith(b"oom_kill "):
                return int(line.split()[1])
    return 0


class Log:
    """Output on disk in segments named by their offset: the first and the newest are kept."""

    def __init__(self, folder: str, limit: int) -> None:
        self.folder = f"{folder}/log"
        self.segment_bytes = max(min(limit // 16, 1 << 20), 1024)
        self.keep = max(limit // self.segment_bytes - 1, 1)
        self.names: list[str] = []
        self.offset = 0
        self.filled = self.segment_bytes
        self.handle = -1

    def write(self, body: bytes) -> None:
        """Append; a new segment begins when the last is full, and the middle is forgotten."""
        while body:
            if self.filled >= self.segment_bytes:
                self._turn()
            part = body[: self.segment_bytes - self.filled]
            with contextlib.suppress(OSError):  # a full disk loses output, never the attempt's end
                os.write(self.handle, part)
            self.filled += len(part)
            self.offset += len(part)
            body = body[len(part) :]

    def _turn(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
        self.handle = -1
        self.filled = 0
        name = f"{self.folder}/{self.offset:020d}"
        with contextlib.suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            self.handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.names.append(name)
        if len(self.names) > self.keep + 1:
            with contextlib.suppress(OSError):
                os.unlink(self.names.pop(1))


def resolve(name: str, path: str) -> str:
    """The file a command's name means under this PATH.

    Raises:
        FileNotFoundError: there is none that may be executed.
    """
    if "/" in name:
        return name
    for folder in path.split(":"):
        full = f"{folder}/{name}"
        if os.path.isfile(full) and os.access(full, os.X_OK):
            return full
    raise FileNotFoundError(2, "command not found", name)


def tell_by_descriptor(body: bytes) -> None:
    """What the command reads from descriptor 4: neither arguments nor files may show it."""
    if body:
        handle = os.memfd_create("told", 0)
        with open(handle, "wb", closefd=False) as memory:
            memory.write(body)
        os.dup2(handle, 4)


def launch(spec: dict[str, Any]) -> tuple[int, int, str]:
    """Fork and execute the command: (pid, read end of its output, why it did not start)."""
    out_read, out_write = os.pipe()
    why_read, why_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open("/dev/null", os.O_RDONLY)
            for source, target in ((null, 0), (out_write, 1), (out_write, 2)):
                os.dup2(source, target)
            tell_by_descriptor(spec["told"])
            walls.become(spec)
            for number in RESET:
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            argv = spec["argv"]
            os.execve(resolve(argv[0], spec["env"].get("PATH", "")), argv, spec["env"])
        except BaseException as failure:  # whatever it is, a forked child must not return
            os.write(why_write, f"{spec['argv'][:1]}: {failure}".encode("utf-8", "replace")[:900])
        finally:
            os._exit(127)
    os.close(out_write)
    os.close(why_write)
    why = os.read(why_read, 1024)
    os.close(why_read)
    os.set_blocking(out_read, False)
    return pid, out_read, why.decode("utf-8", "replace")


class Shim:
    """One attempt from its start to the moment when none of its processes is left."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.folder: str = spec["folder"]
        self.log = Log(self.folder, spec["log_limit"])
        self.pid = 0
        self.output = -1
        self.status: int | None = None
        self.reason = ""
        self.left = 0
        self.kill_at: float | None = None
        self.kills_before = out_of_memory_kills()
        self.wake_read, wake_write = os.pipe()
        for end in (self.wake_read, wake_write):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_write)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)

    def run(self) -> None:
        """Start, pump, end; the end is on disk before the agent hears of it."""
        self.pid, self.output, why = launch(self.spec)
        if why:
            os.waitpid(self.pid, 0)
            self.finish(exit_code=127, reason="start_failed", message=why)
            return
        at = {
            "pid": self.pid,
            "ticks": started_ticks(self.pid),
            "at": time.time(),
            "boottime": now(),
        }
        with contextlib.suppress(OSError):  # a full disk hides the start, it does not undo it
            write_pairs(f"{self.folder}/started", at)
        self.tell("started")
        while self.status is None:
            self.turn()
        self.sweep()
        self.drain()
        self.finish(*self.judge())

    def turn(self) -> None:
        """Wait for output, a signal, or the next deadline, and deal with it."""
        watched = [self.wake_read] + ([self.output] if self.output >= 0 else [])
        ready, _, _ = select.select(watched, [], [], self.patience())
        if self.output in ready:
            self.drain(once=True)
        if self.wake_read in ready and signal.SIGTERM in os.read(self.wake_read, 512):
            self.ask_to_stop()
        self.reap()
        if self.kill_at is not None and now() >= self.kill_at:
            self.kill_all()
            self.kill_at = now() + 1.0
        if self.reason == "" and self.lease_is_over():
            self.begin_stop("fenced", self.spec["grace_s"])

    def patience(self) -> float | None:
        """How long to sleep at most: None is until something happens."""
        if self.kill_at is not None:
            return max(self.kill_at - now(), 0.0)
        return LEASE_LOOK_S if self.spec["fence_s"] else None

    def lease_is_over(self) -> bool:
        """Has the portal been silent for too long? Only for work that asked for it."""
        if not self.spec["fence_s"]:
            return False
        last = float(self.spec["lease_at"])
        with contextlib.suppress(OSError, ValueError), open(self.spec["lease"], "rb") as lease:
            last = max(last, float(lease.read()))
        return now() - last > float(self.spec["fence_s"])

    def ask_to_stop(self) -> None:
        """The agent's word: the file `stop` holds reason and grace; a second ask may shorten it."""
        reason, grace = "stopped", float(self.spec["grace_s"])
        with (
            contextlib.suppress(OSError, ValueError, IndexError),
            open(f"{self.folder}/stop", encoding="utf-8") as ask,
        ):
            words = ask.read().split()
            reason, grace = words[0], float(words[1])
        self.begin_stop(reason, grace)

    def begin_stop(self, reason: str, grace: float) -> None:
        """SIGTERM to the group now, SIGKILL to everything when the grace is over."""
        if self.reason == "":
            self.reason = reason
            with contextlib.suppress(OSError):
                write_pairs(f"{self.folder}/stopping", {"reason": reason, "at": time.time()})
            self.tell("stopping")
            for number in (signal.SIGTERM, signal.SIGCONT):
                self.signal_group(number)
        until = now() + max(grace, 0.0)
        self.kill_at = until if self.kill_at is None else min(self.kill_at, until)

    def signal_group(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def descendants(self) -> list[int]:
        """Every process below this one: orphans come here, since the shim is their reaper."""
        parents: dict[int, list[int]] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as stat:
                    body = stat.read()
                    parent = int(body[body.rindex(b")") + 2 :].split()[1])
                    parents.setdefault(parent, []).append(int(name))
        found, queue = [], [os.getpid()]
        while queue:
            below = parents.get(queue.pop(), [])
            found += below
            queue += below
        return found

    def kill_all(self, number: int = signal.SIGKILL) -> None:
        for pid in self.descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def reap(self) -> bool:
        """Take in every child that has ended; False when there is none left at all."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.pid:
                self.status = status

    def sweep(self) -> None:
        """After the main process: what it left behind is asked to end, then made to."""
        gone_by, asked = now() + LEFTOVER_GRACE_S, False
        while self.reap():
            if now() >= gone_by or self.kill_at is not None and now() >= self.kill_at:
                self.kill_all()
            elif not asked:
                asked = True
                self.left = len(self.descendants())
                self.kill_all(signal.SIGTERM)
            watched = [self.wake_read] + ([self.output] if self.output >= 0 else [])
            ready, _, _ = select.select(watched, [], [], 0.1)
            if self.wake_read in ready:
                os.read(self.wake_read, 512)
            if self.output in ready:
                self.drain(once=True)

    def drain(self, *, once: bool = False) -> None:
        """Move output to the log: one piece, or all that is there."""
        while self.output >= 0:
            try:
                body = os.read(self.output, READ_BYTES)
            except BlockingIOError:
                return
            if not body:
                os.close(self.output)
                self.output = -1
                return
            self.log.write(body)
            if once:
                return

    def judge(self) -> tuple[int, str, str]:
        """Exit code (minus the signal after one), reason, message."""
        code = os.waitstatus_to_exitcode(self.status or 0)
        if self.reason:
            return code, self.reason, ""
        if code >= 0:
            return code, "own_error" if code else "finished", ""
        if code == -signal.SIGKILL:
            if out_of_memory_kills() > self.kills_before:
                return code, "oom_host", "the kernel killed it for want of host memory"
            return code, "killed", ""
        limits = (-signal.SIGXCPU, -signal.SIGXFSZ)
        return code, "limit" if code in limits else "own_error", signal.strsignal(-code) or ""

    def finish(self, exit_code: int, reason: str, message: str) -> None:
        """The end, on disk first."""
        end = {"exit_code": exit_code, "reason": reason, "message": message}
        end["left"] = str(self.left)
        end["swept"] = "yes" if self.undone() else "no"  # every child was waited for before
        end |= {"at": str(time.time()), "boottime": str(now()), "log_bytes": self.log.offset}
        while True:
            try:
                write_pairs(f"{self.folder}/ended", end)
                break
            except OSError:  # a full disk: an end that nobody can read would be a lie told later
                time.sleep(END_RETRY_S)
        self.tell("ended")

    def undone(self) -> bool:
        """A container outlives the client that ran it: whether it is away as well."""
        undo = self.spec["undo"]
        return not undo or os.spawnve(os.P_WAIT, undo[0], undo, self.spec["env"]) == 0

    def tell(self, word: str) -> None:
        """A line for the agent that started us, if it is still there; the disk is what counts."""
        with contextlib.suppress(OSError):
            os.write(self.spec["status_fd"], word.encode() + b"\n")


def main() -> int:
    """Read the order, claim the attempt, run it."""
    spec: dict[str, Any] = marshal.loads(sys.stdin.buffer.read())  # noqa: S302 - from our own agent
    os.set_inheritable(spec["status_fd"], False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # until it can be obeyed; the agent asks again
    os.chdir("/")
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if not claim(spec["folder"]):
        os.write(spec["status_fd"], b"taken\n")
        return TAKEN
    # The job's folders were made apart: only the shim that has the claim brings them to their
    # place, so that no later start can touch the folders of a job that runs.
    os.rename(spec["staged"], spec["home"])
    Shim(spec).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
