"""What a request or lease takes from entitlement rows: leases plus pending, at every level."""

from collections.abc import Iterable

from pool.errors import Impossible, QuotaExceeded
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.partitions import Partition
from pool.models.tenants import Organization, Project
from pool.rules.needs import Need
from pool.selectors.offers import PlacedOption
from pool.services.levels import (
    Asked,
    Taken,
    level_give_back,
    level_lock,
    level_rows,
    level_take,
    level_tenant,
)


def asked_where(
    *, need: Need, copies: int, options: Iterable[PlacedOption], partitions: Iterable[Partition]
) -> list[tuple[Partition, Asked]]:
    """The partitions that could hold it with what it asks there at the least, in their order.

    It asks of the rows of its kind of card, and of rows for all cards of the partition alike.
    """
    if need.parts == 0:
        cpu = (need.cpu_milli or 0) * copies
        return [(p, {("", QuotaUnit.CPU_MILLI): cpu}) for p in partitions]
    found: dict[int, tuple[Partition, Asked, int]] = {}
    for one in options:
        micro = one.micro(need) * copies
        if one.holds(need) and (
            one.partition.pk not in found or micro < found[one.partition.pk][2]
        ):
            unit = str(QuotaUnit.CARDS_MICRO)
            asked = {(one.option.label, unit): micro, ("", unit): micro}
            found[one.partition.pk] = (one.partition, asked, micro)
    ordered = sorted(found.values(), key=lambda item: (item[0].rank, item[0].pk))
    return [(partition, asked) for partition, asked, _ in ordered]


def entitlement_take(*, project: Project, wanted: list[tuple[Partition, Asked]]) -> list[Taken]:
    """Take it in the first of the partitions whose entitlement rows admit it.

    Where a partition has no such row nothing binds, and nothing is taken.

    Raises:
        QuotaExceeded: no partition admits it; the refusal of the first is told.
        Impossible: there is no partition that could hold it.
    """
    _one_at_a_time(project)
    refusals: list[QuotaExceeded] = []
    for partition, asked in wanted:
        rows = level_rows(
            organization_id=project.organization_id,
            project_id=project.pk,
            owner_id=None,
            partition_id=partition.pk,
            kinds=[QuotaKind.ENTITLEMENT],
        )
        try:
            return level_take(rows=rows, asked=asked)
        except QuotaExceeded as refused:
            names = {level_tenant(row): str(row.organization or row.project) for row in rows}
            refused.detail["tenant"] = names[refused.detail["tenant"]]
            refusals.append(refused)
    if refusals:
        raise refusals[0]
    raise Impossible(why="no partition")


def entitlement_give_back(*, project: Project, taken: list[Taken]) -> None:
    """Give back exactly what was taken, under the rows' locks."""
    if not taken:
        return
    _one_at_a_time(project)
    level_lock(taken=taken)
    level_give_back(taken=taken)


def _one_at_a_time(project: Project) -> None:
    """One change of entitlements an organization at a time: a change may touch two partitions."""
    rows = Organization.objects.select_for_update(no_key=True)
    rows.get(pk=project.organization_id)
