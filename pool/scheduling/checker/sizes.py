"""The checker's own arithmetic of sizes: what a slice of a card must measure, and what it costs."""

from collections.abc import Iterator, Mapping

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import PLACED_MODES, Mode
from pool.scheduling.checker.faults import Fault
from pool.scheduling.model import (
    CardState,
    NewSlice,
    Part,
    Placed,
    Quota,
    QuotaKind,
    SliceState,
    Snapshot,
    Unit,
    Waiting,
)

WHOLE_MICRO = 1_000_000
Faults = Iterator[Fault]
Starts = list[tuple[Placed, Waiting]]


def geometry_of(card: CardState, mode: Mode) -> Geometry | None:
    """How the card is cut in that mode."""
    return next((g for g in card.geometries if g.mode is mode), None)


def profile_of(card: CardState, mode: Mode, name: str) -> Profile | None:
    """The card's own profile of that name."""
    geometry = geometry_of(card, mode)
    known = geometry.profiles if geometry is not None else ()
    return next((p for p in known if p.name == name), None)


def micro_of(card: CardState, piece: SliceState | NewSlice) -> int:
    """Card equivalents in millionths: the mean of the shares of compute and memory, cut off."""
    if piece.mode is Mode.WHOLE:
        return WHOLE_MICRO
    geometry = geometry_of(card, piece.mode)
    profile = profile_of(card, piece.mode, piece.profile)
    if geometry is None or profile is None:
        twice = piece.compute_milli * card.memory_mib + piece.memory_mib * 1000
        return twice * 1000 // (2 * card.memory_mib)
    g, units = geometry.compute_units, geometry.units
    return (profile.compute * units + profile.size * g) * WHOLE_MICRO // (2 * g * units)


def taken_by(snapshot: Snapshot, starts: Starts) -> list[tuple[tuple[str, int], ...]]:
    """Start by start the label and the card equivalents of each part, in millionths.

    By its card and slice, whatever the plan says; 0 for an unknown one.
    """
    cards = {card.id: card for card in snapshot.cards}
    pieces = {piece.id: piece for piece in snapshot.slices}

    def taken(part: Part) -> tuple[str, int]:
        card, made = cards.get(part.card), part.new or pieces.get(part.slice or 0)
        if card is None:
            return "", 0
        return card.label, micro_of(card, made) if made is not None else 0

    return [tuple(taken(part) for part in placed.parts) for placed, _ in starts]


def size_faults(card: CardState, part: Part, given: SliceState | NewSlice) -> Faults:
    """A part measures what its card's geometry says, and costs what that comes to."""
    micro = micro_of(card, given)
    if part.card_micro != micro or (part.new is not None and part.new.card_micro != micro):
        yield Fault("wrong_card_micro", card.id, given.profile)
    if part.new is not None and not _measures(card, part.new):
        yield Fault("wrong_size", card.id, given.profile)


def _measures(card: CardState, new: NewSlice) -> bool:
    geometry = geometry_of(card, new.mode)
    if new.mode in PLACED_MODES and (new.encoder_units or new.decoder_units):
        return False
    if new.mode is Mode.WHOLE:
        return (new.memory_mib, new.compute_milli) == (card.memory_mib, 1000)
    if geometry is None or not geometry.profiles:
        return new.profile == "" and 0 < new.memory_mib <= card.memory_mib
    profile = profile_of(card, new.mode, new.profile)
    if profile is None:
        return False
    compute = profile.compute * 1000 // geometry.compute_units
    return (new.memory_mib, new.compute_milli) == (profile.memory_mib, compute)


def loan_faults(snapshot: Snapshot, starts: Starts) -> Faults:
    """Start by start, whether it says rightly that it goes beyond what its tenants are granted."""
    stands = {row.id: row.held for row in snapshot.quotas}
    for (placed, work), parts in zip(starts, taken_by(snapshot, starts), strict=True):
        taken: dict[str, int] = {}
        for label, micro in parts:
            taken[label] = taken.get(label, 0) + micro
        rows = _entitlements(snapshot, placed.partition)
        beyond = bool(rows) and any(
            _beyond(rows, work, label, micro, stands) for label, micro in taken.items() if micro
        )
        if placed.borrowed != (beyond or _on_lent_cards(snapshot, placed, work)):
            yield Fault("wrongly_borrowed", work.id)
        for row in rows:
            if row.tenant in work.tenants and not counted_already(row, work):
                stands[row.id] += sum(m for label, m in taken.items() if row.label in (None, label))


def _entitlements(snapshot: Snapshot, partition: int) -> list[Quota]:
    return [
        row
        for row in snapshot.quotas
        if row.kind is QuotaKind.ENTITLEMENT
        and row.unit is Unit.CARD_MICRO
        and row.partition in (None, partition)
    ]


def _beyond(
    rows: list[Quota], work: Waiting, label: str, micro: int, stands: Mapping[int, int]
) -> bool:
    """Whether so much of that kind of card is more than some row of the work's tenants has left."""
    mine = [r for r in rows if r.tenant in work.tenants and not counted_already(r, work)]
    here = [row for row in mine if row.label in (None, label)]
    if barred_by(mine, label):
        return micro > 0
    return not here or any(micro > row.limit - stands[row.id] for row in here)


def counted_already(row: Quota, work: Waiting) -> bool:
    """Whether the row has counted the work's cards since they were kept for its lease."""
    return bool(work.kept) and row.unit is Unit.CARD_MICRO and row.tenant in work.tenants[:2]


def barred_by(rows: list[Quota], label: str) -> bool:
    """Whether some tenant's rows name the only kinds it may use, and this is none of them."""
    strict = {row.tenant for row in rows if row.only}
    named = {row.tenant for row in rows if row.only and row.label in (None, label)}
    return bool(strict - named)


def _on_lent_cards(snapshot: Snapshot, placed: Placed, work: Waiting) -> bool:
    """Whether some card is kept for others during the run, who lend it until they need it."""
    until = snapshot.now_s + length_s(snapshot, work)
    cards = {part.card for part in placed.parts}
    return any(
        kept.starts_s < until
        and kept.ends_s > snapshot.now_s
        and not kept.tenants & set(work.tenants)
        and kept.lends
        and work.preemptible
        and bool(cards & (kept.cards - work.kept))
        for kept in snapshot.reservations
    )


def length_s(snapshot: Snapshot, work: Waiting) -> float:
    """How long it is forecast to run: as declared, stretched by its owner's overruns."""
    if work.declared_s is None:
        return snapshot.rules.unknown_duration_s
    return work.declared_s * max(1.0, work.p90_ratio)
