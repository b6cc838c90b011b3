"""What a request or lease takes from entitlement rows: leases plus pending, at every level."""

from pool.errors import Impossible, QuotaExceeded
from pool.lifecycle.roles import QuotaKind
from pool.models.partitions import Partition
from pool.models.tenants import Organization, Project
from pool.selectors.offers import Asked
from pool.services.levels import (
    Taken,
    level_give_back,
    level_lock,
    level_rows,
    level_take,
    level_tenant,
)


def entitlement_take(*, project: Project, wanted: list[tuple[Partition, Asked]]) -> list[Taken]:
    """Take it in the first of the partitions whose entitlement rows admit it.

    Where a partition has no such row nothing binds, and nothing is taken.

    Raises:
        QuotaExceeded: no partition admits it; the refusal of the first is told.
        Impossible: there is no partition that could hold it.
    """
    entitlements_one_at_a_time(organization_id=project.organization_id)
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
    entitlements_one_at_a_time(organization_id=project.organization_id)
    level_lock(taken=taken)
    level_give_back(taken=taken)


def entitlements_one_at_a_time(*, organization_id: int) -> None:
    """One change of entitlements an organization at a time: a change may touch two partitions."""
    Organization.objects.select_for_update(no_key=True).get(pk=organization_id)
