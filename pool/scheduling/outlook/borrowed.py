"""Who borrows: what runs beyond its tenants' guarantee, judged anew in every round."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pool.scheduling.model import Quota, QuotaKind, Running, Unit

Held = Mapping[int, Mapping[str, int]]
"""By workload what it holds of each kind of card, in millionths of a card."""


def judge(
    running: Sequence[Running], quotas: Sequence[Quota], held: Held
) -> tuple[tuple[Running, ...], tuple[Quota, ...]]:
    """The same, each running one marked borrowed or not, each guarantee with what stands on it.

    A guarantee is the limit of an entitlement row. Who started first stands on it first; what does
    not fit beside the earlier is borrowed and takes nothing of it. Where nobody of a partition has
    a guarantee, nothing is borrowed.
    """
    rows = [q for q in quotas if q.kind is QuotaKind.ENTITLEMENT and q.unit is Unit.CARD_MICRO]
    if not rows:
        return tuple(replace(one, borrowed=False) for one in running), tuple(quotas)
    used: Counter[int] = Counter()
    borrowed: set[int] = set()
    for one in sorted(running, key=lambda r: (r.started_s, r.id)):
        taken = held.get(one.id, {})
        here = [q for q in rows if q.partition in (None, one.partition)]
        if not here or not sum(taken.values()):
            continue
        mine = [(q, _of(taken, q.label)) for q in here if q.tenant in one.tenants]
        if not mine or any(used[q.id] + micro > q.limit for q, micro in mine):
            borrowed.add(one.id)
            continue
        for q, micro in mine:
            used[q.id] += micro
    marked = tuple(replace(one, borrowed=one.id in borrowed) for one in running)
    counted = {q.id: replace(q, held=used[q.id]) for q in rows}
    return marked, tuple(counted.get(q.id, q) for q in quotas)


def _of(taken: Mapping[str, int], label: str | None) -> int:
    return sum(micro for kind, micro in taken.items() if label in (None, kind))
