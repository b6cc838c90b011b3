"""Which notebooks that run now a rule of idleness touches, before it is set."""

from collections.abc import Iterable
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.notebooks.notebooks import IdleRule
from pool.models.workloads import Workload
from pool.rules.idle import Rule
from pool.selectors.memberships import Standing
from pool.selectors.notebooks.rules import places_of, rule_among
from pool.selectors.workloads import workload_list


@dataclass(frozen=True, slots=True)
class Touched:
    """One notebook, the rule that holds now and the one that would; `quiet_s` counts already."""

    workload: Workload
    before: Rule
    after: Rule
    quiet_s: float

    @property
    def due_s(self) -> float:
        """Seconds until it would be reclaimed if nothing moves; the last warning comes first."""
        return max(self.after.idle_s - self.quiet_s, 120.0)


def touched_by(
    *, standing: Standing, rule: IdleRule | None, instead_of: int | None = None
) -> list[Touched]:
    """Those of the projects that the person may read; a rule of None takes the old one away."""
    rows = workload_list(standing=standing).select_related("notebook")
    found = list(rows.filter(kind=WorkloadKind.NOTEBOOK, state=WorkloadState.RUNNING))
    now = list(IdleRule.objects.all())
    then = [one for one in now if one.pk != instead_of] + ([rule] if rule else [])
    where = places_of(workloads=found)
    return list(_touched(found, where, now, then))


def _touched(
    found: Iterable[Workload],
    where: dict[int, int],
    now: list[IdleRule],
    then: list[IdleRule],
) -> Iterable[Touched]:
    for work in found:
        place = where.get(work.pk)
        before, after = rule_among(work, place, now), rule_among(work, place, then)
        if before != after:
            known = getattr(work, "notebook", None)
            yield Touched(work, before, after, known.quiet_s if known else 0.0)
