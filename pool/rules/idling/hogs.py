"""PURE: who holds card memory while the card computes nothing (requirement N3)."""

from collections.abc import Iterable
from dataclasses import dataclass

from pool.rules.idle import MEMORY_SHARE, SM_PERCENT

SORTS = ("memory", "share", "quiet", "name")
"""By what the list can be ordered; the largest first, names from A on."""


@dataclass(frozen=True, slots=True)
class Use:
    """One run over the last minutes. MiB and percent are means; None is unknown, never 0.

    `slice_mib` is what its slices have; `quiet_s` is for how long no compute was seen of the last
    day, over known time alone.
    """

    workload: int
    memory_mib: float | None
    slice_mib: int
    sm_percent: float | None
    known_s: float
    quiet_s: float | None = None
    attempt: int = 0

    @property
    def share(self) -> float:
        """The part of its slices' memory that it holds."""
        return (self.memory_mib or 0.0) / self.slice_mib if self.slice_mib else 0.0


LEAST_KNOWN_S = 120.0
"""Of less than two known minutes nothing is said: it may just load."""


def is_hog(use: Use) -> bool:
    """Holds memory that others may miss, at no compute that is known; the unknown is no hog."""
    if use.memory_mib is None or use.sm_percent is None or use.known_s < LEAST_KNOWN_S:
        return False
    return use.share >= MEMORY_SHARE and use.sm_percent < SM_PERCENT


def hogs(uses: Iterable[Use]) -> list[Use]:
    """Those of them that hold for nothing, the most memory first."""
    found = [one for one in uses if is_hog(one)]
    return sorted(found, key=lambda one: (-(one.memory_mib or 0.0), one.workload))
