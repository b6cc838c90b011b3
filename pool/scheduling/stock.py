"""What one card can still give, worked out from its slices."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodeagent.protocol.inventory import Profile
from nodeagent.protocol.vocabulary import PLACED_MODES, Mode
from pool.carving.plan import Piece
from pool.carving.sizes import FULL
from pool.scheduling.kinds import CardKind
from pool.scheduling.model import SliceStage, SliceState

NEVER = -1
SOFT_ANY = "any"
SOFT_NONE = "none"
MOST_SOFT_SLICES = 48
"""More clients than this no sharing mode serves (MPS up to CUDA 13.0)."""

_GIVABLE = frozenset({SliceStage.READY, SliceStage.COMING})

Layout = tuple[tuple[str, int, int, bool, bool], ...]
"""The pieces of a card without their ids: profile, start, size, fixed, givable; lowest first."""


@dataclass(frozen=True, slots=True)
class Stock:
    """What a card can give now.

    `whole` is how many moves it takes to give it whole, NEVER when it cannot be. `layout` is its
    MIG layout once foreign idle slices are gone, None when it cannot be cut; `entry` the moves that
    takes. `soft` is the one soft mode that it can be shared in (or any, or none), with the compute
    and memory left in it, and the video engines. `coming` tells that a soft share is on its way
    which nobody holds: it can be given as it is, but not removed. `gives` is false for a card that
    has nothing at all to give.
    """

    held: int
    whole: int
    layout: Layout | None
    entry: int
    soft: str
    compute_milli: int
    memory_mib: int
    encoders: int
    decoders: int
    soft_count: int
    coming: bool
    gives: bool


def idle(piece: SliceState) -> bool:
    """Whether the slice may be removed: ready, and nobody holds it."""
    return piece.held_by is None and piece.stage is SliceStage.READY


def givable(piece: SliceState) -> bool:
    """Whether the slice may be given to work as it is."""
    return piece.held_by is None and piece.stage in _GIVABLE


def stock_of(kind: CardKind, mode: Mode | None, pieces: Sequence[SliceState]) -> Stock:
    """Work out what the card can still give. `mode` is what its hardware was left in."""
    soft, staying = _soft(pieces)
    compute = memory = encoders = decoders = 0
    if soft != SOFT_NONE:
        compute = FULL - sum(piece.compute_milli for piece in staying)
        memory = kind.size.memory_mib - sum(piece.memory_mib for piece in staying)
        encoders = kind.encoders - sum(piece.encoder_units for piece in staying)
        decoders = kind.decoders - sum(piece.decoder_units for piece in staying)
    layout, entry = _layout(kind, mode, pieces)
    whole = _whole(kind, mode, pieces)
    coming = any(_shared(piece) and givable(piece) and not idle(piece) for piece in pieces)
    shares = soft != SOFT_NONE and (memory > 0 or coming)
    return Stock(
        held=sum(piece.held_by is not None for piece in pieces),
        whole=whole,
        layout=layout,
        entry=entry,
        soft=soft,
        compute_milli=compute,
        memory_mib=memory,
        encoders=encoders,
        decoders=decoders,
        soft_count=len(staying),
        coming=coming,
        gives=whole != NEVER or shares or (layout is not None and _open(kind, layout)),
    )


def together(mode: Mode, lying: tuple[str, int], profile: Profile) -> bool:
    """Whether a slice (its profile's name, its MiB) may lie beside one of that profile.

    Partitions of one AMD card are all alike; virtual GPUs of one card are of one size, whatever
    their kind: hosts are not run in mixed sizes.
    """
    if mode is Mode.AMD_PARTITION:
        return lying[0] == profile.name
    return mode is not Mode.VGPU or lying[1] == profile.memory_mib


def _shared(piece: SliceState) -> bool:
    return piece.mode is not Mode.WHOLE and piece.mode not in PLACED_MODES


def _open(kind: CardKind, layout: Layout) -> bool:
    """Whether some unit of the card is free, or may be freed, or lies in a slice to be given."""
    geometry = kind.geometry(Mode.MIG)
    taken = sum(size for _, _, size, fixed, gives in layout if fixed and not gives)
    return geometry is not None and taken < geometry.units


def _whole(kind: CardKind, mode: Mode | None, pieces: Sequence[SliceState]) -> int:
    if Mode.WHOLE not in kind.modes:
        return NEVER
    if len(pieces) == 1 and pieces[0].mode is Mode.WHOLE and givable(pieces[0]):
        return 0
    if not all(idle(piece) for piece in pieces):
        return NEVER
    return len(pieces) + (mode not in (None, Mode.WHOLE))


def _layout(
    kind: CardKind, mode: Mode | None, pieces: Sequence[SliceState]
) -> tuple[Layout | None, int]:
    if Mode.MIG not in kind.modes or kind.geometry(Mode.MIG) is None:
        return None, 0
    foreign = [piece for piece in pieces if piece.mode is not Mode.MIG]
    if not all(idle(piece) for piece in foreign):
        return None, 0
    own = [as_piece(piece) for piece in pieces if piece.mode is Mode.MIG]
    layout = tuple(
        sorted((p.profile, p.start, p.size, p.fixed, p.givable) for p in own),
    )
    return layout, len(foreign) + (mode is not Mode.MIG)


def as_piece(piece: SliceState) -> Piece:
    """A MIG slice in the words of carving."""
    return Piece(
        id=piece.id,
        profile=piece.profile,
        start=piece.start or 0,
        size=piece.size or 0,
        fixed=not idle(piece),
        givable=givable(piece),
    )


def _soft(pieces: Sequence[SliceState]) -> tuple[str, Sequence[SliceState]]:
    """The soft mode, and what stays: idle soft slices count as free, for they can be removed."""
    staying = [piece for piece in pieces if not idle(piece)]
    if any(piece.mode in PLACED_MODES for piece in staying):
        return SOFT_NONE, ()
    return staying[0].mode.value if staying else SOFT_ANY, staying
