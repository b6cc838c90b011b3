"""A board carried from one snapshot to the next: only what differs is worked out again."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pool.scheduling.board import (
    Board,
    CardTable,
    build,
    code_of_trust,
    ends_s,
    node_table,
    pieces_of,
)
from pool.scheduling.claims import by_tenant
from pool.scheduling.kinds import kind_of
from pool.scheduling.model import CardState, Snapshot
from pool.scheduling.words import Words

LASTING = frozenset({"slots", "sizes"})
"""Words of the memo that hang on where cards lie alone; stocks hang on their kind alone."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A board as its snapshot laid it out, never planned on, and its cards in the board's order."""

    board: Board
    cards: tuple[CardState, ...]


def carry(before: Carried | None, snapshot: Snapshot) -> Carried:
    """The board of this snapshot, equal to one that is built from nothing.

    Where nodes or cards have come or gone, or are of another kind or otherwise linked, it is
    built from nothing.
    """
    places = {node.id: n for n, node in enumerate(sorted(snapshot.nodes, key=lambda n: n.id))}
    cards = tuple(
        sorted(
            (card for card in snapshot.cards if card.node in places),
            key=lambda card: (places[card.node], card.id),
        )
    )
    if before is None or not _alike(before, snapshot, cards):
        return Carried(build(snapshot), cards)
    return Carried(_again(before, snapshot, cards), cards)


def _alike(before: Carried, snapshot: Snapshot, cards: tuple[CardState, ...]) -> bool:
    """Whether both have the same nodes in the same networks, and the same cards on them."""
    board = before.board
    now = {(node.id, node.network) for node in snapshot.nodes}
    if now != {(node.id, node.network) for node in board.nodes.states}:
        return False
    if len(cards) != len(before.cards):
        return False
    kinds = board.cards.kind
    return all(
        new is old or _same_card(old, new) and kind_of(new) == board.kinds[int(kinds[row])]
        for row, (old, new) in enumerate(zip(before.cards, cards, strict=True))
    )


def _same_card(old: CardState, new: CardState) -> bool:
    return (old.id, old.node, old.domain, old.links) == (new.id, new.node, new.domain, new.links)


def _again(before: Carried, snapshot: Snapshot, cards: tuple[CardState, ...]) -> Board:
    old = before.board
    words = _words(old.words)
    table = old.cards.copy()
    board = replace(
        old,
        snapshot=snapshot,
        words=words,
        nodes=node_table(snapshot, words),
        cards=table,
        parts={part.id: part for part in snapshot.partitions},
        quotas=by_tenant(snapshot.quotas),
        held={row.id: row.held for row in snapshot.quotas},
        seats={one.id: one.total - one.used for one in snapshot.seats},
        headroom=None,
        live=None,
    )
    pieces = pieces_of(snapshot.slices, table.index)
    for row, (was, now) in enumerate(zip(before.cards, cards, strict=True)):
        if now is not was:
            table.offered[row], table.modes[row] = now.offered, now.mode
            table.trust[row] = code_of_trust(words, now.trust)
        if pieces[row] != table.pieces[row] or now.mode != was.mode:
            table.pieces[row] = pieces[row]
            board.refresh(row)
    words.where.update((one.id, row) for row, some in enumerate(pieces) for one in some)
    _ends(board, table)
    return board


def _words(old: Words) -> Words:
    """The same numbers for the same texts, layouts and sorts; what rounds worked out is dropped."""
    stays: dict[object, Any] = {
        key: value
        for key, value in old.memo.items()
        if key in LASTING or (isinstance(key, tuple) and key[0] == "stock")
    }
    return Words(codes=old.codes, memo=stays, layouts=old.layouts, sorts=old.sorts, ticks=old.ticks)


def _ends(board: Board, table: CardTable) -> None:
    """When each card's holders are forecast to have left."""
    where, snapshot = board.words.where, board.snapshot
    rows: list[int] = []
    times: list[float] = []
    for running in snapshot.running:
        mine = [where[piece] for piece in running.slices if piece in where]
        if mine:
            rows += mine
            times += [ends_s(snapshot, running)] * len(mine)
    table.ends[:] = 0.0
    if rows:
        np.maximum.at(table.ends, np.array(rows), np.array(times))
