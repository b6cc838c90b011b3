"""Who holds memory for nothing, found once for all who may read the same."""

import time
from threading import Lock

from pool.clock import now
from pool.models.workloads import Workload
from pool.rules.idling.hogs import Use
from pool.selectors.memberships import Standing
from pool.selectors.notebooks.hogs import hog_list, hogs_found

KEPT_S = 10.0
"""Every open page asks again each half minute; what was found is good for so long."""

MOST_KEPT = 200

_LOCK = Lock()
"""Held for a moment only: readings are asked under the lock of their own circle."""

_asking: dict[str, Lock] = {}
_found: dict[str, tuple[float, list[Use]]] = {}


def hogs_shared(*, standing: Standing) -> list[tuple[Workload, Use]]:
    """Those that the person may read; readings are asked at most once in ten seconds for each
    circle of readers of this process, rights at every look.
    """
    key = _circle(standing)
    with _LOCK:
        asking = _asking.setdefault(key, Lock())
    with asking:
        at, found = _found.get(key, (-KEPT_S, []))
        if time.monotonic() - at >= KEPT_S:
            found = hogs_found(standing=standing, now=now())
            _keep(key, found)
    return hog_list(standing=standing, now=now(), found=found)


def forget() -> None:
    """Drop all that is kept."""
    with _LOCK:
        _found.clear()
        _asking.clear()


def _keep(key: str, found: list[Use]) -> None:
    with _LOCK:
        if len(_found) >= MOST_KEPT:
            _found.clear()
            _asking.clear()
        _found[key] = (time.monotonic(), found)


def _circle(standing: Standing) -> str:
    if standing.platform:
        return "all"
    held = (standing.organizations, standing.projects)
    return repr([sorted((str(role), sorted(ids)) for role, ids in one.items()) for one in held])
