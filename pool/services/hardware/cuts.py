"""A slice that is planned on a card: its row, what keeps it apart, and that the sums hold."""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from psycopg.types.range import Range

from nodeagent.protocol.vocabulary import MODE_ISOLATION, PLACED_MODES, Isolation, Mode
from pool.clock import now
from pool.errors import Stale
from pool.lifecycle.slices import DEADLINES_S, SliceState
from pool.models.cards import Card
from pool.models.expressions import open_life
from pool.models.slices import Slice
from pool.scheduling.model import NewSlice


def slice_planned(card: Card, new: NewSlice, generation: int) -> Slice:
    """The row of a slice to be cut, not written yet.

    Raises:
        Stale: the plan named no place on a card where slices have one.
    """
    mode = Mode(new.mode)
    placed = mode in PLACED_MODES
    if placed and (new.start is None or new.size is None):
        raise Stale(card=card.uid, why="no place on the card was planned")
    return Slice(
        card=card,
        mode=mode,
        isolation=card_isolation(card, mode),
        profile=new.profile,
        span=Range(new.start, (new.start or 0) + (new.size or 0)) if placed else None,
        lived=open_life(card.pk),
        memory_mib=new.memory_mib,
        compute_milli=new.compute_milli,
        equivalents_micro=new.card_micro,
        encoder_units=new.encoder_units,
        decoder_units=new.decoder_units,
        deadline=now() + timedelta(seconds=DEADLINES_S[SliceState.PLANNED]),
        wished_in=generation,
    )


def card_isolation(card: Card, mode: Mode) -> Isolation:
    """What keeps holders apart on this card in a mode: the card's own word, else the mode's."""
    for geometry in card.facts.get("geometries", ()):
        if geometry["mode"] == mode:
            return Isolation(geometry["isolation"])
    return MODE_ISOLATION[mode]


def sums_checked(cards: Iterable[Card], slices: Sequence[Slice]) -> None:
    """Raises Stale: these slices of a card add up to more than it has."""
    for card in cards:
        rows = [row for row in slices if row.card_id == card.pk]
        if (
            sum(row.memory_mib for row in rows) > card.memory_mib
            or sum(row.compute_milli for row in rows) > 1000
            or sum(row.equivalents_micro for row in rows) > 1_000_000
            or sum(row.encoder_units for row in rows) > (card.facts.get("nvenc") or 0)
            or sum(row.decoder_units for row in rows) > (card.facts.get("nvdec") or 0)
        ):
            raise Stale(card=card.uid, why="its shares would add up to more than it has")
