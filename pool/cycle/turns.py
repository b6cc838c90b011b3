"""Whose turn it is: arrays that are done, waits that are over or vain, pieces that may start."""

import json
from collections import defaultdict

from django.db import connection
from django.db.models import BooleanField, Exists, OuterRef, Q
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext

from pool.clock import now
from pool.events import SYSTEM
from pool.lifecycle.workloads import ENDED, HOLDING, OPEN, WAITING, WorkloadState
from pool.models.dependencies import Dependency
from pool.models.workloads import Workload
from pool.rules.dependencies import Rule, Verdict
from pool.services.series.arrays import TURN, array_settled
from pool.services.series.dependencies import (
    dependencies_judged,
    dependency_failed,
    pieces_failed,
)

LOOK_AHEAD = 1000
"""So many pieces of one array are planned in one round; a round starts at most 200."""

MOST_PASSES = 100
"""Failures go on down a chain of so many in one sweep; the next sweep takes the rest."""

_HELD = ", ".join(f"'{state}'" for state in sorted(HOLDING))
_ENDED = ", ".join(f"'{state}'" for state in sorted(ENDED))
_OPEN_RULE = "d.met_at IS NULL AND d.broken_at IS NULL"

_PAIRED = f"""NOT EXISTS (
    SELECT 1 FROM pool_dependency d
    WHERE d.workload_id = p.id AND d.each AND {_OPEN_RULE}
      AND NOT EXISTS (
        SELECT 1 FROM pool_workload o
        WHERE o.parent_id = d.on_id AND o.array_index = w.array_index
          AND (o.state = 'succeeded' OR d.rule = 'end' AND o.state IN ({_ENDED}))))"""  # noqa: S608 - only constants of this house
"""For a piece: what waits for it piece by piece has ended."""

_PIECES = f"""
SELECT w.id, w.array_index FROM pool_workload w
WHERE w.parent_id = p.id AND w.state = 'queued' AND w.waits_for <> 'impossible' AND {_PAIRED}"""  # noqa: S608 - only constants of this house

IN_TURN = f"""
SELECT w.id FROM pool_workload w
WHERE w.state = 'queued' AND w.parent_id IS NULL
  AND w.waits_for <> 'impossible'
  AND NOT EXISTS (
    SELECT 1 FROM pool_dependency d WHERE d.workload_id = w.id AND {_OPEN_RULE})
UNION ALL
SELECT c.id FROM pool_workload p CROSS JOIN LATERAL (
    SELECT greatest(0, least({LOOK_AHEAD}, coalesce(p.array_throttle, {LOOK_AHEAD})
        - CASE WHEN p.array_throttle IS NULL THEN 0 ELSE (
            SELECT count(*) FROM pool_workload h
            WHERE h.parent_id = p.id AND h.state IN ({_HELD})) END)) AS room
) r CROSS JOIN LATERAL (
    SELECT t.id FROM (
        (SELECT *, false AS later FROM ({_PIECES}
            AND (w.not_before IS NULL OR w.not_before <= pool_now())) n
         ORDER BY array_index LIMIT r.room)
        UNION ALL
        (SELECT *, true AS later FROM ({_PIECES}
            AND w.not_before IS NOT NULL AND w.not_before > pool_now()) l
         ORDER BY array_index LIMIT r.room)
    ) t ORDER BY t.later, t.array_index LIMIT r.room
) c
WHERE p.state = 'active' AND p.stop_reason = ''
  AND NOT EXISTS (
    SELECT 1 FROM pool_dependency d
    WHERE d.workload_id = p.id AND NOT d.each AND {_OPEN_RULE})
"""  # noqa: S608 - only constants of this house
"""Queued work that may start: possible, not after open others, no more than a throttle lets.

Of an array the pieces that may start by the time come first, in their order, read along an index.
That pieces of a later time have one is said as well: how many may be told by it alone is not known.
"""

_UNTOLD = """SELECT w.id FROM pool_workload w
    WHERE w.parent_id = p.id AND w.state = 'queued' AND w.waits_for"""
"""Pieces that are told something, to be compared with what they should be told."""

_EXPLAIN = f"""
UPDATE pool_workload AS w SET waits = %s::jsonb || jsonb_build_object('reason', v.reason)
FROM (
    SELECT DISTINCT w.id, 'after' AS reason
    FROM pool_dependency d JOIN pool_workload w ON w.id = d.workload_id
    WHERE {_OPEN_RULE} AND w.state = 'queued' AND w.parent_id IS NULL
      AND w.waits_for NOT IN ('after', 'impossible')
    UNION ALL
    SELECT c.id, r.reason FROM pool_workload p CROSS JOIN LATERAL (
        SELECT CASE
            WHEN EXISTS (
                SELECT 1 FROM pool_dependency d WHERE d.workload_id = p.id AND {_OPEN_RULE})
                THEN 'after'
            WHEN p.state = 'on_hold' THEN 'array_held'
            ELSE 'array' END AS reason
    ) r CROSS JOIN LATERAL (
        {_UNTOLD} < r.reason
        UNION ALL {_UNTOLD} > r.reason AND w.waits_for < 'impossible'
        UNION ALL {_UNTOLD} > 'impossible'
    ) c
    WHERE p.state IN ('active', 'on_hold') AND c.id NOT IN ({IN_TURN})
) v
WHERE w.id = v.id AND w.state = 'queued'
"""  # noqa: S608 - only constants of this house
"""What is told already is not read: reasons are compared along an index, array by array.

The index holds all that is asked for, so that it costs less than the others that begin with the
array, whatever share of its pieces is expected to differ.
"""


def in_turn() -> Q:
    """The condition on queued work that a round may start it; part of the caller's query.

    As an array, so that few rows are read by their keys and never the whole queue.
    """
    sql = f'"pool_workload"."id" = ANY(ARRAY({IN_TURN}))'
    return Q(RawSQL(sql, [], output_field=BooleanField()))  # noqa: S611 - only constants of this house


def settle() -> int:
    """Bring about what follows from work that has ended; how much changed.

    Arrays whose last piece has ended end; rules are met or broken; what waits in vain fails, and
    so on along a chain. A constant number of queries for each link of it. Safe to repeat.
    """
    total = 0
    for _ in range(MOST_PASSES):
        changed = _arrays() + _pieces_in_vain() + _rules()
        total += changed
        if not changed:
            break
    _explain()
    return total


def _arrays() -> int:
    pieces = Workload.objects.filter(parent=OuterRef("pk"))
    rows = Workload.objects.filter(
        Exists(pieces),
        ~Exists(pieces.filter(state__in=sorted(OPEN))),
        state__in=[WorkloadState.ACTIVE, WorkloadState.ON_HOLD],
        array_size__isnull=False,
    )
    return sum(array_settled(array=row, actor=SYSTEM) for row in rows.order_by("pk"))


def _rules() -> int:
    """Judge the open rules whose other has ended, and every share."""
    rows = Dependency.objects.filter(
        Q(on__state__in=sorted(ENDED)) | Q(rule=Rule.SHARE),
        Q(each=False) | ~Q(workload__state=WorkloadState.AWAITING_APPROVAL),
        met_at=None,
        broken_at=None,
        workload__state__in=sorted(OPEN),
    )
    found = {row.pk: row for row in rows.select_related("on", "workload")}
    verdicts = dependencies_judged(rows=found.values())
    met = [pk for pk, said in verdicts.items() if said is Verdict.MET]
    broken = [pk for pk, said in verdicts.items() if said is Verdict.BROKEN]
    count = Dependency.objects.filter(pk__in=met, met_at=None).update(met_at=now()) if met else 0
    for pk in broken:
        row = found[pk]
        why = gettext("the work it was to run after did not succeed")
        dependency_failed(workload=row.workload, why=why, actor=SYSTEM)
        count += Dependency.objects.filter(pk=pk, broken_at=None).update(broken_at=now())
    return count


def _pieces_in_vain() -> int:
    """Fail the pieces whose counterpart has ended, and not as it should."""
    rule = Dependency.objects.filter(
        workload=OuterRef(OuterRef("parent")), each=True, met_at=None, rule=Rule.SUCCESS
    )
    counterpart = Workload.objects.filter(
        Q(parent__in=rule.values("on")),
        array_index=OuterRef("array_index"),
        state__in=sorted(ENDED - {WorkloadState.SUCCEEDED}),
    )
    arrays = Dependency.objects.filter(each=True, met_at=None, broken_at=None).values("workload")
    vain = Workload.objects.filter(
        Exists(counterpart), parent__in=arrays, state__in=sorted(WAITING)
    )
    found: dict[int, list[int]] = defaultdict(list)
    for pk, array in vain.values_list("pk", "parent"):
        found[array or 0].append(pk)
    why = gettext("the piece with the same number did not succeed")
    return sum(
        pieces_failed(array=Workload(pk=array), pieces=pieces, why=why, actor=SYSTEM)
        for array, pieces in found.items()
    )


def _explain() -> None:
    """Write why queued work has no turn, where that changed; one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_EXPLAIN, [json.dumps(TURN)])
