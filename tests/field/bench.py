"""One node of the bench: the portal's services on one side, the agent's own code on the other."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from nodeagent.execute import Executor
from nodeagent.protocol.inventory import Hello
from nodeagent.protocol.version import PROTOCOL
from nodeagent.reconcile import Found, WorkSeen, steps
from pool.clock import now
from pool.models import Card, Node
from pool.services.nodes import name_fold, node_hello, secret_hash
from tests.pool.obedient import Obedient

PASSES = 30


@dataclass
class Bench(Obedient):
    """Cards are driven by the agent's driver, steps and executor; work only by its word."""

    driver: object = None
    file: Path | None = None
    quick: str = ""
    executor: Executor | None = None
    outcomes: list = field(default_factory=list)

    @classmethod
    def joined(cls, driver, file, quick):
        """A node that has said hello."""
        name = "bench"
        row = Node.objects.create(
            name=name, name_folded=name_fold(name), credential_hash=secret_hash("key of bench")
        )
        file.write_text(quick)
        one = cls(row, driver=driver, file=file, quick=quick)
        asyncio.run(driver.open())
        one.executor = Executor(driver, None, {})
        one.hello()
        return one

    def script(self, text):
        """From now on the cards play this script."""
        self.file.write_text(self.quick + text)

    def hello(self):
        """Introduce the node, as an agent does when it starts."""

        async def said():
            return await self.driver.host(), await self.driver.inventory()

        host, cards = asyncio.run(said())
        self.boot = self.driver.boot_id()
        node_hello(
            node=self.row,
            hello=Hello(
                protocol=PROTOCOL,
                agent="1.0",
                name=self.row.name,
                boot_id=self.boot,
                sent_at=now().timestamp(),
                host=host,
                cards=cards,
            ),
        )
        self.row.refresh_from_db()

    def pull(self):
        """Take the wish and bring the cards to it, as far as they let themselves be brought."""
        wish = super().pull()
        self.slices = {one.uid or one.device: one for one in asyncio.run(self._carve(wish))}
        return wish

    async def _carve(self, wish):
        self.executor.settle(wish)
        work = tuple(
            WorkSeen(one.attempt, one.state, _slices(wish, one.attempt), one.clean)
            for one in self.work.values()
        )
        for _ in range(PASSES):
            present = self.executor.seen(await self.driver.slices(), wish)
            found = Found(slices=present, work=work, modes=await self.driver.modes())
            todo = [one for one in steps(wish, found) if one.card and not self.executor.waits(one)]
            if not todo:
                break
            for step in todo:
                outcome = await self.executor.take(step, wish, found)
                self.outcomes += [] if outcome is None else [outcome]
        return self.executor.seen(await self.driver.slices(), wish)

    def report(self, **words):
        """With what the driver says of its cards."""
        return super().report(**{"cards": asyncio.run(self.driver.health())} | words)

    def card(self, index):
        """The books' row of one card."""
        uuid = self.driver.node.cards[index].uuid
        return Card.objects.get(uuid=uuid)


def _slices(wish, attempt):
    return next((one.slices for one in wish.work if one.attempt == attempt), ())
