"""Look and explain: why one workload waits and what would start it; nothing is written."""

from dataclasses import dataclass
from typing import Any

from pool.clock import now
from pool.cycle.commit import words
from pool.cycle.snapshot import take
from pool.lifecycle.workloads import WorkloadState
from pool.models.workloads import Workload
from pool.scheduling.model import Plan, Reason, Snapshot
from pool.scheduling.outlook.expected import expect
from pool.scheduling.plan import plan
from pool.scheduling.suggest import Change, suggest
from pool.selectors.telemetry.bandwidth import bandwidth_of
from pool.services.queueing.change import changes_barred

UNITS = {
    Change.SHORTER: "seconds",
    Change.LESS_CPU: "cpu_milli",
    Change.LESS_HOST_MEMORY: "mib",
    Change.LESS_COMPUTE: "compute_milli",
    Change.LESS_MEMORY: "gb",
    Change.FEWER_ENCODERS: "encoder_units",
    Change.FEWER_DECODERS: "decoder_units",
    Change.FEWER_CARDS: "parts",
}
"""What the number of a change counts; CPU and RAM are for all parts together."""

EACH = 6
"""So many amounts of one kind of change are planned: somebody waits for the answer."""

NO_CHANGE_HELPS = frozenset({Reason.HELD_BACK, Reason.ROUND_FULL})
"""What waits for these does not wait for room."""

NO_TURN = frozenset({"after", "array", "array_held", "impossible"})
"""Why queued work is not looked at, in the words of `turns.py`."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Why it waits in the plan's words, and up to three changes that would start it now.

    `waits` is None when it would start in the next round, and for work that is not queued.
    `bandwidth` are the finished runs that make it count as heavy on memory bandwidth, where nobody
    has declared it; None where it does not count so.
    """

    waits: dict[str, Any] | None = None
    changes: tuple[dict[str, Any], ...] = ()
    bandwidth: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """The pool at one instant and what was planned on it: enough to explain all that waits."""

    snapshot: Snapshot
    made: Plan


def look() -> Look:
    """Take a look and plan on it; nothing is written. Many explanations may share one."""
    snapshot = take(now())
    return Look(snapshot, expect(snapshot, plan(snapshot)))


def waiting_explain(*, workload: Workload, seen: Look | None = None) -> Waits:
    """Why it waits now, with changes that were planned on the same look at the pool and hold."""
    seen = seen or look()
    why = seen.made.waits.get(workload.pk)
    if why is None:
        return Waits(_without_a_turn(seen, workload))
    if why.reason in NO_CHANGE_HELPS:
        return Waits(words(why))
    changes = _changes(seen.snapshot, seen.made, workload)
    return Waits(words(why), changes, _bandwidth(workload))


def _bandwidth(workload: Workload) -> dict[str, Any] | None:
    """What makes it heavy, with whose runs showed it; the percentage is their median."""
    row = bandwidth_of(workload=workload)
    if row is None or not row.heavy:
        return None
    return {
        "runs": row.runs,
        "heavy_runs": row.heavy_runs,
        "percent": row.percent,
        "own": row.owner_id is not None,
    }


def _without_a_turn(seen: Look, workload: Workload) -> dict[str, Any] | None:
    """Work that no round looks at: it waits for other work, or for its turn in its array."""
    if any(one.id == workload.pk for one in seen.snapshot.waiting):
        return None
    rows = Workload.objects.filter(pk=workload.pk, state=WorkloadState.QUEUED)
    found: dict[str, Any] | None = rows.values_list("waits", flat=True).first()
    return found if found and found.get("reason") in NO_TURN else None


def _changes(snapshot: Snapshot, made: Plan, workload: Workload) -> tuple[dict[str, Any], ...]:
    """Each change with its number and unit, None where it has none."""
    work = next(one for one in snapshot.waiting if one.id == workload.pk)
    barred = changes_barred(workload)
    found = suggest(snapshot, work, made, barred=barred, each=EACH)
    return tuple(
        {
            "change": one.change.value,
            "amount": one.amount if one.change in UNITS else None,
            "unit": UNITS.get(one.change),
        }
        for one in found
    )
