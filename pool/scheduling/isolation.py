"""Who may share a card, and a node, with whom (requirement P5)."""

import numpy as np

from nodeagent.protocol.vocabulary import UNISOLATED, Isolation, Mode
from pool.scheduling.board import FREE, Board, Flags, Ints
from pool.scheduling.claims import TRAINING
from pool.scheduling.model import Waiting


def keeps_apart(board: Board, mode: Mode) -> bool:
    """Whether `may_share` could keep anybody off any card at all."""
    found: bool | None = board.words.memo.get(("apart", mode))
    if found is None:
        found = bool(_soft(board, mode).any() or board.nodes.single.any())
        board.words.memo["apart", mode] = found
    return found


def may_share(board: Board, work: Waiting, mode: Mode, rows: Ints) -> Flags:
    """Which of these cards are free of work that the newcomer's group does not trust.

    Modes that keep holders apart in hardware or by a hypervisor let anybody in; the others only the
    group that is there already. A node without identity or fence takes one group at a time.
    """
    mine = board.words.code(("trust", work.trust))
    soft = _soft(board, mode)
    fine: Flags = np.ones(len(rows), dtype=np.bool_)
    if soft.any():
        trust = board.cards.trust[rows]
        fine = ~soft[board.cards.kind[rows]] | (trust == FREE) | (trust == mine)
    shut = {p.id for p in board.parts.values() if work.trust not in (p.trusts or {work.trust})}
    if shut:
        away = np.array([kind.partition in shut for kind in board.kinds], dtype=np.bool_)
        fine &= ~(soft & away)[board.cards.kind[rows]]
    if board.nodes.single.any():
        fine &= nodes_may_share(board, work)[board.cards.node[rows]]
    return fine


def _soft(board: Board, mode: Mode) -> Flags:
    """Of which kinds of card the mode does not keep strangers apart; worked out once a board."""
    found: Flags | None = board.words.memo.get(("soft", mode))
    if found is None:
        told = [kind.isolation(mode) in UNISOLATED for kind in board.kinds]
        found = board.words.memo["soft", mode] = np.array(told, dtype=np.bool_)
    return found


def nodes_may_share(board: Board, work: Waiting) -> Flags:
    """Which nodes are free of work that the newcomer's group does not trust."""
    mine = board.words.code(("trust", work.trust))
    trust = board.nodes.trust
    fine: Flags = ~board.nodes.single | (trust == FREE) | (trust == mine)
    return fine


def proven(board: Board, work: Waiting, mode: Mode, rows: Ints) -> Flags:
    """Which of these cards take this training although it has written no checkpoint yet.

    It may not share a mixed card, where it can be told to give way (requirement S6).
    """
    fine = np.ones(len(rows), dtype=np.bool_)
    if wants_proof(work, mode):
        mixed = np.array([kind.mixed for kind in board.kinds], dtype=np.bool_)
        fine &= ~mixed[board.cards.kind[rows]]
    return fine


def wants_proof(work: Waiting, mode: Mode) -> bool:
    """Whether it is training on a part of a card that has written no checkpoint yet."""
    return mode is not Mode.WHOLE and work.purpose in TRAINING and not work.checkpointed


def calm(board: Board, mode: Mode, rows: Ints) -> Flags:
    """Which of these cards have no work yet that is heavy on memory bandwidth (requirement P1).

    Two of them never meet on one card whose holders share its bandwidth: what hardware cuts has
    bandwidth of its own, all other sharing does not.
    """
    shared = np.array(
        [kind.isolation(mode) is not Isolation.HARDWARE for kind in board.kinds], dtype=np.bool_
    )
    fine = np.ones(len(rows), dtype=np.bool_)
    for i in np.flatnonzero(shared[board.cards.kind[rows]] & (board.cards.held[rows] > 0)):
        pieces = board.cards.pieces[rows[i]]
        fine[i] = not any(p.heavy_bandwidth and p.held_by is not None for p in pieces)
    return fine
