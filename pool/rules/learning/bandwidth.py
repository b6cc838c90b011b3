"""Whether work is heavy on memory bandwidth, learned from how its last runs used it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

HEAVY_PERCENT = 50.0
"""A run was heavy when the card's memory was active for so much of its measured time on average."""

LEAST_KNOWN = 0.5
"""A run counts when its bandwidth was known for so much of its time: unknown is not 0."""

LEAST_RUNS = 3
"""From fewer runs that count nothing is learned."""

NEWEST = 20
"""So many of the newest runs that count are looked at: work changes."""


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run: its mean memory activity in per cent, and for how much of it that is known.

    `known` is a share of 1.
    """

    percent: float
    known: float


@dataclass(frozen=True, slots=True)
class Learned:
    """The class with its evidence: of `runs` that count `heavy_runs` were heavy.

    `percent` is the median of their means.
    """

    heavy: bool
    runs: int
    heavy_runs: int
    percent: float


def learned(runs: Sequence[Run]) -> Learned | None:
    """The class that these runs show, newest run first; None where too few were measured.

    Heavy when at least half of them were: two heavy ones on a shared card slow each other down.
    """
    counted = [run for run in runs if run.known >= LEAST_KNOWN][:NEWEST]
    if len(counted) < LEAST_RUNS:
        return None
    heavy = sum(run.percent >= HEAVY_PERCENT for run in counted)
    return Learned(
        heavy=2 * heavy >= len(counted),
        runs=len(counted),
        heavy_runs=heavy,
        percent=round(median(run.percent for run in counted), 1),
    )
