"""The part of a guarantee that is not lent: so many idle cards stay free for their owner."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pool.models.quotas import Quota
from pool.scheduling.model import CardState, Reservation, Running, SliceState
from pool.services.levels import level_tenant

FOR_EVER_S = 10 * 366 * 86_400.0
CARD = 1_000_000


def unlent(
    rows: Iterable[Quota],
    cards: Sequence[CardState],
    slices: Iterable[SliceState],
    running: Iterable[Running],
    now_s: float,
) -> list[Reservation]:
    """Idle cards kept for tenants who lend less than they are guaranteed; alike for the same look.

    What the owner's own work holds counts as kept already. Where fewer cards are idle, all of
    them are kept: nobody leaves for it.
    """
    busy = {one.card for one in slices if one.held_by is not None}
    taken: set[int] = set()
    kept = []
    for row in rows:
        tenant = level_tenant(row)
        own = _held(tenant, row, running)
        spare = max(0, row.limit_value - (row.lend_limit or 0) - own) // CARD
        idle = [
            one.id
            for one in sorted(cards, key=lambda card: card.id)
            if one.partition == row.partition_id
            and row.card_model in ("", one.label)
            and one.id not in busy | taken
        ][:spare]
        taken.update(idle)
        if idle:
            kept.append(
                Reservation(
                    id=-row.pk,
                    cards=frozenset(idle),
                    tenants=frozenset({tenant}),
                    starts_s=now_s,
                    ends_s=now_s + FOR_EVER_S,
                )
            )
    return kept


def _held(tenant: str, row: Quota, running: Iterable[Running]) -> int:
    """What the tenant's own work holds in the partition, in millionths of a card."""
    found = Counter[str]()
    for one in running:
        if one.partition == row.partition_id and tenant in one.tenants:
            found[tenant] += one.card_micro
    return found[tenant]
