"""Cards drawn to scale: slices at their true places, soft shares as memory × compute."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from nodeagent.protocol.vocabulary import Mode
from pool.lifecycle.cards import CardState
from pool.lifecycle.slices import SliceState
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.reservations import ReservedCard
from pool.models.slices import Slice
from pool.models.windows import Window
from pool.models.workloads import Workload
from pool.selectors.calendar.reservations import kept_on_cards
from pool.selectors.calendar.windows import windows_on_cards
from pool.selectors.offers import card_facts, geometry_of

WIDE, HIGH, GAP, LETTER = 320.0, 44.0, 1.5, 7.2
BLIND = {CardState.SILENT, CardState.LOST}
CLOSED = {CardState.CORDONED, CardState.CONTESTED, CardState.PARTIAL}
PASSING = {SliceState.PLANNED, SliceState.CREATING, SliceState.CLEANING, SliceState.DELETING}


@dataclass(frozen=True, slots=True)
class Box:
    """One slice on the drawing; `workload` is there only for those who may know it."""

    x: float
    y: float
    width: float
    height: float
    look: str
    slice: Slice
    hold: Hold | None = None
    workload: Workload | None = None

    @property
    def middle(self) -> tuple[float, float]:
        """Where the label stands."""
        return self.x + self.width / 2, self.y + self.height / 2

    @property
    def label(self) -> str:
        """The profile's name as far as it fits: "3g.40gb", else "3g", else nothing."""
        name = self.slice.profile or self.slice.mode
        for text in (name, name.partition(".")[0]):
            if self.width >= LETTER * len(text) + 6 and self.height >= 15:
                return text
        return ""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One card ready for the template; `units` are the places of its own axis, for the ruler.

    `window` is the maintenance that is there now or soon, `kept` whose reservation keeps it.
    """

    card: Card
    boxes: list[Box]
    units: int
    look: str
    held_milli: int
    window: Window | None = None
    kept: ReservedCard | None = None

    @property
    def ticks(self) -> list[float]:
        """Places of the ruler's lines."""
        return [WIDE * place / self.units for place in range(1, self.units)]


@dataclass(frozen=True, slots=True)
class Rack:
    """One node with its cards."""

    node: Node
    cards: list[Drawn]

    @property
    def labels(self) -> dict[str, int]:
        """How many cards of each model."""
        return dict(Counter(one.card.label for one in self.cards))

    @property
    def held_milli(self) -> float:
        """What is held of the compute of all cards, in thousandths."""
        return sum(one.held_milli for one in self.cards) / len(self.cards) if self.cards else 0.0


Knows = Callable[[Workload], bool]


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked on cards, by their keys."""

    windows: Mapping[int, Window] = field(default_factory=dict)
    kept: Mapping[int, ReservedCard] = field(default_factory=dict)


def marks_now(at: datetime) -> Marks:
    """Maintenance and reservations of now; a few queries, whatever the number of cards."""
    return Marks(windows_on_cards(at=at), kept_on_cards(at=at))


def racks(*, nodes: Iterable[Node], knows: Knows, marks: Marks | None = None) -> list[Rack]:
    """Every node drawn; `knows` says whose names the viewer may read."""
    seen = marks or Marks()
    return [Rack(node, [_marked(card, knows, seen) for card in node.cards.all()]) for node in nodes]


def _marked(card: Card, knows: Knows, marks: Marks) -> Drawn:
    shown = drawn(card, knows)
    return replace(shown, window=marks.windows.get(card.pk), kept=marks.kept.get(card.pk))


def drawn(card: Card, knows: Knows) -> Drawn:
    """One card with its living slices."""
    living: list[Slice] = card.living  # type: ignore[attr-defined]
    geometry = geometry_of(card_facts(card), Mode.MIG)
    units = geometry.units if geometry else 1
    placed = [one for one in living if one.span is not None]
    boxes = [_placed(one, units, knows) for one in placed]
    boxes += _soft([one for one in living if one.span is None], card.memory_mib, knows)
    holding = [one for one in living if one.now_held]  # type: ignore[attr-defined]
    held = sum(one.compute_milli for one in holding)
    return Drawn(card, boxes, units if len(placed) or geometry else 1, _card_look(card), held)


def _card_look(card: Card) -> str:
    if card.state in BLIND:
        return "blind"
    return "closed" if card.state in CLOSED or not card.offered else "open"


def _placed(one: Slice, units: int, knows: Knows) -> Box:
    start, end = one.span.lower, one.span.upper
    if one.mode == Mode.WHOLE:
        start, end = 0, units
    x = WIDE * start / units
    return _box(one, x + GAP, GAP, WIDE * (end - start) / units - 2 * GAP, HIGH - 2 * GAP, knows)


def _soft(shares: list[Slice], memory_mib: int, knows: Knows) -> list[Box]:
    """Side by side by memory; as high as their compute."""
    boxes, x = [], 0.0
    for one in shares:
        width = WIDE * one.memory_mib / memory_mib
        height = max(4.0, (HIGH - 2 * GAP) * one.compute_milli / 1000)
        y = HIGH - GAP - height
        boxes.append(_box(one, x + GAP, y, max(2.0, width - 2 * GAP), height, knows))
        x += width
    return boxes


def _box(one: Slice, x: float, y: float, width: float, height: float, knows: Knows) -> Box:
    hold: Hold | None = next(iter(one.now_held), None)  # type: ignore[attr-defined]
    workload = hold.placement.attempt.workload if hold else None
    known = workload if workload is not None and knows(workload) else None
    look = _slice_look(one, hold, known is not None)
    return Box(round(x, 2), round(y, 2), round(width, 2), round(height, 2), look, one, hold, known)


def _slice_look(one: Slice, hold: Hold | None, known: bool) -> str:
    if one.state == SliceState.LOST:
        return "blind"
    if one.state == SliceState.FAILED:
        return "failed"
    if one.state in PASSING:
        return "passing"
    if hold is None:
        return "idle"
    return "ours" if known else "others"
