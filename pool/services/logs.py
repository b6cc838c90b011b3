"""What attempts write, kept in pieces at byte offsets: the beginning and the newest of it."""

from collections import defaultdict

from django.db import transaction
from django.db.models import F, Max
from django.db.models.functions import Greatest

from nodeagent.protocol.samples import LogBatch, LogChunk
from nodeagent.protocol.version import MAX_BODY_BYTES
from pool.announce import announce_log
from pool.models.nodes import Node
from pool.models.ranks import Rank
from pool.models.samples import LogChunk as LogRow
from pool.models.workloads import Attempt
from pool.selectors.ranks import part_on
from pool.services.moves import locked

HEAD_BYTES = 1024 * 1024
TAIL_BYTES = 15 * 1024 * 1024
"""How much of an attempt's log is kept: the first, and the newest."""

MOST_OFFSET = 2**53


def logs_take(*, node: Node, batch: LogBatch) -> int:
    """Store the pieces of one batch; the number of bytes that were new.

    A piece that was taken before is passed over, one that overlaps is cut. Pieces of attempts of
    other nodes are left out.
    """
    pieces: dict[str, list[LogChunk]] = defaultdict(list)
    for one in batch.chunks:
        pieces[one.attempt].append(one)
    if not pieces:
        return 0
    with transaction.atomic():
        mine = Attempt.objects.filter(part_on(node), uid__in=pieces).select_related("workload")
        return sum(_take(row, pieces[row.uid], node) for row in locked(mine))


def _take(attempt: Attempt, pieces: list[LogChunk], node: Node) -> int:
    """Append one attempt's pieces, under its row's lock; which rank speaks is its node's alone."""
    rank = 0
    if attempt.size > 1:
        rank = Rank.objects.values_list("rank", flat=True).get(attempt=attempt, node=node)
    had = LogRow.objects.filter(attempt=attempt, rank=rank)
    end: int = had.aggregate(end=Max(F("offset") + F("size")))["end"] or 0
    rows: list[LogRow] = []
    for piece in sorted(pieces, key=lambda one: one.offset):
        row = _row(attempt, rank, piece, end)
        if row is not None:
            rows.append(row)
            end = row.offset + row.size
    if not rows:
        return 0
    LogRow.objects.bulk_create(rows)
    grown = Greatest(F("log_bytes"), end)
    if attempt.size > 1:
        Rank.objects.filter(attempt=attempt, rank=rank).update(log_bytes=grown)
    if rank == 0:
        Attempt.objects.filter(pk=attempt.pk).update(log_bytes=grown)
    _forget_middle(attempt, rank, end)
    announce_log(attempt.workload.uid, attempt.number, end, rank)
    return sum(row.size for row in rows)


def _row(attempt: Attempt, rank: int, piece: LogChunk, end: int) -> LogRow | None:
    """The part of a piece that lies after `end`; None when nothing does, or it cannot be true.

    PostgreSQL text holds no NUL: it becomes the replacement character.
    """
    over = end - piece.offset
    possible = 0 <= piece.offset < MOST_OFFSET and 0 < piece.size <= MAX_BODY_BYTES
    if not possible or over >= piece.size:
        return None
    text, offset, size = piece.text, piece.offset, piece.size
    if over > 0:
        text = text.encode("utf-8", "surrogatepass")[over:].decode("utf-8", "replace")
        offset, size = end, size - over
    return LogRow(
        attempt=attempt,
        rank=rank,
        offset=offset,
        size=size,
        text=text.replace("\x00", "\ufffd"),
    )


def _forget_middle(attempt: Attempt, rank: int, end: int) -> None:
    """Drop whole pieces between the kept head and the kept tail."""
    if end <= HEAD_BYTES + TAIL_BYTES:
        return
    LogRow.objects.filter(
        attempt=attempt, rank=rank, offset__gte=HEAD_BYTES, offset__lt=end - TAIL_BYTES
    ).annotate(end=F("offset") + F("size")).filter(end__lte=end - TAIL_BYTES).delete()
