"""Write: what the plan decided, each start its own transaction; what is refused is merely stale."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import structlog
from django.db import connection, transaction

from pool.cycle.demand import CONTENT
from pool.cycle.evict import evict
from pool.errors import QuotaExceeded, Stale
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import Workload
from pool.scheduling.model import Explanation, Level, Plan, Reason, Shortage
from pool.services.placements import placement_open

log = structlog.get_logger(__name__)

SOON_S = 60.0
"""A planned start that moves by less is not written again."""

TIMES = ("starts_s", "starts_p50_s", "starts_p90_s")
UNHURRIED = frozenset({*TIMES, "rank", "position"})
"""Words that change with every second: they alone are no reason to write again."""

_WAITS = """
UPDATE pool_workload AS w SET waits = v.waits::jsonb
FROM unnest(%s::bigint[], %s::text[]) AS v(id, waits)
WHERE w.id = v.id AND w.state = 'queued'
"""


@dataclass(frozen=True, slots=True)
class Done:
    """What one round did: starts, cards on which room is being made, and stale decisions.

    `evicted` is how much running work was told to leave; `over` names the work that a limit
    refused which the planner does not count.
    """

    opened: int = 0
    carving: int = 0
    stale: int = 0
    over: frozenset[int] = frozenset()
    evicted: int = 0


def commit(made: Plan, *, share_milli: int = 200) -> Done:
    """Open what was placed, in the plan's order, order out who gives way, and write why the rest
    waits. `share_milli` is the part of a project's work that may be interrupted."""
    opened = carving = stale = 0
    waits = dict(made.waits)
    over: set[int] = set()
    for placed in made.placed:
        try:
            placement = placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)
        except (Stale, QuotaExceeded) as refused:
            stale += 1
            if isinstance(refused, QuotaExceeded):
                waits[placed.workload] = _over(placed.workload, refused)
                over.add(placed.workload)
            log.info("round.stale", workload=placed.workload, why=refused.detail)
            continue
        opened += placement is not None
        carving += placement is None
    evicted = evict(made, share_milli=share_milli)
    waits |= {winner: _over(winner, refused) for winner, refused in evicted.over.items()}
    over |= evicted.over.keys()
    explain(waits)
    return Done(opened, carving, stale + evicted.stale, frozenset(over), evicted.ordered)


def _over(workload: int, refused: QuotaExceeded) -> Explanation:
    """Why it waits when a limit refused it that the planner does not count.

    It names the level of the limit only: people know no keys of rows.
    """
    told = refused.detail
    short = Shortage(
        unit=str(told["unit"]),
        needed=int(told["asked"]),
        free=max(0, int(told["limit"]) - int(told["held"])),
        where=str(told["tenant"]).partition(":")[0],
    )
    return Explanation(workload=workload, reason=Reason.QUOTA, level=Level.RULE, shortage=short)


def explain(waits: Mapping[int, Explanation]) -> int:
    """Store why each workload waits, where that changed; one statement for all. How many changed.

    A new reason is an event; a new place in the queue alone is not.
    """
    if not waits:
        return 0
    rows = Workload.objects.filter(pk__in=list(waits), state=WorkloadState.QUEUED)
    told = {pk: words(why) for pk, why in waits.items()}
    stored = rows.values_list("pk", "waits")
    ids = [pk for pk, before in stored if _differs(before, told[pk])]
    if not ids:
        return 0
    changed = rows.filter(pk__in=ids).select_related("project").defer(*CONTENT).order_by("pk")
    with transaction.atomic():
        seen = list(changed)
        with connection.cursor() as cursor:
            cursor.execute(_WAITS, [ids, [json.dumps(told[pk]) for pk in ids]])
        for row in seen:
            if (row.waits or {}).get("reason") != told[row.pk]["reason"]:
                record(
                    EventKind.WORKLOAD_EXPLAINED,
                    row,
                    actor=SYSTEM,
                    reason=told[row.pk]["reason"],
                    level=told[row.pk]["level"],
                )
    return len(ids)


def words(why: Explanation) -> dict[str, Any]:
    """An explanation as plain JSON: counts by reason, the shortage, the place in the queue."""
    return {
        "reason": str(why.reason),
        "level": str(why.level),
        "candidates": why.candidates,
        "counts": {str(reason): count for reason, count in why.counts},
        "shortage": asdict(why.shortage) if why.shortage else None,
        "position": why.position,
        "starts_s": why.starts_s,
        "starts_p50_s": why.starts_p50_s,
        "starts_p90_s": why.starts_p90_s,
        "rank": dict(why.rank),
        "detail": why.detail,
    }


def _differs(old: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    """Whether anything changed that a person would see."""
    if not old or old.keys() != new.keys():
        return True
    for name in TIMES:
        before, after = old[name], new[name]
        if (before is None) != (after is None) or abs((before or 0) - (after or 0)) > SOON_S:
            return True
    if _moved(int(old["position"]), int(new["position"])):
        return True
    return any(old[key] != new[key] for key in new if key not in UNHURRIED)


def _moved(before: int, after: int) -> bool:
    """Whether a place is told anew: the first ten at each step, those behind at a tenth of theirs.

    Else each start at the front would write all of a long queue again.
    """
    return abs(before - after) * 10 >= max(before, after) and before != after
