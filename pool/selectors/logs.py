"""What attempts wrote, in chunks at byte offsets of the whole stream."""

from dataclasses import dataclass
from itertools import pairwise

from pool.models.samples import LogChunk
from pool.models.workloads import Attempt


@dataclass(frozen=True, slots=True)
class LogPart:
    """A piece of a log without a gap in it. `start` and `end` are byte offsets.

    A `start` after the wish tells that what lay between was not kept.
    """

    text: str
    start: int
    end: int


def log_after(*, attempt: Attempt, offset: int, chunks: int = 64, rank: int = 0) -> LogPart:
    """What lies at and after the offset, at most `chunks` pieces; empty when nothing is new."""
    rows = LogChunk.objects.filter(attempt=attempt, rank=rank, offset__gte=offset)
    found = list(rows.order_by("offset").values_list("text", "offset", "size")[:chunks])
    return _joined(found[: _unbroken(found)], offset)


def log_tail(*, attempt: Attempt, chunks: int = 64, rank: int = 0) -> LogPart:
    """The last pieces of the log, for the first look at it."""
    rows = LogChunk.objects.filter(attempt=attempt, rank=rank)
    found = list(rows.order_by("-offset").values_list("text", "offset", "size")[:chunks])
    found.reverse()
    whole = next((i for i in range(len(found)) if _unbroken(found[i:]) == len(found) - i), 0)
    return _joined(found[whole:], 0)


def log_size(*, attempt: Attempt, rank: int = 0) -> int:
    """How many bytes the rank has written as far as its node told; 0 of one there is not."""
    if rank == 0:
        return attempt.log_bytes
    found = attempt.ranks.filter(rank=rank).values_list("log_bytes", flat=True).first()
    return found or 0


def _unbroken(found: list[tuple[str, int, int]]) -> int:
    """How many pieces from the first on follow each other without a gap."""
    for number, ((_, start, size), (_, following, _)) in enumerate(pairwise(found), 1):
        if start + size != following:
            return number
    return len(found)


def _joined(found: list[tuple[str, int, int]], offset: int) -> LogPart:
    if not found:
        return LogPart("", offset, offset)
    _, last, size = found[-1]
    return LogPart("".join(text for text, _, _ in found), found[0][1], last + size)
