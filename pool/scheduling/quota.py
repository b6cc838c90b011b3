"""Room under the quota rows: what a start may still take, and whether it would be borrowed."""

from collections.abc import Iterator

from pool.scheduling.board import Board
from pool.scheduling.model import HostPart, Quota, QuotaKind, Unit, Waiting

UNBOUND = 1 << 60
"""Room where no row binds."""


def _rows(board: Board, work: Waiting, kind: QuotaKind, partition: int) -> Iterator[Quota]:
    for tenant in work.tenants:
        for row in board.quotas.get(tenant, ()):
            if row.kind is kind and row.partition in (None, partition):
                yield row


def card_room(board: Board, work: Waiting, partition: int, label: str) -> int:
    """Card equivalents, in millionths, that this workload may still start on such cards."""
    return _room(board, work, QuotaKind.LIMIT, partition, label)


def _room(board: Board, work: Waiting, kind: QuotaKind, partition: int, label: str) -> int:
    left = UNBOUND
    for row in _rows(board, work, kind, partition):
        if row.unit is Unit.CARD_MICRO and row.label in (None, label):
            left = min(left, row.limit - board.held[row.id])
    return left


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
    if micro == 0 or not _anyone_entitled(board, partition):
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
    units = {
        Unit.CPU_MILLI: sum(h.cpu_milli for h in hosts),
        Unit.MEMORY_MIB: sum(h.memory_mib for h in hosts),
        Unit.DISK_MIB: sum(h.disk_mib for h in hosts),
    }
    for kind in QuotaKind:
        for row in _rows(board, work, kind, partition):
            if row.unit is Unit.CARD_MICRO:
                added = sum(m for label, m in taken.items() if row.label in (None, label))
            else:
                added = units[row.unit]
            board.held[row.id] += added
