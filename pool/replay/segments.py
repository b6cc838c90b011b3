"""Whether a replay kept the rules: no card twice, gangs whole, nobody early, all work done."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from pool.replay.queue import Job, Segment, Shape

NEARLY_S = 1e-3
"""Times are sums of fractions: so much apart counts as alike."""


def faults(jobs: Sequence[Job], segments: Sequence[Segment], shape: Shape) -> tuple[str, ...]:
    """What is wrong with the runs of these jobs, in words; empty when nothing is."""
    known = {job.number: job for job in jobs}
    runs: dict[int, list[Segment]] = defaultdict(list)
    for segment in sorted(segments, key=lambda s: s.start_s):
        runs[segment.number].append(segment)
    found = [*_crowded(segments, shape)]
    for number, mine in sorted(runs.items()):
        found += _of_job(known[number], mine, shape)
    return tuple(found)


def counts(segment: Segment) -> dict[int, int]:
    """Cards by node."""
    pairs = (part.split(":") for part in segment.placement.split("-"))
    return {int(node): int(count) for node, count in pairs}


def _crowded(segments: Sequence[Segment], shape: Shape) -> Iterator[str]:
    """Nodes that ran more cards than they have, at any time."""
    events: list[tuple[float, int, int, int]] = []
    for segment in segments:
        for node, count in counts(segment).items():
            if not 0 <= node < shape.nodes:
                yield f"job {segment.number} ran on node {node}, which does not exist"
                continue
            events.append((segment.start_s, 1, node, count))
            events.append((segment.end_s, 0, node, count))
    busy = [0] * shape.nodes
    for at_s, begins, node, count in sorted(events):
        busy[node] += count if begins else -count
        if busy[node] > shape.cards:
            yield f"node {node} ran {busy[node]} cards at {at_s}"


def _of_job(job: Job, mine: Sequence[Segment], shape: Shape) -> Iterator[str]:
    """What is wrong with one job's runs, in the order in which they began."""
    if mine[0].start_s < job.submit_s:
        yield f"job {job.number} began before it was sent"
    for before, after in zip(mine, mine[1:], strict=False):
        if after.start_s < before.end_s:
            yield f"job {job.number} ran twice at {after.start_s}"
    for segment in mine:
        if sorted(counts(segment).values()) != _wanted(job.gpus, shape.cards):
            yield f"job {job.number} ran as {segment.placement}"
    yield from _work(job, mine, shape)


def _work(job: Job, mine: Sequence[Segment], shape: Shape) -> Iterator[str]:
    """What is wrong with the work done: too little, too much, or a checkpoint that was lost."""
    done = 0.0
    for i, segment in enumerate(mine):
        restart = shape.restart_s if i else 0.0
        done += max(0.0, segment.end_s - segment.start_s - restart) - segment.lost_s
        if job.checkpoint_s and segment.lost_s >= job.checkpoint_s + NEARLY_S:
            yield f"job {job.number} lost {segment.lost_s} s of checkpointed work"
    if abs(done - job.duration_s) > NEARLY_S:
        yield f"job {job.number} did {done} s of {job.duration_s} s"


def _wanted(cards: int, most: int) -> list[int]:
    """How many cards on how many nodes: one node, or whole ones and one with the rest."""
    if cards <= most:
        return [cards]
    full, rest = divmod(cards, most)
    return sorted([most] * full + ([rest] if rest else []))
