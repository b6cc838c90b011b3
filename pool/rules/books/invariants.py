"""Pure: what must hold of the books at every moment; each breach told in one line."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise

MICRO = 1_000_000
LATE = timedelta(seconds=60)
"""The watch looks every second; what is so long past its deadline was not seen by it."""

UNISOLATED = frozenset({"process", "none", "unknown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """A slice that is not gone. `start` is None in soft modes."""

    id: int
    card: int
    mode: str
    state: str
    start: int | None
    size: int | None
    memory_mib: int
    compute_milli: int
    micro: int
    deadline: datetime | None
    encoders: int = 0
    decoders: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldRow:
    """A hold; `ends` None is open. A host share has no card and no slice."""

    id: int
    placement: int
    slice: int | None
    card: int | None
    node: int
    isolation: str
    trust: int
    fenced: bool
    starts: datetime
    ends: datetime | None
    cpu_milli: int
    ram_mib: int
    disk_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRow:
    """An open placement with what it took of quota rows."""

    id: int
    workload: int
    workload_state: str
    attempt_open: bool
    taken: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaRow:
    """A quota row: placements take from limits and allowances, claims from entitlements."""

    id: int
    name: str
    held: int
    ceiling: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkRow:
    """A workload that has not ended."""

    id: int
    state: str
    deadline: datetime | None
    open_placements: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """Everything that is judged, read in one transaction. Sizes of cards: MiB; of nodes: host.

    `claims` is what leases and pending requests took of entitlement rows: (quota, amount);
    `engines` are the video encoders and decoders of each card.
    """

    now: datetime
    cards: dict[int, int]
    nodes: dict[int, tuple[int, int, int]]
    slices: tuple[SliceRow, ...]
    holds: tuple[HoldRow, ...]
    placements: tuple[PlacementRow, ...]
    quotas: tuple[QuotaRow, ...]
    works: tuple[WorkRow, ...]
    claims: tuple[tuple[int, int], ...]
    passing: frozenset[str]
    holding: frozenset[str]
    engines: dict[int, tuple[int, int]] = field(default_factory=dict)


def breaches(books: Books) -> list[str]:
    """Every broken promise, in a fixed order; empty is how it must be."""
    rules: tuple[Callable[[Books], Iterator[str]], ...] = (
        _slices_apart,
        _cards_not_over,
        _one_holder,
        _spans,
        _trust,
        _nodes_not_over,
        _quotas,
        _placements,
        _works,
        _deadlines,
    )
    return [f"{rule.__name__[1:]}: {told}" for rule in rules for told in rule(books)]


def _by_card(rows: Iterable[SliceRow]) -> dict[int, list[SliceRow]]:
    found: dict[int, list[SliceRow]] = defaultdict(list)
    for row in rows:
        found[row.card].append(row)
    return found


def _slices_apart(books: Books) -> Iterator[str]:
    """Slices of one card are of one mode and never lie on each other."""
    for card, rows in sorted(_by_card(books.slices).items()):
        if len({row.mode for row in rows}) > 1:
            yield f"card {card} is in two modes at once"
        placed = sorted(
            (row.start, row.start + row.size, row.id)
            for row in rows
            if row.start is not None and row.size is not None
        )
        for one, after in pairwise(placed):
            if one[1] > after[0]:
                yield f"slices {one[2]} and {after[2]} of card {card} overlap"


def _cards_not_over(books: Books) -> Iterator[str]:
    """The slices of a card never add up to more than the card."""
    for card, rows in sorted(_by_card(books.slices).items()):
        memory, compute = sum(r.memory_mib for r in rows), sum(r.compute_milli for r in rows)
        if memory > books.cards.get(card, 0):
            yield f"card {card} has {books.cards.get(card, 0)} MiB and gives {memory}"
        if compute > 1000 or sum(row.micro for row in rows) > MICRO:
            yield f"card {card} gives more than its whole compute or equivalent"
        has, given = books.engines.get(card, (0, 0)), (_encoders(rows), _decoders(rows))
        if given[0] > has[0] or given[1] > has[1]:
            yield f"card {card} has {list(has)} video engines and gives {list(given)}"


def _encoders(rows: Iterable[SliceRow]) -> int:
    return sum(row.encoders for row in rows)


def _decoders(rows: Iterable[SliceRow]) -> int:
    return sum(row.decoders for row in rows)


def _one_holder(books: Books) -> Iterator[str]:
    """An open hold lies on a slice that lives, and alone."""
    living = {row.id for row in books.slices}
    seen: dict[int, int] = {}
    for hold in books.holds:
        if hold.slice is None or hold.ends is not None:
            continue
        if hold.slice not in living:
            yield f"hold {hold.id} lies on slice {hold.slice}, which is gone"
        if hold.slice in seen:
            yield f"holds {seen[hold.slice]} and {hold.id} share slice {hold.slice}"
        seen[hold.slice] = hold.id


def _spans(books: Books) -> Iterator[str]:
    """No hold ends before it starts, and those of one slice never overlap."""
    by_slice: dict[int, list[HoldRow]] = defaultdict(list)
    for hold in books.holds:
        if hold.ends is not None and hold.ends <= hold.starts:
            yield f"hold {hold.id} lasts no time"
        if hold.slice is not None:
            by_slice[hold.slice].append(hold)
    for slice_id, rows in sorted(by_slice.items()):
        for one, after in pairwise(sorted(rows, key=lambda row: (row.starts, row.id))):
            if one.ends is None or one.ends > after.starts:
                yield f"holds {one.id} and {after.id} of slice {slice_id} overlap"


def _trust(books: Books) -> Iterator[str]:
    """Without hardware isolation one card, and without a fence one node, serve one trust group."""
    cards: dict[int, set[int]] = defaultdict(set)
    nodes: dict[int, set[int]] = defaultdict(set)
    for hold in books.holds:
        if hold.ends is not None:
            continue
        if hold.card is not None and hold.isolation in UNISOLATED:
            cards[hold.card].add(hold.trust)
        if not hold.fenced:
            nodes[hold.node].add(hold.trust)
    for what, groups in (("card", cards), ("node", nodes)):
        for one, found in sorted(groups.items()):
            if len(found) > 1:
                yield f"{what} {one} serves the trust groups {sorted(found)}"


def _nodes_not_over(books: Books) -> Iterator[str]:
    """Open host shares of a node never add up to more than the node."""
    used: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for hold in books.holds:
        if hold.slice is None and hold.ends is None:
            for place, amount in enumerate((hold.cpu_milli, hold.ram_mib, hold.disk_mib)):
                used[hold.node][place] += amount
    for node, amounts in sorted(used.items()):
        if any(one > most for one, most in zip(amounts, books.nodes[node], strict=True)):
            yield f"node {node} gives {amounts} of {list(books.nodes[node])}"


def _quotas(books: Books) -> Iterator[str]:
    """What a row says is held is what open placements, or claims, took of it."""
    taken: dict[int, int] = defaultdict(int)
    for quota, amount in books.claims:
        taken[quota] += amount
    for placement in books.placements:
        for quota, amount in placement.taken:
            taken[quota] += amount
    for row in books.quotas:
        if row.held != taken[row.id]:
            yield f"{row.name} says {row.held} is held, {taken[row.id]} was taken"
        if not 0 <= row.held <= row.ceiling:
            yield f"{row.name} holds {row.held} under a ceiling of {row.ceiling}"


def _placements(books: Books) -> Iterator[str]:
    """An open placement holds something, for an open attempt of held work; a closed one none."""
    open_holds: dict[int, int] = defaultdict(int)
    for hold in books.holds:
        open_holds[hold.placement] += hold.ends is None
    living = {one.id for one in books.placements}
    for one in books.placements:
        if not one.attempt_open or one.workload_state not in books.holding:
            yield f"placement {one.id} is open for {one.workload_state} work {one.workload}"
        if not open_holds[one.id]:
            yield f"placement {one.id} is open and holds nothing"
    for placement, count in sorted(open_holds.items()):
        if count and placement not in living:
            yield f"placement {placement} is closed and still holds"


def _works(books: Books) -> Iterator[str]:
    """Work that holds has one open placement; other work has none."""
    for work in books.works:
        if (work.state in books.holding) != (work.open_placements == 1):
            yield f"work {work.id} is {work.state} with {work.open_placements} open placements"


def _deadlines(books: Books) -> Iterator[str]:
    """A state that must not last has a deadline, and nobody is long past it."""
    latest = books.now - LATE
    for work in books.works:
        if work.state in books.passing and work.deadline is None:
            yield f"work {work.id} is {work.state} without a deadline"
        if work.deadline is not None and work.deadline < latest:
            yield f"work {work.id} is {work.state} past its deadline"
    for row in books.slices:
        if row.deadline is not None and row.deadline < latest:
            yield f"slice {row.id} is {row.state} past its deadline"
