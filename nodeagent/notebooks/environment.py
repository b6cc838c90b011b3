"""The environment in which notebooks run: made once on first use, shared by every job account."""

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nodeagent import clock, processes
from nodeagent.runners.environment import PLAIN_PATH

PINS = Path(__file__).with_name("requirements.txt")
LAB_SETTINGS = {
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": 30},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
"""JupyterLab saves what changed every 30 s, and asks nobody outside for news."""

INTERPRETERS = ("/usr/bin/python3", "/usr/local/bin/python3", sys.executable)
"""Where an interpreter is looked for; the first that every job account can execute is taken."""

AGAIN_S = 30.0
"""After a failure nothing is tried for so long: each start would fail the same way."""

LOCK_LOOK_S = 0.5

Say = Callable[[str], None]


class Unavailable(Exception):
    """No notebook can run on this node; the text says why."""


@dataclass(frozen=True)
class Recipe:
    """What the environment is made of; another recipe is another environment beside it."""

    interpreters: tuple[str, ...] = INTERPRETERS
    requirements: Path | None = None
    index: str = ""

    def key(self, python: str) -> str:
        """A short name that changes with everything that goes in."""
        parts = [python, PINS.read_text(encoding="utf-8")]
        if self.requirements is not None:
            parts.append(self.requirements.read_text(encoding="utf-8"))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


class Environment:
    """One node's environment for notebooks; agents of one machine share it by its folder."""

    def __init__(self, root: Path, recipe: Recipe) -> None:
        self._root = root
        self._recipe = recipe
        self._building: asyncio.Future[Path] | None = None
        self._listeners: list[Say] = []
        self._failed = ("", 0.0)

    async def ready(self, say: Say) -> Path:
        """The environment's folder, built now when it is not there; `say` hears how far it is.

        Who waits may be cancelled; the building goes on for the others.

        Raises:
            Unavailable: it cannot be built; the reason holds for a while.
        """
        reason, until = self._failed
        if reason and clock.boottime() < until:
            raise Unavailable(reason)
        if self._building is None:
            work = asyncio.to_thread(self._build, self._tell_from_thread())
            self._building = asyncio.ensure_future(work)
            self._building.add_done_callback(self._settle)
        self._listeners.append(say)
        try:
            return await asyncio.shield(self._building)
        finally:
            self._listeners.remove(say)

    def _settle(self, done: "asyncio.Future[Path]") -> None:
        self._building = None
        failure = None if done.cancelled() else done.exception()
        self._failed = (str(failure), clock.boottime() + AGAIN_S) if failure else ("", 0.0)

    def _tell_from_thread(self) -> Say:
        loop = asyncio.get_running_loop()

        def tell(words: str) -> None:
            for listener in list(self._listeners):
                loop.call_soon_threadsafe(listener, words)

        return tell

    def _build(self, tell: Say) -> Path:
        """Blocks: find an interpreter, then make and fill the folder unless another agent did."""
        python = self._interpreter()
        try:
            folder = self._root / self._recipe.key(python)
            if (folder / "ready").exists():
                return folder
            self._root.mkdir(mode=0o755, parents=True, exist_ok=True)
            self._root.chmod(0o755)
            with self._alone(tell):
                if not (folder / "ready").exists():
                    self._fill(folder, python, tell)
        except OSError as failure:
            raise Unavailable(f"notebooks unavailable: {failure}") from failure
        return folder

    def _interpreter(self) -> str:
        for path in self._recipe.interpreters:
            if _runs_for_all(Path(path)):
                return str(Path(path).resolve())
        raise Unavailable("notebooks unavailable: no Python here that job accounts can execute")

    @contextmanager
    def _alone(self, tell: Say) -> Iterator[None]:
        """One builder a machine; the kernel lets go when it ends, however it ends."""
        handle = os.open(self._root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    tell("another agent of this machine builds it")
                    processes.pause(LOCK_LOOK_S)
            yield
        finally:
            os.close(handle)

    def _fill(self, folder: Path, python: str, tell: Say) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        tell("making the folder")
        self._run([python, "-m", "venv", "--without-pip", str(folder)], tell)
        self._run(self._pip(folder), tell)
        settings = folder / "share/jupyter/lab/settings/overrides.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(json.dumps(LAB_SETTINGS), encoding="utf-8")
        for path in (folder, *settings.parents, settings):
            if path.is_relative_to(folder):
                path.chmod(0o755)
        (folder / "ready").touch()

    def _pip(self, folder: Path) -> list[str]:
        """The agent's own pip fills it: the interpreter of the jobs need not have one."""
        words = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install"]
        words += ["--progress-bar", "off", "--disable-pip-version-check", "-r", str(PINS)]
        if self._recipe.requirements is not None:
            words += ["-r", str(self._recipe.requirements)]
        return [*words, "--index-url", self._recipe.index] if self._recipe.index else words

    def _run(self, words: list[str], tell: Say) -> None:
        """Run to its end, its output as progress.

        Raises:
            Unavailable: it failed; its last words are the reason.
        """
        env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        env |= {"PATH": env.get("PATH") or PLAIN_PATH, "PIP_ROOT_USER_ACTION": "ignore"}
        last, count = "", 0
        with subprocess.Popen(  # noqa: S603
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=env,
            umask=0o022,
        ) as child:
            for line in child.stdout or ():
                last = line.strip() or last
                count += last.startswith("Collecting")
                tell(_short(last, count))
        if child.returncode != 0:
            raise Unavailable(f"notebooks unavailable: {last[-300:]}")


def _short(line: str, count: int) -> str:
    """A line of pip in a few words."""
    if line.startswith("Collecting"):
        return f"fetching {line.split()[1].partition('=')[0]} ({count})"
    if line.startswith("Installing collected"):
        return f"installing {count} packages"
    return line[:80]


def _runs_for_all(path: Path) -> bool:
    """May every account reach and execute it? Without root there is one account: our own."""
    try:
        real = path.resolve(strict=True)
        if os.geteuid() != 0:
            return os.access(real, os.X_OK)
        return all(step.stat().st_mode & 0o001 for step in (real, *real.parents))
    except OSError:
        return False
