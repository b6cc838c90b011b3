"""A person did something in a notebook, or only looked at its files."""

from django.db.models import F
from django.db.models.functions import Greatest

from pool.clock import now
from pool.lifecycle.workloads import WorkloadState
from pool.models.notebooks.notebooks import Notebook


def notebook_touched(*, uid: str) -> bool:
    """Remember when; false when it does not run. Late words never move it back."""
    rows = Notebook.objects.filter(workload__uid=uid, workload__state=WorkloadState.RUNNING)
    return bool(rows.update(last_input_at=Greatest(F("last_input_at"), now())))


def notebook_viewed(*, uid: str) -> bool:
    """Remember when somebody only looked: that is no use of it (requirement N2)."""
    rows = Notebook.objects.filter(workload__uid=uid)
    return bool(rows.update(viewed_at=Greatest(F("viewed_at"), now())))
