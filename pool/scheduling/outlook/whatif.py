"""The same queue under other rules: who would start sooner, and who later."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pool.scheduling.model import Policy, Rules, Snapshot
from pool.scheduling.outlook.expected import expected
from pool.scheduling.plan import plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """One waiting workload's expected start before and after; None where it cannot be told."""

    workload: int
    before_s: float | None
    after_s: float | None

    @property
    def sooner_s(self) -> float:
        """By how many seconds it would start sooner; below zero when later.

        A start that can be told for the first time, or no longer, counts as infinitely much.
        """
        if self.before_s == self.after_s:
            return 0.0
        before = float("inf") if self.before_s is None else self.before_s
        after = float("inf") if self.after_s is None else self.after_s
        return before - after


def dry_run(
    snapshot: Snapshot,
    *,
    rules: Rules | None = None,
    policies: Mapping[int, Policy] | None = None,
) -> tuple[Moved, ...]:
    """What other rules, or another policy of some partitions, would change for each that waits.

    Both are planned on the same snapshot; nothing is changed. By workload id.
    """
    asked = policies or {}
    parts = tuple(
        replace(part, policy=asked[part.id], policies=()) if part.id in asked else part
        for part in snapshot.partitions
    )
    changed = replace(snapshot, partitions=parts, rules=rules or snapshot.rules)
    before, after = _starts(snapshot), _starts(changed)
    return tuple(
        Moved(workload=work.id, before_s=before.get(work.id), after_s=after.get(work.id))
        for work in sorted(snapshot.waiting, key=lambda w: w.id)
    )


def _starts(snapshot: Snapshot) -> dict[int, float]:
    """The expected start of each: now for what the plan places, else the even chance."""
    made = plan(snapshot)
    found = {placed.workload: snapshot.now_s for placed in made.placed}
    found.update((key, half) for key, (half, _) in expected(snapshot, made).items())
    return found
