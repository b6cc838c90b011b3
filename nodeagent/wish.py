"""The last desired state, on disk; an older (epoch, generation) is refused."""

import contextlib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nodeagent import clock, disk
from nodeagent.protocol.codec import BadMessage, decode, encode
from nodeagent.protocol.desired import Desired
from nodeagent.protocol.report import FoundWork
from nodeagent.records import Record

NOTHING = Desired(epoch=0, generation=0)


class Wish:
    """What the portal wants of this node. Only `accept` changes it.

    Environment and files of work may hold secrets, so the copy on disk lacks them: until the first
    answer of the portal after a start, `whole` is False and no work is started.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._since = path.with_name("listed.json")
        self.whole = False
        self.desired = self._load()
        self._listed = self._times()

    @property
    def since(self) -> tuple[int, int]:
        """What to ask the portal for: everything while the wish is not whole."""
        return (self.desired.epoch, self.desired.generation) if self.whole else (0, 0)

    def accept(self, new: Desired) -> bool:
        """Take the newer wish; False when it is older than the one in force.

        The same number is taken again only to make a wish from the disk whole.
        """
        ours = (self.desired.epoch, self.desired.generation)
        theirs = (new.epoch, new.generation)
        if theirs < ours or (theirs == ours and self.whole):
            return False
        self.desired = new
        self.whole = True
        self._list(new)
        bare = tuple(
            replace(work, env={}, files={}, secret_env={}, secret_files={}) for work in new.work
        )
        # A full disk costs what a restart would remember: what is wanted is obeyed all the same.
        with contextlib.suppress(OSError):
            disk.write_whole(self._path, encode(replace(new, work=bare)))
        return True

    def listed_at(self, attempt: str) -> float:
        """CLOCK_BOOTTIME at which a wish first listed the attempt; now when none does."""
        return self._listed.get(attempt, clock.boottime())

    def told(self, records: Iterable[Record]) -> list[FoundWork]:
        """What is here. Of work that the portal's books do not know, also what it once was."""
        known = {work.attempt for work in self.desired.work} | set(self.desired.closed)
        return [
            replace(one.report(), origin=one.origin)
            if self.whole and one.attempt not in known
            else one.report()
            for one in records
        ]

    def _list(self, new: Desired) -> None:
        """From here on the books hold slices for this work, so from here on its time counts."""
        at = clock.boottime()
        listed = {work.attempt: self._listed.get(work.attempt, at) for work in new.work}
        if listed != self._listed:
            self._listed = listed
            # A full disk costs only the time before a restart.
            with contextlib.suppress(OSError):
                disk.write_json(self._since, {"boot": clock.boot_id(), "at": listed}, sync=False)

    def _times(self) -> dict[str, float]:
        """Times of an earlier run, as far as they are of this boot."""
        said = disk.read_json(self._since) or {}
        with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):
            if said.get("boot") == clock.boot_id():
                return {str(key): float(value) for key, value in said["at"].items()}
        return {}

    def _load(self) -> Desired:
        try:
            return decode(self._path.read_bytes(), Desired)
        except (OSError, BadMessage, msgspec.MsgspecError):
            return NOTHING
