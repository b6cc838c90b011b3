"""An obedient node whose work is run by the agent's own runner: real pulls, real processes."""

import asyncio
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import ExitReason, Vendor, WorkWanted
from nodeagent.runners.base import Order
from tests.pool.obedient import Obedient


@dataclass
class Engined(Obedient):
    """Slices appear as wanted; what becomes of the work is what `runner` says of it."""

    runner: object = None
    loop: asyncio.Runner | None = None

    def pull(self):
        """Take the wish, and let the runner do what of it is to be done now."""
        wish = super().pull()
        self.loop.run(self._obey(wish))
        self.work = {uid: one.report() for uid, one in self.runner.records.items()}
        return wish

    async def _obey(self, wish):
        for one in wish.work:
            found = tuple(self.slices[uid] for uid in one.slices)
            if one.wanted is WorkWanted.STOP:
                await self.runner.stop(one.attempt, ExitReason(one.stop_reason), float(one.grace_s))
            elif not (seen := self.runner.records.get(one.attempt)) or not seen.begun:
                await self.runner.start(Order(one, found, Vendor.NVIDIA, 300.0, 0.0))
        await asyncio.sleep(0.05)
        for record in self.runner.records.values():
            if record.ended_at is not None and not record.clean:
                await self.runner.clean(record.attempt)
                self.runner.cleaned(record.attempt)
