"""Between two tenants: what is left of an attempt is ended, taken away, and named."""

import contextlib
import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nodeagent import processes, secrets_shelf
from nodeagent.enclosure.enclosure import Enclosure
from nodeagent.records import Record
from nodeagent.runners import adoption, leftovers
from nodeagent.runners.base import StartFailed
from nodeagent.runners.container import Containers
from nodeagent.runners.setting import Setting

KILL_ROUNDS = 20
KILL_PAUSE_S = 0.1
RANGE = "uid:"
"""How the accounts begin that only jobs use; `user:` is one that a person has as well."""


@dataclass(frozen=True)
class Cleaning:
    """The cleaning of one node. `label` is written on the shims of its agent, `records` is all that
    it has accepted. All calls block.
    """

    label: str
    work_root: Path
    enclosure: Enclosure
    containers: Containers
    setting: Setting
    records: Mapping[str, Record]

    def clean(self, record: Record) -> tuple[str, ...]:
        """Kill what is left of it wherever it hid, then remove its container and what its account
        left in shared memory. What was found, named.

        Raises:
            StartFailed: something of it does not end; all may be tried again.
        """
        killed = () if record.swept else self.sweep(record)
        if record.container and not self.containers.remove(self.setting.container(record)):
            raise StartFailed(f"the container of {record.attempt} does not end")
        inside = leftovers.named(self.enclosure.pids(record.folder.name))
        if not self.enclosure.release(record.folder.name):
            raise StartFailed(f"processes of {record.attempt} do not end")
        return (*killed, *inside, *self._left(record))

    def sweep(self, record: Record, shims_too: bool = False) -> tuple[str, ...]:
        """Find by label, by session and by tree: a job may have left any one of them, never all.

        Raises:
            StartFailed: some do not end.
        """
        home = self.work_root / record.folder.name
        found: dict[int, str] = {}
        for _ in range(KILL_ROUNDS):
            left = set(adoption.leftovers(record, self.label, home, shims_too))
            left |= self.enclosure.pids(record.folder.name)
            if not left:
                return tuple(found.values())
            found |= {pid: word for pid in left for word in leftovers.named({pid})}
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            processes.pause(KILL_PAUSE_S)
        raise StartFailed(f"{len(left)} processes of {record.attempt} do not end")

    def _left(self, record: Record) -> tuple[str, ...]:
        """What its account left in shared memory, taken away and named. Where it ran as a person's
        own account, nobody can tell what a job left from what that person has put there: it stays.
        """
        account = record.origin.account if record.origin is not None else ""
        if not account.startswith(RANGE):
            return ()
        return leftovers.take(self._account(record), lambda: self._expected(record, account))

    def _expected(self, record: Record, account: str) -> bool:
        """Whether other work of the account was accepted and has not ended. Before its first
        process runs as the account, that is all there is to see of it.
        """
        others = (one for one in tuple(self.records.values()) if one.attempt != record.attempt)
        live = (one.origin for one in others if one.ended_at is None)
        return any(one is None or one.account == account for one in live)

    def _account(self, record: Record) -> int | None:
        """The account that the attempt ran as: whose its folder is."""
        with contextlib.suppress(OSError):
            home = self.work_root / record.folder.name
            return (home / "files").stat(follow_symlinks=False).st_uid
        return None

    def tidy(self, record: Record) -> None:
        """Remove temporary files, and folders of starts that came to nothing."""
        name = record.folder.name
        secrets_shelf.remove(self.setting.shelf(record))
        for folder in (self.work_root / name / "tmp", *self.work_root.glob(f".{name}.*")):
            shutil.rmtree(folder, ignore_errors=True)
