"""The checker's own ledger of cards: places, sums, modes, groups and sizes, in plain loops."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from nodeagent.protocol.inventory import Profile
from nodeagent.protocol.vocabulary import MODE_ISOLATION, PLACED_MODES, UNISOLATED, Isolation, Mode
from pool.scheduling.checker.faults import Fault
from pool.scheduling.checker.sizes import geometry_of, profile_of, size_faults
from pool.scheduling.model import (
    CardState,
    CarveMove,
    NewSlice,
    Part,
    Placed,
    SliceStage,
    SliceState,
    Snapshot,
    Waiting,
)

MOST_CLIENTS = 48
"""No sharing mode serves more holders on one card."""


class CardLedger:
    """The cards as the plan changes them, start by start.

    `modes` is what each card's hardware is in then; None where that can not be told.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.cards = {card.id: card for card in snapshot.cards}
        self.nodes = {node.id: node for node in snapshot.nodes}
        self.pieces: dict[int, list[SliceState]] = {card.id: [] for card in snapshot.cards}
        for piece in snapshot.slices:
            if piece.card in self.pieces:
                self.pieces[piece.card].append(piece)
        self.modes: dict[int, Mode | None] = {c.id: c.mode or Mode.WHOLE for c in snapshot.cards}
        self.touched: set[int] = set()
        self.made = 0

    def faults(self, work: Waiting, placed: Placed) -> Iterator[Fault]:
        """Go through one start: its moves first, then each of its parts."""
        if placed.partition not in work.partitions:
            yield Fault("partition", work.id)
        for move in placed.moves:
            if move.card not in {part.card for part in placed.parts}:
                yield Fault("moves_another_card", move.card)
            yield from self._moved(move)
        for part in placed.parts:
            card = self.cards.get(part.card)
            if card is None or not card.offered or not self.nodes[card.node].offered:
                yield Fault("card_not_offered", part.card)
                continue
            if card.partition != placed.partition:
                yield Fault("card_of_another_partition", part.card)
            self.touched.add(card.id)
            yield from self._given(work, card, part)
        if placed.card_micro != sum(part.card_micro for part in placed.parts):
            yield Fault("wrong_card_micro", work.id)

    def _moved(self, move: CarveMove) -> Iterator[Fault]:
        """Only idle slices of that card go, and a change of mode leaves nothing behind."""
        pieces = self.pieces.get(move.card, [])
        for number in move.removes:
            piece = next((p for p in pieces if p.id == number), None)
            if piece is None or piece.held_by is not None or piece.stage is not SliceStage.READY:
                yield Fault("removes_what_is_not_idle", move.card, str(number))
        left = [piece for piece in pieces if piece.id not in move.removes]
        if move.mode is not None and left:
            yield Fault("mode_change_on_a_card_in_use", move.card)
        self.pieces[move.card] = left
        card, before = self.cards.get(move.card), self.modes.get(move.card)
        if card is None or move.mode is None or before is None:
            return
        ways = (geometry_of(card, mode) for mode in (before, move.mode))
        wanted = before is not move.mode and any(way and way.reset_to_enter for way in ways)
        if wanted and not move.reset:
            yield Fault("reset_left_out", move.card)
        self.modes[move.card] = move.mode

    def _given(self, work: Waiting, card: CardState, part: Part) -> Iterator[Fault]:
        pieces = self.pieces[card.id]
        if part.new is not None:
            if self.modes[card.id] not in (None, part.new.mode):
                yield Fault("mode_not_changed", card.id, part.new.mode)
            self.modes[card.id] = part.new.mode
            self.made -= 1
            pieces.append(_as_slice(self.made, card.id, part.new, work))
            given = pieces[-1]
        else:
            at = next((i for i, p in enumerate(pieces) if p.id == part.slice), None)
            free = at is not None and pieces[at].held_by is None
            if at is None or not free or pieces[at].stage in (SliceStage.GOING, SliceStage.BROKEN):
                yield Fault("slice_not_free", card.id, str(part.slice))
                return
            pieces[at] = replace(
                pieces[at],
                held_by=work.id,
                trust=work.trust,
                purpose=work.purpose,
                heavy_bandwidth=work.need.heavy_bandwidth,
            )
            given = pieces[at]
        yield from size_faults(card, part, part.new or given)
        yield from self._right(work, card, given)

    def _right(self, work: Waiting, card: CardState, given: SliceState) -> Iterator[Fault]:
        """The slice is of a mode, make and size that the work can use."""
        need = work.need
        if given.mode not in card.modes or (need.modes and given.mode not in need.modes):
            yield Fault("mode", work.id)
        if need.whole and given.mode is not Mode.WHOLE:
            yield Fault("not_whole", work.id)
        if _unable(work, card):
            yield Fault("cannot_run_there", work.id)
        if need.isolation is Isolation.HARDWARE and isolation(card, given.mode) != need.isolation:
            yield Fault("isolation", work.id)
        own = (p.tolerance_milli for p in self.snapshot.partitions if p.id == card.partition)
        tolerance = next(own, None)
        if tolerance is None:
            tolerance = self.snapshot.rules.compute_tolerance_milli
        if not _big_enough(work, card, given, tolerance):
            yield Fault("too_small", work.id)
        asked = (need.encoder_units, need.decoder_units)
        if any(one > has for one, has in zip(asked, _engines(card, given), strict=True)):
            yield Fault("too_few_engines", work.id)

    def final_faults(self) -> Iterator[Fault]:
        """What must hold of every card that the plan touched, once all is done."""
        for number in sorted(self.touched):
            card, pieces = self.cards[number], self.pieces[number]
            modes = {piece.mode for piece in pieces}
            if len(modes) > 1:
                yield Fault("two_modes_on_a_card", number)
            groups = {p.trust for p in pieces if p.held_by is not None}
            soft = any(isolation(card, mode) in UNISOLATED for mode in modes)
            if soft and len(groups) > 1:
                yield Fault("two_groups_on_a_card", number)
            heavy = sum(p.heavy_bandwidth for p in pieces if p.held_by is not None)
            apart = all(isolation(card, mode) is Isolation.HARDWARE for mode in modes)
            if heavy > 1 and not apart:
                yield Fault("bandwidth_shared_by_two_heavy", number)
            if modes & PLACED_MODES:
                yield from _overlaps(card, pieces)
            else:
                yield from _sums(card, pieces)


def isolation(card: CardState, mode: Mode) -> Isolation:
    """What keeps holders of the card apart in that mode."""
    told = next((g.isolation for g in card.geometries if g.mode is mode), None)
    return told or MODE_ISOLATION[mode]


def _as_slice(number: int, card: int, new: NewSlice, work: Waiting) -> SliceState:
    return SliceState(
        id=number,
        card=card,
        mode=new.mode,
        profile=new.profile,
        memory_mib=new.memory_mib,
        compute_milli=new.compute_milli,
        stage=SliceStage.COMING,
        start=new.start,
        size=new.size,
        encoder_units=new.encoder_units,
        decoder_units=new.decoder_units,
        held_by=work.id,
        trust=work.trust,
        purpose=work.purpose,
        heavy_bandwidth=work.need.heavy_bandwidth,
    )


def _profile(card: CardState, piece: SliceState) -> Profile | None:
    return profile_of(card, piece.mode, piece.profile)


def _unable(work: Waiting, card: CardState) -> bool:
    """Whether the card is of a make, kind or age that the work does not run on."""
    need = work.need
    return bool(
        (need.vendors and card.vendor not in need.vendors)
        or (need.labels and card.label not in need.labels)
        or (need.architectures and card.architecture not in need.architectures)
        or (need.encoder and card.nvenc == 0)
        or (need.graphics and not card.graphics)
        or _older(card.driver, need.min_driver)
        or _older(card.compute_capability, need.min_compute_capability)
    )


def _engines(card: CardState, piece: SliceState) -> tuple[int, int]:
    """Video encoders and decoders that a slice has to itself."""
    if piece.mode is Mode.WHOLE:
        return card.nvenc, card.nvdec
    if piece.mode not in PLACED_MODES:
        return piece.encoder_units, piece.decoder_units
    profile = _profile(card, piece)
    return (profile.encoders or 0, profile.decoders or 0) if profile else (0, 0)


def _older(have: str, wanted: str) -> bool:
    """Whether a dotted version is below the one that is wanted; a part that is no number is 0."""
    told, asked = (
        [int(part) if part.isdigit() else 0 for part in text.split(".") if part]
        for text in (have, wanted)
    )
    return bool(wanted) and told < asked


def _big_enough(work: Waiting, card: CardState, given: SliceState, tolerance: int) -> bool:
    need = work.need
    nominal = card.nominal_gb
    if need.whole:
        least = max(need.memory_gb or 0, need.min_size_gb)
        return least <= nominal and (need.memory_mib or 0) <= card.memory_mib
    profile = _profile(card, given)
    if need.profile:
        return given.profile == need.profile
    compute = need.compute_milli if need.compute_milli is not None else need.share_milli
    if compute is not None and given.compute_milli + tolerance < compute:
        return False
    if need.memory_mib is not None and given.memory_mib < need.memory_mib:
        return False
    share = need.share_milli if need.memory_mib is None and need.memory_gb is None else None
    wanted = need.memory_gb if need.memory_mib is None and need.memory_gb else 0
    if profile or given.mode is Mode.WHOLE:
        named = profile.nominal_gb if profile else nominal
        enough = named * 1000 >= (share or 0) * nominal
        return enough and named >= max(wanted, need.min_size_gb)
    in_step = compute is None or need.proportional
    if in_step and given.compute_milli < given.memory_mib * 1000 // card.memory_mib:
        return False
    least = card.memory_mib * max(wanted, need.min_size_gb) // nominal
    return given.memory_mib >= max(least, card.memory_mib * (share or 0) // 1000)


def _overlaps(card: CardState, pieces: list[SliceState]) -> Iterator[Fault]:
    """Places are the card's own, no two overlap, and no profile passes its maximum."""
    covered: set[int] = set()
    counts: dict[str, int] = {}
    media = 0
    for piece in pieces:
        units = set(range(piece.start or 0, (piece.start or 0) + (piece.size or 0)))
        if covered & units:
            yield Fault("overlap", card.id, piece.profile)
        covered |= units
        profile = _profile(card, piece)
        if piece.mode is not Mode.MIG or profile is None:
            continue
        counts[piece.profile] = counts.get(piece.profile, 0) + 1
        media += "+me" in piece.profile
        if piece.start not in profile.starts or piece.size != profile.size:
            yield Fault("illegal_place", card.id, piece.profile)
        if counts[piece.profile] > profile.max_instances or media > 1:
            yield Fault("too_many", card.id, piece.profile)


def _sums(card: CardState, pieces: list[SliceState]) -> Iterator[Fault]:
    """Soft shares never sum past the card, its clients or the most of a vendor's profile."""
    if sum(piece.memory_mib for piece in pieces) > card.memory_mib:
        yield Fault("memory_overcommitted", card.id)
    if sum(piece.compute_milli for piece in pieces) > 1000:
        yield Fault("compute_overcommitted", card.id)
    encoders = sum(piece.encoder_units for piece in pieces)
    if encoders > card.nvenc or sum(piece.decoder_units for piece in pieces) > card.nvdec:
        yield Fault("engines_overcommitted", card.id)
    if sum(piece.held_by is not None for piece in pieces) > MOST_CLIENTS:
        yield Fault("too_many", card.id)
    for name, count in Counter(piece.profile for piece in pieces).items():
        profile = profile_of(card, pieces[0].mode, name)
        if profile is not None and count > profile.max_instances:
            yield Fault("too_many", card.id, name)
    yield from _unlike(card, pieces)


def _unlike(card: CardState, pieces: list[SliceState]) -> Iterator[Fault]:
    """Partitions of an AMD card are of one kind, virtual GPUs of one card of one size."""
    if len({piece.profile for piece in pieces if piece.mode is Mode.AMD_PARTITION}) > 1:
        yield Fault("unlike_partitions", card.id)
    if len({piece.memory_mib for piece in pieces if piece.mode is Mode.VGPU}) > 1:
        yield Fault("unlike_sizes", card.id)
