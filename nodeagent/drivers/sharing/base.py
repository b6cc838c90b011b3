"""What every way of sharing must do, and how honestly it says what it can hold."""

from typing import Protocol

from nodeagent.drivers.shares import Share
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Ability, Card, Geometry
from nodeagent.protocol.vocabulary import Mode


class Sharing(Protocol):
    """One way of sharing cards. The calls block: they are made on the card's own thread."""

    mode: Mode

    def offer(self, card: Card) -> tuple[Geometry, Ability] | None:
        """How this card is cut in this mode here, and what is kept; None where it cannot be."""

    def enter(self, card: Card) -> None:
        """Make the empty card ready; safe to repeat.

        Raises:
            NotSupported, Busy, Refused
        """

    def leave(self, card: Card) -> None:
        """Take back what `enter` did; safe to repeat.

        Raises:
            NotSupported, Busy, Refused
        """

    def create(self, card: Card, wanted: WantedSlice, beside: dict[str, Share]) -> str:
        """Make one slice beside those that are there; returns the device that its job is told.

        Raises:
            NotSupported, Busy, Refused
        """

    def delete(self, card: Card, uid: str, share: Share, beside: dict[str, Share]) -> None:
        """Take one slice away; `beside` are those that stay. Gone is gone.

        Raises:
            Busy, Refused
        """

    def hosts(self, card: Card) -> frozenset[int]:
        """Processes of the machine that serve this way of sharing on the card: they, and what they
        start, are the pool's own.
        """

    def environment(self, card: Card, uid: str, share: Share) -> dict[str, str]:
        """What the slice's job must find in its environment."""
