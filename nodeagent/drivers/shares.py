"""Slices that exist only by agreement: a card's name for being whole, or a share of it by size.

They are written down at once, so a restarted agent knows them; sums never pass the card.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from nodeagent import disk
from nodeagent.drivers.base import Lost, Refused
from nodeagent.protocol.desired import WantedSlice
from nodeagent.protocol.inventory import Card
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode, SliceFound

FULL_MILLI = 1000


@dataclass(frozen=True)
class Share:
    """What one slice has of its card: memory in MiB, compute in thousandths."""

    card: str
    mode: Mode
    profile: str
    memory_mib: int
    compute_milli: int
    device: str


class Shares:
    """The agreed slices of one node, and the mode that each card was put into."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows: dict[str, Share] = {}
        self._modes: dict[str, Mode] = {}

    def open(self, cards: dict[str, Card]) -> None:
        """Read what was agreed before; a torn or missing file is an empty one."""
        said = disk.read_json(self._file) or {}
        if "shares" not in said:
            said = {"shares": {uid: _whole_row(cards, str(card)) for uid, card in said.items()}}
        rows = {uid: row for uid, row in said["shares"].items() if row}
        self._rows = {uid: Share(**row | {"mode": Mode(row["mode"])}) for uid, row in rows.items()}
        self._modes = {card: Mode(mode) for card, mode in said.get("modes", {}).items()}

    def knows(self, uid: str) -> bool:
        """Is it one of these?"""
        return uid in self._rows

    def of(self, uid: str) -> Share | None:
        """The share of that name."""
        return self._rows.get(uid)

    def on(self, card: str) -> dict[str, Share]:
        """The shares of a card by their uid."""
        return {uid: one for uid, one in self._rows.items() if one.card == card}

    def mode(self, card: str) -> Mode:
        """What the card was put into; whole when nothing was said."""
        return self._modes.get(card, Mode.WHOLE)

    def enter(self, card: str, mode: Mode) -> None:
        """Remember the card's mode."""
        self._modes[card] = mode
        self._write()

    def take(self, wanted: WantedSlice, card: Card, device: str) -> FoundSlice:
        """Agree on a slice; the same again is the one that is there.

        Raises:
            Refused: the card is taken, or the shares would sum to more than it has.
        """
        if wanted.uid not in self._rows:
            self.check(wanted, card)
            self._rows[wanted.uid] = Share(
                wanted.card,
                wanted.mode,
                wanted.profile,
                card.memory_mib if wanted.mode == Mode.WHOLE else wanted.memory_mib,
                wanted.compute_milli,
                device,
            )
            self._write()
        return self.row(wanted.uid)

    def check(self, wanted: WantedSlice, card: Card) -> None:
        """Return when the slice fits beside the others.

        Raises:
            Refused
        """
        beside = {uid: one for uid, one in self.on(wanted.card).items() if uid != wanted.uid}
        if wanted.mode == Mode.WHOLE:
            for uid in beside:
                raise Refused(f"the card is slice {uid} already")
            return
        memory = sum(one.memory_mib for one in beside.values()) + wanted.memory_mib
        milli = sum(one.compute_milli for one in beside.values()) + wanted.compute_milli
        if any(one.mode != wanted.mode for one in beside.values()):
            raise Refused("the card is shared in another mode")
        if memory > card.memory_mib or milli > FULL_MILLI:
            raise Refused(
                f"insufficient resources: shares would sum to {memory} of {card.memory_mib} MiB "
                f"and to {milli / 10:g} % of the compute"
            )

    def drop(self, uid: str) -> None:
        """Forget a slice; gone is gone."""
        if self._rows.pop(uid, None) is not None:
            self._write()

    def row(self, uid: str) -> FoundSlice:
        """The slice in the protocol's words.

        Raises:
            Lost: there is none of that name.
        """
        one = self._rows.get(uid)
        if one is None:
            raise Lost(f"no slice {uid} in this node")
        whole = one.mode == Mode.WHOLE
        return FoundSlice(
            uid=uid,
            card=one.card,
            mode=one.mode,
            profile=one.profile,
            state=SliceFound.READY,
            memory_mib=one.memory_mib,
            start=0 if whole else None,
            size=1 if whole else None,
            device=one.device,
        )

    def found(self, cards: dict[str, Card]) -> tuple[FoundSlice, ...]:
        """Those whose card is in the node."""
        return tuple(self.row(uid) for uid, one in self._rows.items() if one.card in cards)

    def _write(self) -> None:
        rows = {uid: asdict(one) for uid, one in self._rows.items()}
        disk.write_json(self._file, {"shares": rows, "modes": self._modes})


def _whole_row(cards: dict[str, Card], uuid: str) -> dict[str, object] | None:
    """A line of the older form of the file: a whole card by its uuid."""
    if uuid not in cards:
        return None
    size = cards[uuid].memory_mib
    return asdict(Share(uuid, Mode.WHOLE, "whole", size, FULL_MILLI, uuid))
