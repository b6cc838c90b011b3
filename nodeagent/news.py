"""What need not be asked or told again now: an answer, or the last report, has said it.

A node that nothing happens on costs the portal a batch of readings every ten seconds and a report
every twenty; both answers tell the number of the newest wish, so that nobody asks for it apart.
"""

import asyncio

from msgspec.structs import replace

from nodeagent import clock
from nodeagent.link import pause
from nodeagent.protocol.report import Report

PULL_EVERY_S = 10.0
QUIET_S = 20.0
"""An unchanged report is told again after so long: well before a silent node counts as silent."""


class News:
    """The times are CLOCK_BOOTTIME: of the last word on the newest wish, and of the last report."""

    def __init__(self, pull: asyncio.Event) -> None:
        self._pull = pull
        self._newest_at = float("-inf")
        self._told_at = float("-inf")
        self._told: Report | None = None

    def hear(self, epoch: int, generation: int | None, since: tuple[int, int]) -> None:
        """Take in the number of the newest wish, None from a portal that does not tell it; when
        ours is older it is asked for at once.
        """
        if generation is None:
            return
        if epoch == since[0] and generation <= since[1]:
            self._newest_at = clock.boottime()
        else:
            self._pull.set()

    def pulled(self) -> None:
        """The portal was asked for its wish and has answered."""
        self._newest_at = clock.boottime()

    async def until_pull(self) -> None:
        """Wait for a reason to ask: a wake, or ten seconds without a word on the newest wish."""
        while (wait := self._newest_at + PULL_EVERY_S - clock.boottime()) > 0:
            if await pause(self._pull, wait):
                return

    def known(self, report: Report) -> bool:
        """Whether the portal took the very same not long ago."""
        fresh = clock.boottime() - self._told_at < QUIET_S
        return fresh and self._told == replace(report, sent_at=0.0)

    def taken(self, report: Report) -> None:
        """The portal has it."""
        self._told, self._told_at = replace(report, sent_at=0.0), clock.boottime()

    def forget(self) -> None:
        """The portal knows nothing any more: it was met anew."""
        self._told = None
