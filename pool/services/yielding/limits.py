"""Whether a winner could start at all by its tenants' limits, once its victims have left."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pool.errors import QuotaExceeded, Stale
from pool.models.quotas import Quota
from pool.models.workloads import Workload
from pool.scheduling.model import Placed
from pool.services import levels
from pool.services.placements import asked_of


@dataclass(frozen=True, slots=True)
class Limits:
    """The locked rows that gate the winner's start, and what that start asks of them."""

    rows: tuple[Quota, ...] = ()
    asked: levels.Asked = field(default_factory=dict)


def limits_locked(*, winner_id: int, placed: Placed | None) -> Limits:
    """Lock the limits of the planned start, before anything else is locked. Without a planned
    place there is nothing to judge.

    Raises:
        Stale: the winner or a slice of its place does not exist any more.
    """
    if placed is None:
        return Limits()
    seen = Workload.objects.select_related("project").filter(pk=winner_id).first()
    if seen is None:
        raise Stale(workload=winner_id, why="it does not wait any more")
    rows = levels.level_rows(
        organization_id=seen.project.organization_id,
        project_id=seen.project_id,
        owner_id=seen.owner_id,
        partition_id=placed.partition,
        kinds=levels.start_kinds(seen.entitlement),
    )
    bound = (row for row in rows if levels.level_counts(row, cards=bool(placed.parts)))
    return Limits(tuple(bound), asked_of(placed))


def limits_hold(limits: Limits, *, kept: Collection[int], leaving: Iterable[levels.Taken]) -> None:
    """Pass when every limit leaves room for the winner; what its victims give back counts as room.

    `kept` are rows that count the winner's cards already.

    Raises:
        QuotaExceeded: work would be interrupted for a winner that may not start then.
    """
    back: Counter[int] = Counter()
    for one in leaving:
        back[one["quota"]] += one["amount"]
    for row in limits.rows:
        amount = limits.asked.get((row.card_model, row.unit), 0)
        held = row.held - back[row.pk]
        if amount > 0 and row.pk not in kept and held + amount > row.limit_value:
            raise QuotaExceeded(
                tenant=levels.level_tenant(row),
                unit=row.unit,
                limit=row.limit_value,
                held=held,
                asked=amount,
            )
