"""Room under quota rows and licence seats: what a start may still take, and what is borrowed."""

from collections.abc import Iterator, Mapping, Sequence

from nodeagent.protocol.vocabulary import Mode
from pool.scheduling.board import Board
from pool.scheduling.model import HostPart, Placed, Quota, QuotaKind, Running, Seats, Unit, Waiting

UNBOUND = 1 << 60
"""Room where no row binds."""


def _rows(board: Board, work: Waiting, kind: QuotaKind, partition: int) -> Iterator[Quota]:
    for tenant in work.tenants:
        for row in board.quotas.get(tenant, ()):
            if row.kind is kind and row.partition in (None, partition):
                yield row


def card_room(board: Board, work: Waiting, partition: int, label: str) -> int:
    """Card equivalents, in millionths, that this workload may still start on such cards."""
    if board.quotas.keys().isdisjoint(work.tenants):
        return UNBOUND
    return _room(board, work, QuotaKind.LIMIT, partition, label)


def _room(board: Board, work: Waiting, kind: QuotaKind, partition: int, label: str) -> int:
    left, named, barred = UNBOUND, set[str](), set[str]()
    for row in _rows(board, work, kind, partition):
        if row.unit is not Unit.CARD_MICRO or _kept(work, row):
            continue
        counts = row.label in (None, label)
        if counts:
            left = min(left, row.limit - board.held[row.id])
        if row.only:
            (named if counts else barred).add(row.tenant)
    return 0 if barred - named else left


def _kept(work: Waiting, row: Quota) -> bool:
    """Whether the row counts the work's cards already, because they are kept for its lease."""
    return bool(work.kept) and row.unit is Unit.CARD_MICRO and row.tenant in work.tenants[:2]


def host_room(board: Board, work: Waiting, partition: int) -> dict[Unit, int]:
    """CPU, memory and disk that this workload may still start, unit by unit."""
    left = dict.fromkeys((Unit.CPU_MILLI, Unit.MEMORY_MIB, Unit.DISK_MIB), UNBOUND)
    for row in _rows(board, work, QuotaKind.LIMIT, partition):
        if row.unit in left:
            left[row.unit] = min(left[row.unit], row.limit - board.held[row.id])
    return left


def is_borrowed(board: Board, work: Waiting, partition: int, label: str, micro: int) -> bool:
    """Whether this start goes beyond what its tenants are entitled to in the partition.

    Where nobody has an entitlement, nothing is borrowed.
    """
    if micro == 0 or not board.quotas or not _anyone_entitled(board, partition):
        return False
    left = _room(board, work, QuotaKind.ENTITLEMENT, partition, label)
    return left == UNBOUND or micro > left


def _anyone_entitled(board: Board, partition: int) -> bool:
    return any(
        row.kind is QuotaKind.ENTITLEMENT and row.partition in (None, partition)
        for rows in board.quotas.values()
        for row in rows
    )


def charge(
    board: Board, work: Waiting, partition: int, taken: dict[str, int], hosts: tuple[HostPart, ...]
) -> None:
    """Add a start to every row that counts it; `taken` is card equivalents by card label."""
    if board.quotas.keys().isdisjoint(work.tenants):
        return
    units = {
        Unit.CPU_MILLI: sum(h.cpu_milli for h in hosts),
        Unit.MEMORY_MIB: sum(h.memory_mib for h in hosts),
        Unit.DISK_MIB: sum(h.disk_mib for h in hosts),
    }
    for kind in QuotaKind:
        for row in _rows(board, work, kind, partition):
            if _kept(work, row):
                added = 0
            elif row.unit is Unit.CARD_MICRO:
                added = sum(m for label, m in taken.items() if row.label in (None, label))
            else:
                added = units[row.unit]
            board.held[row.id] += added


def seats_left(board: Board, work: Waiting, partition: int, mode: Mode) -> int:
    """How many more slices of the mode the work's licences allow there."""
    rows = (row for row in board.snapshot.seats if _needs_seat(row, work, partition, mode))
    return min((board.seats.get(row.id, UNBOUND) for row in rows), default=UNBOUND)


def take_seats(board: Board, work: Waiting, placed: Placed, modes: Mapping[int, Mode]) -> None:
    """Count a start's slices against every licence that binds it; `modes` of slices by id."""
    for row in board.snapshot.seats:
        if row.id not in board.seats:
            continue
        for part in placed.parts:
            mode = part.new.mode if part.new else modes[part.slice or 0]
            board.seats[row.id] -= _needs_seat(row, work, placed.partition, mode)


def _needs_seat(row: Seats, work: Waiting, partition: int, mode: Mode) -> bool:
    mine = row.tenant is None or row.tenant in work.tenants
    return row.mode is mode and mine and row.partition in (None, partition)


def give_back(board: Board, running: Running) -> None:
    """Take work that ends off every limit and licence that counts it; it stands on the board yet.

    Rows that count the cards of a reservation go on counting them. What is borrowed stands on no
    guarantee.
    """
    if board.quotas.keys().isdisjoint(running.tenants) and not board.seats:
        return
    where = ((board.words.where.get(s), s) for s in running.slices)
    pieces = [(row, piece) for row, piece in where if row is not None]
    labels = [board.kinds[board.cards.kind[row]].label for row, _ in pieces]
    kept = _reserved(board, {int(board.cards.ids[row]) for row, _ in pieces})
    for row in (row for tenant in running.tenants for row in board.quotas.get(tenant, ())):
        if row.partition not in (None, running.partition):
            continue
        outer = row.unit is Unit.CARD_MICRO and row.tenant in running.tenants[:2]
        free = row.kind is QuotaKind.ENTITLEMENT and running.borrowed
        if not free and not (kept and outer):
            left = board.held[row.id] - _counted(row, running, labels)
            board.held[row.id] = max(0, left)
    _seats_back(board, running, pieces)


def _reserved(board: Board, cards: set[int]) -> bool:
    return any(cards & one.cards for one in board.snapshot.reservations)


def _counted(row: Quota, running: Running, labels: Sequence[str]) -> int:
    """What the row counts of it; of several kinds of card each is taken to have an equal part."""
    if row.unit is Unit.CARD_MICRO:
        mine = sum(row.label in (None, label) for label in labels)
        return running.card_micro * mine // len(labels) if labels else 0
    which = (Unit.CPU_MILLI, Unit.MEMORY_MIB, Unit.DISK_MIB).index(row.unit)
    return sum(amounts[which] for _, *amounts in running.hosts)


def _seats_back(board: Board, running: Running, pieces: Sequence[tuple[int, int]]) -> None:
    for seat in board.snapshot.seats:
        mine = seat.tenant is None or seat.tenant in running.tenants
        if seat.id in board.seats and mine and seat.partition in (None, running.partition):
            held = (
                one for row, piece in pieces for one in board.cards.pieces[row] if one.id == piece
            )
            board.seats[seat.id] += sum(one.mode is seat.mode for one in held)
