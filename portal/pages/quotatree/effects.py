"""Who in the queue would fare otherwise, with names for those who may know them."""

from datetime import UTC, datetime
from typing import Any

from pool.cycle.dryrun import Fate, Outcome
from pool.selectors.workloads import workload_list
from portal.pages.htmx import HtmxRequest

SHOWN = 12


def queue_effects(request: HtmxRequest, found: Outcome | None) -> dict[str, Any] | None:
    """The outcome as a page shows it; None where the planner counts none of the rows.

    Others' work is counted and not named.
    """
    if found is None:
        return None
    works = workload_list(standing=request.standing).in_bulk([one.workload for one in found.turned])
    rows = [
        {
            "work": works[one.workload],
            "gains": one.gains,
            "before": _fate(one.before),
            "after": _fate(one.after),
        }
        for one in found.turned
        if one.workload in works
    ]
    return {
        "rows": rows[:SHOWN],
        "more": max(0, len(found.turned) - min(SHOWN, len(rows))),
        "sooner": sum(one.gains for one in found.turned),
        "later": sum(not one.gains for one in found.turned),
        "same": found.waiting - len(found.turned),
        "starts": found.starts,
        "leaves": found.leaves,
    }


def _fate(fate: Fate) -> dict[str, Any]:
    at = None if fate.at_s is None else datetime.fromtimestamp(fate.at_s, UTC)
    return {"now": fate.now, "position": fate.position, "at": at}
