"""Taking and giving back on the board: the one place where a round changes its world."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pool.scheduling.board import FREE, Board, ends_s
from pool.scheduling.calendar import forecast_s
from pool.scheduling.model import (
    CarveMove,
    HostPart,
    Part,
    Placed,
    Running,
    SliceStage,
    SliceState,
    Waiting,
)
from pool.scheduling.quota import charge, give_back, take_seats


def take(board: Board, work: Waiting, placed: Placed) -> None:
    """Let the board be as if this start had been committed."""
    for move in placed.moves:
        clear(board, move)
    until = board.snapshot.now_s + forecast_s(work, board.snapshot.rules)
    for part in placed.parts:
        give(board, part, work)
        row = board.cards.index[part.card]
        board.cards.ends[row] = max(until, board.cards.ends[row])
    for host in placed.hosts:
        _take_host(board, host, board.words.code(("trust", work.trust)))
    charge_all(board, work, placed)


def take_alike(guard: Board, board: Board, work: Waiting, placed: Placed) -> None:
    """Take the start on `guard` too: its cards are then as on `board`, where it was taken."""
    for part in placed.parts:
        guard.match(board, board.cards.index[part.card])
    for host in placed.hosts:
        _take_host(guard, host, board.words.code(("trust", work.trust)))
    charge_all(guard, work, placed)


def charge_all(board: Board, work: Waiting, placed: Placed) -> None:
    """Count a start against every limit and licence that binds it."""
    taken: dict[str, int] = {}
    for part in placed.parts:
        label = board.kinds[board.cards.kind[board.cards.index[part.card]]].label
        taken[label] = taken.get(label, 0) + part.card_micro
    charge(board, work, placed.partition, taken, placed.hosts)
    if board.seats:
        modes = {s.id: s.mode for p in placed.parts for s in _pieces_of(board, p)}
        take_seats(board, work, placed, modes)


def _pieces_of(board: Board, part: Part) -> tuple[SliceState, ...]:
    return board.cards.pieces[board.cards.index[part.card]]


def clear(board: Board, move: CarveMove) -> None:
    """Take idle slices off a card and change its mode."""
    row = board.cards.index[move.card]
    gone = frozenset(move.removes)
    board.cards.pieces[row] = tuple(p for p in board.cards.pieces[row] if p.id not in gone)
    if move.mode is not None:
        board.cards.modes[row] = move.mode


def give(board: Board, part: Part, work: Waiting) -> None:
    """Put the work onto one slice of a card, made now or there already."""
    row = board.cards.index[part.card]
    pieces = board.cards.pieces[row]
    if part.new is None:
        board.cards.pieces[row] = tuple(
            replace(
                p,
                held_by=work.id,
                trust=work.trust,
                purpose=work.purpose,
                heavy_bandwidth=work.need.heavy_bandwidth,
            )
            if p.id == part.slice
            else p
            for p in pieces
        )
    else:
        board.cards.pieces[row] = (*pieces, _made(board, part, work))
        board.cards.modes[row] = part.new.mode
    board.cards.trust[row] = board.words.code(("trust", work.trust))
    board.refresh(row)


def _made(board: Board, part: Part, work: Waiting) -> SliceState:
    assert part.new is not None
    number = board.words.fresh()
    board.words.where[number] = board.cards.index[part.card]
    return SliceState(
        id=number,
        card=part.card,
        mode=part.new.mode,
        profile=part.new.profile,
        memory_mib=part.new.memory_mib,
        compute_milli=part.new.compute_milli,
        stage=SliceStage.COMING,
        start=part.new.start,
        size=part.new.size,
        held_by=work.id,
        trust=work.trust,
        purpose=work.purpose,
        heavy_bandwidth=work.need.heavy_bandwidth,
        encoder_units=part.new.encoder_units,
        decoder_units=part.new.decoder_units,
    )


def _take_host(board: Board, host: HostPart, trust: int) -> None:
    row = board.nodes.index[host.node]
    board.nodes.cpu[row] -= host.cpu_milli
    board.nodes.memory[row] -= host.memory_mib
    board.nodes.disk[row] -= host.disk_mib
    board.nodes.busy[row] += 1
    board.nodes.trust[row] = trust
    board.nodes.stamp[row] = board.words.tick()


def release(board: Board, running: Running) -> None:
    """Let the board be as if this work had ended: its slices are gone, its limits have room."""
    give_back(board, running)
    rows = {board.words.where[s] for s in running.slices if s in board.words.where}
    hosts = [
        HostPart(node=n, cpu_milli=c, memory_mib=m, disk_mib=d) for n, c, m, d in running.hosts
    ]
    vacate(board, running.id, rows, hosts)


def vacate(board: Board, holder: int, rows: Iterable[int], hosts: Iterable[HostPart]) -> None:
    """Take a holder's slices off the cards at these rows and give its host shares back."""
    for row in sorted(rows):
        pieces = tuple(p for p in board.cards.pieces[row] if p.held_by != holder)
        board.cards.pieces[row] = pieces
        if not any(p.held_by is not None for p in pieces):
            board.cards.trust[row] = FREE
            board.cards.ends[row] = 0.0
        board.refresh(row)
    for host in hosts:
        node = board.nodes.index.get(host.node)
        if node is not None:
            _give_host(board, node, host)


def _give_host(board: Board, row: int, host: HostPart) -> None:
    board.nodes.cpu[row] += host.cpu_milli
    board.nodes.memory[row] += host.memory_mib
    board.nodes.disk[row] += host.disk_mib
    board.nodes.busy[row] -= 1
    board.nodes.stamp[row] = board.words.tick()
    if board.nodes.busy[row] <= 0:
        board.nodes.trust[row] = FREE


def foresee(board: Board, rows: Iterable[int], running: Mapping[int, Running]) -> None:
    """Work out anew when the last holder of the cards at these rows is forecast to have left."""
    for row in rows:
        holders = (running.get(piece.held_by or 0) for piece in board.cards.pieces[row])
        ends = (ends_s(board.snapshot, one) for one in holders if one is not None)
        board.cards.ends[row] = max(ends, default=0.0)
