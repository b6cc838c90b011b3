"""From a chosen card to the parts and moves of a placement."""

from dataclasses import dataclass

import numpy as np

from nodeagent.protocol.vocabulary import Mode
from pool.carving.sizes import FULL, MICRO, profile_compute_milli, profile_micro
from pool.scheduling.board import Board
from pool.scheduling.grant import Grant
from pool.scheduling.kinds import CardKind
from pool.scheduling.model import CarveMove, NewSlice, Part, SliceState
from pool.scheduling.stock import as_piece, givable, idle, together
from pool.scheduling.trial import Trial


@dataclass(frozen=True, slots=True)
class Cutting:
    """One part on one card, with the move that must come first, if any."""

    part: Part
    move: CarveMove | None = None


def whole_cutting(board: Board, row: int) -> Cutting:
    """Give the card at this row whole. It must be possible (`whole` is not NEVER)."""
    card = int(board.cards.ids[row])
    pieces = board.cards.pieces[row]
    ready = [p for p in pieces if p.mode is Mode.WHOLE and givable(p)]
    if ready and len(pieces) == 1:
        return Cutting(Part(card=card, slice=ready[0].id, card_micro=MICRO))
    kind = board.kinds[board.cards.kind[row]]
    new = NewSlice(
        mode=Mode.WHOLE,
        profile="whole",
        memory_mib=kind.size.memory_mib,
        compute_milli=1000,
        card_micro=MICRO,
        start=0,
        size=max((g.units for g in kind.geometries), default=1),
    )
    return _made(board, row, new, pieces)


def mig_cutting(board: Board, row: int, trial: Trial) -> Cutting:
    """Give the slice that the trial found for the layout of the card at this row."""
    kind = board.kinds[board.cards.kind[row]]
    geometry = kind.geometry(Mode.MIG)
    assert geometry is not None
    pieces = board.cards.pieces[row]
    own = sorted(
        (p for p in pieces if p.mode is Mode.MIG),
        key=lambda p: (p.profile, p.start or 0, p.size or 0, as_piece(p).fixed, givable(p), p.id),
    )
    profile = geometry.profiles[trial.profile]
    micro = profile_micro(geometry, profile)
    if trial.answer.reused:
        reused = own[trial.answer.reused[0]]
        return Cutting(Part(card=reused.card, slice=reused.id, card_micro=micro))
    place = trial.answer.added[0]
    new = NewSlice(
        mode=Mode.MIG,
        profile=profile.name,
        memory_mib=profile.memory_mib,
        compute_milli=profile_compute_milli(geometry, profile),
        card_micro=micro,
        start=place.start,
        size=profile.size,
    )
    foreign = tuple(p for p in pieces if p.mode is not Mode.MIG)
    return _made(board, row, new, (*(own[i] for i in trial.answer.removed), *foreign))


def soft_cutting(board: Board, row: int, granted: Grant) -> Cutting:
    """Give a soft share of the card at this row, as an idle one of that size or a new one.

    Idle slices of another mode go first; those of the same mode only as far as room is needed,
    largest first.
    """
    new = _share(board, row, granted)
    piece = lying(board, row, granted)
    if piece is not None:
        return Cutting(Part(card=piece.card, slice=piece.id, card_micro=granted.card_micro))
    kind = board.kinds[board.cards.kind[row]]
    return _made(board, row, new, _in_the_way(kind, board.cards.pieces[row], new))


def lying(board: Board, row: int, granted: Grant) -> SliceState | None:
    """The soft share of just that size that lies on the card and may be given as it is."""
    new = _share(board, row, granted)
    return next((p for p in board.cards.pieces[row] if givable(p) and _alike(p, new)), None)


def _share(board: Board, row: int, granted: Grant) -> NewSlice:
    """The soft share that the grant means on the card at this row."""
    geometry = board.kinds[board.cards.kind[row]].geometry(granted.mode)
    profile = ""
    if geometry is not None and granted.profiles:
        profile = geometry.profiles[granted.profiles[0]].name
    return NewSlice(
        mode=granted.mode,
        profile=profile,
        memory_mib=granted.memory_mib,
        compute_milli=granted.compute_milli,
        card_micro=granted.card_micro,
        encoder_units=granted.encoder_units,
        decoder_units=granted.decoder_units,
    )


def _alike(piece: SliceState, new: NewSlice) -> bool:
    same = (piece.mode, piece.profile) == (new.mode, new.profile)
    return same and _amounts(piece) == _amounts(new)


def _amounts(piece: SliceState | NewSlice) -> tuple[int, ...]:
    """Everything of a card that soft shares divide among them."""
    return (piece.memory_mib, piece.compute_milli, piece.encoder_units, piece.decoder_units)


def _in_the_way(
    kind: CardKind, pieces: tuple[SliceState, ...], new: NewSlice
) -> tuple[SliceState, ...]:
    gone = [p for p in pieces if p.mode is not new.mode]
    staying = [p for p in pieces if p.mode is new.mode]
    spare = sorted((p for p in staying if idle(p)), key=lambda p: (p.memory_mib, p.id))
    geometry = kind.geometry(new.mode)
    profiles = geometry.profiles if geometry is not None else ()
    mine = next((p for p in profiles if p.name == new.profile), None)
    if mine is not None:
        unlike = [p for p in spare if not together(p.mode, (p.profile, p.memory_mib), mine)]
        gone += unlike
        spare = [p for p in spare if p not in unlike]
    there = (kind.size.memory_mib, FULL, kind.encoders, kind.decoders)
    left = np.array(there) - _amounts(new)
    for piece in staying:
        if piece not in gone:
            left -= _amounts(piece)
    while spare and (left < 0).any():
        helps = [piece for piece in spare if (np.array(_amounts(piece))[left < 0] > 0).any()]
        largest = (helps or spare)[-1]
        spare.remove(largest)
        gone.append(largest)
        left += _amounts(largest)
    return tuple(gone)


def _made(board: Board, row: int, new: NewSlice, removed: tuple[SliceState, ...]) -> Cutting:
    card = int(board.cards.ids[row])
    part = Part(card=card, new=new, card_micro=new.card_micro)
    before = board.cards.modes[row] or Mode.WHOLE
    kind = board.kinds[board.cards.kind[row]]
    changes = before is not new.mode
    if not removed and not changes:
        return Cutting(part)
    entering = kind.geometry(new.mode)
    leaving = kind.geometry(before)
    reset = changes and any(g is not None and g.reset_to_enter for g in (entering, leaving))
    move = CarveMove(
        card=card,
        removes=tuple(sorted(p.id for p in removed)),
        mode=new.mode if changes else None,
        reset=reset,
    )
    return Cutting(part, move)
