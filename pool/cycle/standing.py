"""Whom a used-up limit that the planner does not count stops, whatever room there is."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from pool.lifecycle.roles import QuotaUnit
from pool.scheduling.model import Running, Shortage, Waiting


@dataclass(frozen=True, slots=True)
class Spent:
    """A limit of one tenant in one partition of which nothing is left."""

    tenant: str
    partition: int
    unit: QuotaUnit
    limit: int
    held: int

    def stops(self, one: Waiting) -> bool:
        """Whether the work's start there would be counted on it; memory and compute are cards'."""
        counted = self.unit is QuotaUnit.WORKLOADS or one.need.parts > 0
        return counted and self.partition in one.partitions and self.tenant in one.tenants


def standing(
    waiting: Iterable[Waiting],
    *,
    spent: Iterable[Spent],
    running: Iterable[Running],
    promised: Collection[int],
) -> tuple[Waiting, ...]:
    """The same, each with the used-up limits that stop it.

    Work for which room is being made already (`promised`) waits for that. Cards kept for a lease
    are counted already, so its work is judged when it starts.
    """
    rows = tuple(spent)
    if not rows:
        return tuple(waiting)
    staying = {(key, run.partition) for run in running if not run.leaving for key in run.tenants}
    return tuple(
        one if one.kept or one.id in promised else _marked(one, rows, staying) for one in waiting
    )


def _marked(one: Waiting, spent: Iterable[Spent], staying: Collection[tuple[str, int]]) -> Waiting:
    mine = [row for row in spent if row.stops(one)]
    if not mine:
        return one
    keys = frozenset((row.tenant, row.partition) for row in mine)
    everywhere = {partition for _, partition in keys} == set(one.partitions)
    lost = {partition for key, partition in keys if (key, partition) not in staying}
    short = _shortage(one, mine[0]) if everywhere else None
    return replace(one, spent=keys, short=short, over=lost == set(one.partitions))


def _shortage(one: Waiting, row: Spent) -> Shortage:
    """What is missing of it; the level of the limit only: people know no keys of rows.

    How much memory and compute is asked shows only with a place: at least what the need says.
    """
    need = one.need
    each = {
        QuotaUnit.MEMORY_MIB: need.memory_mib or (need.memory_gb or 0) * 1024,
        QuotaUnit.COMPUTE_MILLI: need.compute_milli or 0,
    }
    return Shortage(
        unit=str(row.unit),
        needed=max(1, each.get(row.unit, 0) * need.parts),
        free=max(0, row.limit - row.held),
        where=row.tenant.partition(":")[0],
    )
