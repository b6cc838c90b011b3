"""What attempts wrote, in chunks at byte offsets of the whole stream."""

from dataclasses import dataclass

from pool.models.samples import LogChunk
from pool.models.workloads import Attempt


@dataclass(frozen=True, slots=True)
class LogPart:
    """A piece of a log. `start` and `end` are byte offsets; a `start` after the wish is a gap."""

    text: str
    start: int
    end: int


def log_after(*, attempt: Attempt, offset: int, chunks: int = 64, rank: int = 0) -> LogPart:
    """What lies at and after the offset, at most `chunks` pieces; empty when nothing is new."""
    rows = LogChunk.objects.filter(attempt=attempt, rank=rank, offset__gte=offset)
    found = list(rows.order_by("offset").values_list("text", "offset", "size")[:chunks])
    return _joined(found, offset)


def log_tail(*, attempt: Attempt, chunks: int = 64, rank: int = 0) -> LogPart:
    """The last pieces of the log, for the first look at it."""
    rows = LogChunk.objects.filter(attempt=attempt, rank=rank)
    found = list(rows.order_by("-offset").values_list("text", "offset", "size")[:chunks])
    return _joined(found[::-1], 0)


def _joined(found: list[tuple[str, int, int]], offset: int) -> LogPart:
    if not found:
        return LogPart("", offset, offset)
    _, last, size = found[-1]
    return LogPart("".join(text for text, _, _ in found), found[0][1], last + size)
