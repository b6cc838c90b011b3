"""Pure: what must hold of orders to leave, ranks, windows and kept cards; each breach in a line."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

LATE = timedelta(seconds=60)
"""The watch settles what has ended within seconds; what stays so long was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderRow:
    """An order to leave that is not settled; `ended_at` is when its attempt ended, if it has."""

    id: int
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankRow:
    """One node's part of an attempt that is open; `over` when nothing more is expected of it."""

    attempt: int
    node: int
    over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowRow:
    """A window that has begun and not ended long ago, and what it took that is still out of service
    for its sake: `nodes` and `cards` by uid.
    """

    id: int
    active: bool
    ends: datetime
    ended_at: datetime | None
    nodes: frozenset[str]
    cards: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRow:
    """A card that is kept for a reservation, with the state of the one and of its lease."""

    card: int
    reservation: int
    live_states: bool
    starts: datetime
    ends: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitments:
    """Everything that is judged, read in one transaction.

    `held_nodes` are the nodes on which each open attempt holds something.
    """

    now: datetime
    orders: tuple[OrderRow, ...] = ()
    ranks: tuple[RankRow, ...] = ()
    held_nodes: tuple[tuple[int, frozenset[int]], ...] = ()
    windows: tuple[WindowRow, ...] = ()
    kept: tuple[KeptRow, ...] = ()


def breaches(books: Commitments) -> list[str]:
    """Every broken commitment, in a fixed order; empty is how it must be."""
    rules: tuple[Callable[[Commitments], Iterator[str]], ...] = (_orders, _ranks, _windows, _kept)
    return [f"{rule.__name__[1:]}: {told}" for rule in rules for told in rule(books)]


def _orders(books: Commitments) -> Iterator[str]:
    """An order to leave is settled once its attempt has ended."""
    for order in books.orders:
        if order.ended_at is not None and order.ended_at < books.now - LATE:
            yield f"order {order.id} is open, its attempt has ended"


def _ranks(books: Commitments) -> Iterator[str]:
    """The ranks of an attempt that are not over lie where it holds something, each on its node."""
    held = dict(books.held_nodes)
    for rank in books.ranks:
        if not rank.over and rank.node not in held.get(rank.attempt, frozenset()):
            yield f"attempt {rank.attempt} has a rank on node {rank.node} and holds nothing there"


def _windows(books: Commitments) -> Iterator[str]:
    """Maintenance ends when it should, and leaves nothing out of service for its sake."""
    for window in books.windows:
        if window.active and window.ends < books.now - LATE:
            yield f"window {window.id} is under way past its end"
        gone = window.ended_at is not None and window.ended_at < books.now - LATE
        if gone and (window.nodes or window.cards):
            out = ", ".join(sorted(window.nodes | window.cards))
            yield f"window {window.id} has ended and keeps {out} out of service"


def _kept(books: Commitments) -> Iterator[str]:
    """A card is kept only for a reservation that counts, and for one at a time."""
    by_card: dict[int, list[KeptRow]] = defaultdict(list)
    for row in books.kept:
        by_card[row.card].append(row)
        if not row.live_states:
            yield f"card {row.card} is kept for reservation {row.reservation}, which is over"
    for card, rows in sorted(by_card.items()):
        here = [row.reservation for row in rows if row.starts <= books.now < row.ends]
        if len(here) > 1:
            yield f"card {card} is kept for {sorted(here)} at once"
