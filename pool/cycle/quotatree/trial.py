"""Look and compare: the same queue planned with other limits; nothing is written."""

from collections.abc import Sequence
from dataclasses import replace

from pool.cycle.demand import UNITS
from pool.cycle.dryrun import Outcome, fates_compared
from pool.cycle.waiting import Look
from pool.lifecycle.roles import QuotaKind as BookKind
from pool.lifecycle.roles import QuotaUnit
from pool.models.quotas import Quota as QuotaRow
from pool.scheduling.model import Quota, QuotaKind
from pool.scheduling.order import share_weights, weighed
from pool.services.levels import level_tenant, outer_tenants
from pool.services.quotas import QuotaLine

PLANNED = frozenset(UNITS)
"""Units whose limits the planner counts; the others are judged when work starts."""


def quota_trial(look: Look, lines: Sequence[QuotaLine]) -> Outcome | None:
    """Who in the queue would fare otherwise with these rows; None where the planner counts none.

    What an allowance allows is judged when work is submitted: the queue does not change by it.
    """
    counted = [
        line
        for line in lines
        if line.unit in PLANNED and line.kind in (BookKind.LIMIT, BookKind.ENTITLEMENT)
    ]
    if not counted:
        return None
    quotas = {row.id: row for row in look.snapshot.quotas}
    for number, line in enumerate(counted, 1):
        _put(quotas, line, -number)
    weights = share_weights(quotas.values())
    changed = replace(
        look.snapshot,
        quotas=tuple(quotas.values()),
        shares=weighed(look.snapshot.shares, weights),
    )
    return fates_compared(look, changed)


def _put(quotas: dict[int, Quota], line: QuotaLine, fresh: int) -> None:
    row = QuotaRow.objects.filter(**line.place).first()
    if row is not None and line.limit is None:
        quotas.pop(row.pk, None)
    elif row is not None and row.pk in quotas and line.limit is not None:
        quotas[row.pk] = replace(quotas[row.pk], limit=line.limit + row.granted)
    elif line.limit is not None:
        place = QuotaRow(**line.place)
        quotas[fresh] = Quota(
            id=fresh,
            tenant=level_tenant(place),
            within=outer_tenants(place),
            kind=QuotaKind.LIMIT if line.kind == BookKind.LIMIT else QuotaKind.ENTITLEMENT,
            unit=UNITS[QuotaUnit(line.unit)],
            limit=line.limit,
            held=0,
            partition=line.partition.pk,
            label=line.card_model or None,
        )
