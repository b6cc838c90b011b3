"""Why work waits, as pages and REST tell it: worked out once for each state of the pool.

A look at a large pool costs up to a second, and the changes cost more; many people ask for the
same. What was found is kept in this process until something happens, or for a few seconds.
"""

import threading
import time
from dataclasses import dataclass, field

from pool.cycle.waiting import Look, Waits, look, waiting_explain
from pool.models.workloads import Workload
from pool.selectors.events import event_newest
from portal.access.rates import Rate

KEPT_S = 15.0
"""Time alone moves planned starts: nothing is kept longer."""

MOST = 500
"""So many explanations are kept at most."""

TRIAL_S = 3.0
"""A trial may rest on a look at the pool that is as old as this."""

ASKED = Rate(limit=60, seconds=60)
"""So often one person may ask for what was not worked out yet."""

CHANGED = Rate(limit=20, seconds=60)
"""So often one person may have a change planned: no round is made meanwhile."""


RATES = (ASKED, CHANGED)


class AskedTooOften(Exception):
    """Somebody asks for more explanations than anybody reads; `wait_s` until the next one."""

    def __init__(self, wait_s: float) -> None:
        self.wait_s = wait_s
        super().__init__(f"again in {wait_s:.0f} s")


@dataclass(slots=True)
class _Kept:
    """What one state of the pool has told."""

    number: int = -1
    at: float = 0.0
    look: Look | None = None
    told: dict[int, Waits] = field(default_factory=dict)


_LOCK = threading.Lock()
_kept = _Kept()


def explained(*, workload: Workload, who: str) -> Waits:
    """Why the work waits, and what would start it now.

    Raises:
        AskedTooOften: `who` has asked for too much that had to be worked out.
    """
    number = event_newest()
    with _LOCK:
        kept = _fresh(number)
        if workload.pk in kept.told:
            return kept.told[workload.pk]
    wait_s = ASKED.knock(who)
    if wait_s:
        raise AskedTooOften(wait_s)
    with _LOCK:
        kept = _fresh(number)
        if workload.pk not in kept.told:
            kept.look = kept.look or look()
            if len(kept.told) >= MOST:
                kept.told.clear()
            kept.told[workload.pk] = waiting_explain(workload=workload, seen=kept.look)
        return kept.told[workload.pk]


def may_change(*, who: str) -> None:
    """Pass when this person may have one more change planned now.

    Raises:
        AskedTooOften: too many were asked for.
    """
    wait_s = CHANGED.knock(who)
    if wait_s:
        raise AskedTooOften(wait_s)


def looked(*, stale_s: float = 0.0) -> Look:
    """The pool as it was planned a moment ago, for pictures of the whole queue.

    What happened within the last `stale_s` may be missing: a picture that many look at is not
    worth a plan for every event.
    """
    number = event_newest()
    with _LOCK:
        if _kept.look is not None and time.monotonic() - _kept.at < stale_s:
            return _kept.look
        kept = _fresh(number)
        kept.look = kept.look or look()
        return kept.look


def looked_by(*, who: str) -> Look:
    """The pool for one person's trial: a second of planning, so within the limit of changes.

    Raises:
        AskedTooOften: too many were asked for.
    """
    may_change(who=who)
    return looked(stale_s=TRIAL_S)


def forget() -> None:
    """Drop all that is kept."""
    global _kept
    with _LOCK:
        _kept = _Kept()


def _fresh(number: int) -> _Kept:
    """What is kept of this state of the pool; empty where something has happened since."""
    global _kept
    if _kept.number != number or time.monotonic() - _kept.at > KEPT_S:
        _kept = _Kept(number=number, at=time.monotonic())
    return _kept
