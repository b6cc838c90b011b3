"""What time keeps away: maintenance, reservations and promises of room, against a forecast."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pool.scheduling.board import Board, Flags, Times
from pool.scheduling.model import Reason, Rules, Snapshot, Waiting


def forecast_s(work: Waiting, rules: Rules) -> float:
    """How long the work will run: what was declared, stretched by the owner's past overruns."""
    if work.declared_s is None:
        return rules.unknown_duration_s
    return max(work.declared_s, work.declared_s * work.p90_ratio)


def kept_away(board: Board, work: Waiting) -> Iterator[tuple[Reason, Flags]]:
    """Flags over all cards: which the work may use for as long as it is forecast to run."""
    snapshot = board.snapshot
    now = snapshot.now_s
    until = now + forecast_s(work, snapshot.rules)
    closed = [w for w in snapshot.windows if w.starts_s < until and w.ends_s > now]
    if closed:
        cards = frozenset().union(*(w.cards for w in closed))
        nodes = frozenset().union(*(w.nodes for w in closed))
        yield Reason.MAINTENANCE, ~(_cards(board, cards) | _on(board, nodes))
    kept = others_cards(board, work, lent=False)
    for promise in snapshot.promises:
        if promise.workload != work.id and promise.until_s > now:
            kept |= promise.cards
    if kept:
        yield Reason.RESERVED, ~_cards(board, kept)
    if work.kept:
        yield Reason.RESERVED, _cards(board, work.kept)


def others_cards(board: Board, work: Waiting, *, lent: bool) -> frozenset[int]:
    """Cards kept for others at some time of the work's forecast: barred to it, or `lent` to it."""
    snapshot = board.snapshot
    until = snapshot.now_s + forecast_s(work, snapshot.rules)
    found: frozenset[int] = frozenset()
    for one in snapshot.reservations:
        overlaps = one.starts_s < until and one.ends_s > snapshot.now_s
        mine = one.tenants & frozenset(work.tenants)
        if overlaps and not mine and (one.lends and work.preemptible) == lent:
            found |= one.cards - work.kept
    return found


def timed(snapshot: Snapshot) -> bool:
    """Whether what may start depends on when, beside on what runs."""
    return bool(snapshot.windows or snapshot.reservations)


def at(snapshot: Snapshot, now_s: float) -> Snapshot:
    """The snapshot as it will be judged then; what is promised stays with whom it is promised."""
    kept = tuple(replace(promise, until_s=float("inf")) for promise in snapshot.promises)
    return replace(snapshot, now_s=now_s, promises=kept)


def bare(snapshot: Snapshot) -> Snapshot:
    """The snapshot without maintenance and reservations."""
    return replace(snapshot, windows=(), reservations=())


def free_from(board: Board, work: Waiting, times: Times) -> Times:
    """From when on each card may be used for as long as the work runs; `times` is when it is free.

    A card that would be taken away during the run is free again once that is over.
    """
    length = forecast_s(work, board.snapshot.rules)
    spans = []
    for window in board.snapshot.windows:
        flags = _cards(board, window.cards) | _on(board, window.nodes)
        spans.append((window.starts_s, window.ends_s, window.id, flags))
    for one in board.snapshot.reservations:
        if not one.tenants & frozenset(work.tenants) and not (one.lends and work.preemptible):
            flags = _cards(board, one.cards - work.kept)
            spans.append((one.starts_s, one.ends_s, one.id, flags))
    found = times.copy()
    for starts_s, ends_s, _, flags in sorted(spans, key=lambda span: span[:3]):
        found[flags & (found < ends_s) & (found + length > starts_s)] = ends_s
    return found


def nodes_kept_away(board: Board, work: Waiting) -> Flags:
    """Flags over all nodes: which CPU-only work may use for as long as it is forecast to run."""
    snapshot = board.snapshot
    until = snapshot.now_s + forecast_s(work, snapshot.rules)
    nodes: frozenset[int] = frozenset()
    for window in snapshot.windows:
        if window.starts_s < until and window.ends_s > snapshot.now_s:
            nodes |= window.nodes
    for promise in snapshot.promises:
        if promise.workload != work.id and promise.until_s > snapshot.now_s:
            nodes |= promise.nodes
    return ~_nodes(board, nodes)


def _cards(board: Board, ids: frozenset[int]) -> Flags:
    flags = np.zeros(len(board.cards.ids), dtype=np.bool_)
    flags[[board.cards.index[i] for i in ids if i in board.cards.index]] = True
    return flags


def _nodes(board: Board, ids: frozenset[int]) -> Flags:
    flags = np.zeros(len(board.nodes.states), dtype=np.bool_)
    flags[[board.nodes.index[i] for i in ids if i in board.nodes.index]] = True
    return flags


def _on(board: Board, nodes: frozenset[int]) -> Flags:
    return _nodes(board, nodes)[board.cards.node]
