"""Look and explain: why one workload waits, on the live pool; nothing is written."""

from typing import Any

from pool.clock import now
from pool.cycle.commit import words
from pool.cycle.snapshot import take
from pool.models.workloads import Workload
from pool.scheduling.plan import plan


def waiting_explain(*, workload: Workload) -> dict[str, Any] | None:
    """Why it waits now, in the plan's words; None when it would start in the next round.

    The answer for work that is not queued is None as well: it does not wait for room.
    """
    why = plan(take(now())).waits.get(workload.pk)
    return words(why) if why is not None else None
