"""What is held of each quota row: taken and given back under the rows' locks, checked each time."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from django.db import connection
from django.db.models import F, Q

from pool.errors import QuotaExceeded
from pool.lifecycle.roles import QuotaKind, QuotaUnit
from pool.models.quotas import Quota
from pool.services.quotatree.periods import month_taken

Asked = Mapping[tuple[str, str], int]
"""(card label or empty for host units, unit) to how much."""

HOST_UNITS = frozenset(
    {QuotaUnit.CPU_MILLI, QuotaUnit.RAM_MIB, QuotaUnit.DISK_MIB, QuotaUnit.WORKLOADS}
)


class Taken(TypedDict):
    """What one owner of a level took of one row, kept beside it so that exactly this goes back."""

    quota: int
    amount: int


_MOVE = """
UPDATE pool_quota AS q
SET held = q.held + v.amount,
    ceiling = CASE WHEN v.amount > 0 THEN greatest(q.ceiling, q.limit_value)
                   ELSE greatest(q.limit_value, q.held + v.amount) END
FROM unnest(%s::bigint[], %s::bigint[]) AS v(id, amount)
WHERE q.id = v.id
"""


def level_rows(
    *,
    organization_id: int,
    project_id: int,
    owner_id: int | None,
    partition_id: int,
    kinds: Sequence[str],
) -> list[Quota]:
    """The rows that bind this tenant there, locked: organization, project, member; by id in each.

    Of rows of card-hours nothing is held: they are judged by what their month has used.
    """
    mine = Q(organization_id=organization_id) | Q(project_id=project_id, user_id=None)
    if owner_id is not None:
        mine |= Q(project_id=project_id, user_id=owner_id)
    rows = Quota.objects.filter(mine, partition_id=partition_id, kind__in=list(kinds))
    return list(
        rows.order_by(
            F("organization_id").asc(nulls_last=True), F("user_id").asc(nulls_first=True), "pk"
        ).select_for_update(of=("self",))
    )


def level_take(*, rows: Iterable[Quota], asked: Asked) -> list[Taken]:
    """Take what is asked of every locked row that counts it; all of it or nothing.

    Raises:
        QuotaExceeded: the first row whose limit would be passed.
    """
    taken: list[Taken] = []
    for row in rows:
        amount = asked.get((row.card_model, _COUNTS.get(row.unit, row.unit)), 0)
        if amount <= 0:
            continue
        if row.unit == QuotaUnit.CARD_SECONDS:
            _month_has_room(row)
        elif row.held + amount > row.limit_value:
            raise _passed(row, row.held, amount)
        elif row.unit != QuotaUnit.CARDS_EACH:
            taken.append({"quota": row.pk, "amount": amount})
    _shift(taken, 1)
    return taken


_COUNTS: Mapping[str, str] = {
    QuotaUnit.CARDS_EACH: QuotaUnit.CARDS_MICRO,
    QuotaUnit.CARD_SECONDS: QuotaUnit.CARDS_MICRO,
}
"""Rows that are judged by the cards that are asked for, though nothing is held of them."""


def _month_has_room(row: Quota) -> None:
    """Work starts until the month is used up; the row's lock lets one start be counted at a time.

    Raises:
        QuotaExceeded: nothing of the month is left.
    """
    taken = month_taken(row)
    if taken >= row.limit_value:
        raise _passed(row, taken, 1)


def _passed(row: Quota, held: int, asked: int) -> QuotaExceeded:
    return QuotaExceeded(
        tenant=level_tenant(row), unit=row.unit, limit=row.limit_value, held=held, asked=asked
    )


def level_named(*, rows: Iterable[Quota], asked: Asked) -> None:
    """An allowance of some kinds of card in a partition is for no other kind there.

    Raises:
        QuotaExceeded: cards of a kind are asked for that no row of the allowance names.
    """
    own = [
        row for row in rows if row.kind == QuotaKind.ALLOWANCE and row.unit == QuotaUnit.CARDS_MICRO
    ]
    for (label, unit), amount in asked.items():
        if not own or unit != QuotaUnit.CARDS_MICRO or not label or amount <= 0:
            continue
        if not any(row.card_model in ("", label) for row in own):
            raise QuotaExceeded(
                tenant=level_tenant(own[0]), unit=unit, limit=0, held=0, asked=amount
            )


def level_give_back(*, taken: Sequence[Taken]) -> None:
    """Give back exactly what was taken; a ceiling above the limit comes down with it."""
    _shift(taken, -1)


def level_lock(*, taken: Sequence[Taken]) -> list[Quota]:
    """Lock the rows of an earlier take, in the one order, before anything else is locked."""
    return list(
        Quota.objects.filter(pk__in=[one["quota"] for one in taken])
        .order_by(
            F("organization_id").asc(nulls_last=True), F("user_id").asc(nulls_first=True), "pk"
        )
        .select_for_update(of=("self",))
    )


def level_counts(row: Quota, *, cards: bool) -> bool:
    """Whether the row counts such work: an allowance of cards is for work with cards alone, one of
    CPU, RAM or disk for work without any. Other rows count all work.
    """
    return row.kind != QuotaKind.ALLOWANCE or cards != (row.unit in HOST_UNITS)


def level_tenant(row: Quota) -> str:
    """The key by which the scheduler and messages name the tenant of a row."""
    if row.organization_id is not None:
        return f"org:{row.organization_id}"
    if row.user_id is None:
        return f"project:{row.project_id}"
    return f"member:{row.project_id}.{row.user_id}"


def outer_tenants(row: Quota) -> tuple[str, ...]:
    """The keys of the tenants that the tenant of a row is part of, the innermost first."""
    if row.project is None:
        return ()
    outer = f"org:{row.project.organization_id}"
    return (outer,) if row.user_id is None else (f"project:{row.project_id}", outer)


def start_kinds(entitlement: str) -> list[str]:
    """Which kinds of row gate the start of a workload that rests on this entitlement."""
    if entitlement == "allowance":
        return [QuotaKind.LIMIT, QuotaKind.ALLOWANCE]
    return [QuotaKind.LIMIT]


def _shift(taken: Sequence[Taken], sign: int) -> None:
    if not taken:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            _MOVE, [[one["quota"] for one in taken], [sign * one["amount"] for one in taken]]
        )
