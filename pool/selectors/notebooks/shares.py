"""Which notebooks others may look at now."""

from pool.clock import now
from pool.models.notebooks.shares import NotebookShare
from pool.models.workloads import Workload


def share_open(*, workload: Workload) -> NotebookShare | None:
    """The share that holds now."""
    rows = NotebookShare.objects.filter(workload=workload, ended_at=None, until__gt=now())
    return rows.select_related("by").first()
