"""How a node becomes known: a one-time join token, then a credential of its own, told once."""

import logging
from dataclasses import dataclass
from pathlib import Path

from nodeagent import clock, disk
from nodeagent.link import CutOff, Link, Unknown
from nodeagent.protocol.inventory import Card, Hello, Host, Welcome
from nodeagent.protocol.version import PROTOCOL

log = logging.getLogger(__name__)

AGENT = "gpupool-agent 0.1.0"


@dataclass(frozen=True)
class Self:
    """What the node says of itself at this moment."""

    name: str
    boot_id: str
    host: Host
    cards: tuple[Card, ...]
    address: str = ""


class Enrolment:
    """Keeps the credential (0600). A token is spent only when there is no credential that works."""

    def __init__(
        self, state_dir: Path, token: str, labels: dict[str, str], observe: bool = False
    ) -> None:
        self._file = state_dir / "credential"
        self._token = token
        self._labels = labels
        self.observe = observe
        self.rejected = False

    def credential(self) -> str:
        """The credential of an earlier run, or nothing."""
        return self._file.read_text(encoding="ascii").strip() if self._file.exists() else ""

    def refused(self, failure: CutOff) -> None:
        """Note that the portal does not know us any more: hello is due again."""
        if isinstance(failure, Unknown):
            self.rejected = True

    async def greet(self, link: Link, me: Self) -> Welcome:
        """Say hello, joining first when we have no credential.

        Raises:
            CutOff: the portal is away, or knows neither credential nor token.
        """
        hello = Hello(
            protocol=PROTOCOL,
            agent=AGENT,
            name=me.name,
            boot_id=me.boot_id,
            sent_at=clock.wall(),
            host=me.host,
            cards=me.cards,
            labels=self._labels,
            observe=self.observe,
            address=me.address,
        )
        link.credential = link.credential or self.credential()
        if not link.credential:
            await self._join(link, hello)
        try:
            welcome = await link.hello(hello)
        except Unknown:
            if not self._token:
                raise
            link.credential = ""
            await self._join(link, hello)
            welcome = await link.hello(hello)
        self.rejected = False
        for warning in welcome.warnings:
            log.warning("%s: the portal says: %s", me.name, warning)
        return welcome

    async def _join(self, link: Link, hello: Hello) -> None:
        if not self._token:
            raise Unknown("there is neither a credential nor a join token")
        joined = await link.join(self._token, hello)
        disk.write_whole(self._file, joined.credential.encode())
