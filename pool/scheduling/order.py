"""Who is next.

Class, entitlement, fair share, priority, age; every score as the sum of its parts.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pool.carving.sizes import MICRO
from pool.scheduling.board import Board
from pool.scheduling.calendar import forecast_s
from pool.scheduling.fit import grants_for
from pool.scheduling.grant import Grant, modes_for
from pool.scheduling.model import (
    PriorityClass,
    Quota,
    QuotaKind,
    Rules,
    TenantShare,
    Unit,
    Waiting,
)
from pool.scheduling.quota import is_borrowed

CLASS_RANK = {
    PriorityClass.CRITICAL: 4,
    PriorityClass.HIGH: 3,
    PriorityClass.NORMAL: 2,
    PriorityClass.LOW: 1,
    PriorityClass.SCAVENGER: 0,
}
CRITICAL, ENTITLED, BORROWED, SCAVENGER = range(4)
"""The four bands of the queue; a later band never goes before an earlier one."""


Key = tuple[float, float, int]
"""Order inside one project: minus the score, then the time of submission, then the id."""

Entry = tuple[Key, Waiting, tuple[float, float, float, float]]
"""Queued work with its place in its project's own queue and the parts of its score."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Why a workload stands where it does.

    `band` first; then the fair `share` its tenants have used (less is better), outermost tenant
    first; then inside the project `score` = class + priority + age + length (more is better).
    `length_points` are below zero: long work counts as if it had come later.
    """

    band: int
    share: tuple[float, ...]
    class_points: float
    priority_points: float
    age_points: float
    length_points: float

    @property
    def score(self) -> float:
        return self.class_points + self.priority_points + self.age_points + self.length_points

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """The whole of it by name, for people; `share` is the innermost team's."""
        return (
            ("band", float(self.band)),
            ("share", self.share[-1] if self.share else 0.0),
            ("class", self.class_points),
            ("priority", self.priority_points),
            ("age", round(self.age_points, 4)),
            ("length", round(self.length_points, 4)),
        )


def score_parts(work: Waiting, now_s: float, rules: Rules) -> tuple[float, float, float, float]:
    """Class, priority, age and length as points; a step of class weighs a thousand of priority.

    Age and length are counted in the same seconds, so that two that wait never change places.
    Work of a class for which others give way is in no need of it: there the first come goes first.
    """
    rank = CLASS_RANK[work.priority_class]
    age = max(0.0, now_s - work.submitted_s) / rules.age_full_s
    length = min(forecast_s(work, rules), rules.length_most_s) / rules.age_full_s
    if rank > CLASS_RANK[PriorityClass.NORMAL]:
        length = 0.0
    return (1000.0 * rank, float(work.priority), age, -length)


def band_of(board: Board, work: Waiting) -> int:
    """The band: critical and granted, entitled, borrowed, scavenger."""
    if work.priority_class is PriorityClass.CRITICAL:
        return CRITICAL
    if work.priority_class is PriorityClass.SCAVENGER:
        return SCAVENGER
    return BORROWED if _would_borrow(board, work) else ENTITLED


def _would_borrow(board: Board, work: Waiting) -> bool:
    """Whether the start would be borrowed on every kind of card of its first partition."""
    if not work.partitions or not work.need.parts:
        return False
    micro, labels = likely_micro(board, work)
    first = work.partitions[0]
    return bool(labels) and all(is_borrowed(board, work, first, label, micro) for label in labels)


def likely_micro(board: Board, work: Waiting) -> tuple[int, frozenset[str]]:
    """The least card equivalents the work can take in its first partition, and on which labels."""
    key = ("likely", work.need, work.purpose, work.kind, work.partitions[0])
    known: tuple[int, frozenset[str]] | None = board.words.memo.get(key)
    if known is None:
        known = board.words.memo[key] = _likely(board, work, work.partitions[0])
    return known


def _likely(board: Board, work: Waiting, partition: int) -> tuple[int, frozenset[str]]:
    found: dict[str, int] = {}
    for mode in modes_for(work):
        grants = grants_for(board, work, partition, mode)
        for kind, granted in zip(board.kinds, grants.by_kind, strict=True):
            if kind.partition == partition and isinstance(granted, Grant):
                micro = granted.card_micro * work.need.parts
                found[kind.label] = min(micro, found.get(kind.label, micro))
        if found:
            break
    return (min(found.values()), frozenset(found)) if found else (0, frozenset())


def ranked(board: Board) -> tuple[tuple[Waiting, Rank], ...]:
    """The whole queue in order, with the reasons. Input order never matters.

    Inside a band the tenant that has used the least of its share goes next, level by level; each
    workload taken counts at once as if it had run, so that one tenant's queue does not go first
    as a block.
    """
    bands: dict[int, list[Waiting]] = defaultdict(list)
    for work in board.snapshot.waiting:
        bands[band_of(board, work)].append(work)
    shares = {s.tenant: s for s in board.snapshot.shares}
    found: list[tuple[Waiting, Rank]] = []
    for band in sorted(bands):
        found += _fair(board, band, bands[band], shares)
    return tuple(found)


def _fair(
    board: Board, band: int, works: Sequence[Waiting], shares: Mapping[str, TenantShare]
) -> list[tuple[Waiting, Rank]]:
    """Interleave the projects' own queues by their use of the share."""
    snapshot = board.snapshot
    queues: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for work in works:
        parts = score_parts(work, snapshot.now_s, snapshot.rules)
        queues[work.tenants[:2]].append(((-sum(parts), work.submitted_s, work.id), work, parts))
    levels = {tenant: _level(share.usage, share) for tenant, share in shares.items()}
    usage = {tenant: share.usage for tenant, share in shares.items()}
    heap = []
    for tenants, queue in queues.items():
        queue.sort(key=lambda entry: entry[0], reverse=True)
        heap.append((_used(tenants, levels), queue[-1][0], tenants))
    heapq.heapify(heap)
    found: list[tuple[Waiting, Rank]] = []
    while heap:
        used, key, tenants = heapq.heappop(heap)
        fresh = _used(tenants, levels)
        if fresh != used:
            heapq.heappush(heap, (fresh, key, tenants))
            continue
        _, work, parts = queues[tenants].pop()
        found.append((work, Rank(band, used, *parts)))
        if len(queues) > 1:
            _use(board, work, usage)
            for tenant in tenants:
                levels[tenant] = _level(usage[tenant], shares.get(tenant))
        if queues[tenants]:
            heapq.heappush(heap, (_used(tenants, levels), queues[tenants][-1][0], tenants))
    return found


def _level(used: float, share: TenantShare | None) -> float:
    """How much of its share a tenant has used; less goes first."""
    return round(used / share.weight if share else used, 6)


def _used(tenants: tuple[str, ...], levels: Mapping[str, float]) -> tuple[float, ...]:
    return tuple([levels.get(tenant, 0.0) for tenant in tenants])


def _use(board: Board, work: Waiting, usage: dict[str, float]) -> None:
    """Count the work as if it had run."""
    micro = likely_micro(board, work)[0] if work.partitions and work.need.parts else 0
    cost = micro / MICRO * forecast_s(work, board.snapshot.rules)
    for tenant in work.tenants:
        usage[tenant] = usage.get(tenant, 0.0) + cost


def weighed(shares: Iterable[TenantShare], weights: Mapping[str, float]) -> tuple[TenantShare, ...]:
    """The same, each with the weight that its tenant's guarantees give it; 1 where there are none.

    A round, a trial of other limits and a replay all rank by this.
    """
    return tuple(replace(one, weight=weights.get(one.tenant, 1.0)) for one in shares)


def share_weights(rows: Iterable[Quota]) -> dict[str, float]:
    """How much each tenant's use is divided by: its guaranteed cards in all partitions, at least 1.

    A guarantee for all cards of a partition and those for single kinds of them are the same cards,
    and so are a tenant's and those of the tenants in it: the larger sum counts.
    """
    own: dict[str, dict[int | None, list[int]]] = {}
    inner: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.kind is QuotaKind.ENTITLEMENT and row.unit is Unit.CARD_MICRO:
            sums = own.setdefault(row.tenant, {}).setdefault(row.partition, [0, 0])
            sums[row.label is None] += row.limit
            for part, outer in pairwise((row.tenant, *row.within)):
                inner[outer].add(part)
    given = {tenant: {p: max(sums) for p, sums in parts.items()} for tenant, parts in own.items()}
    return {
        tenant: max(1.0, sum(_guaranteed(tenant, given, inner).values()) / MICRO)
        for tenant in sorted(given.keys() | inner.keys())
    }


def _guaranteed(
    tenant: str, given: Mapping[str, Mapping[int | None, int]], inner: Mapping[str, set[str]]
) -> dict[int | None, int]:
    """Millionths of a card that the tenant or those in it are guaranteed, by partition."""
    below: Counter[int | None] = Counter()
    for one in inner.get(tenant, ()):
        below.update(_guaranteed(one, given, inner))
    mine = given.get(tenant, {})
    return {part: max(mine.get(part, 0), below[part]) for part in mine.keys() | below.keys()}
