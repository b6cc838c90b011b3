"""The one writer of what nodes tell of notebooks."""

from datetime import datetime
from typing import Any

import msgspec
from django.db import transaction

from nodeagent.protocol.notebooks import NotebookSeen, Stage
from nodeagent.protocol.report import Report
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import AttemptState
from pool.models.nodes import Node
from pool.models.notebooks.notebooks import Notebook
from pool.models.workloads import Attempt

FRESH: dict[str, Any] = {
    "stage": "",
    "words": "",
    "facts": None,
    "facts_at": None,
    "ready_at": None,
    "last_input_at": None,
    "viewed_at": None,
    "verdict": "",
    "verdict_at": None,
    "evidence": [],
    "quiet_s": 0.0,
    "limit_s": None,
    "judged_boot": "",
    "judged_boottime": None,
    "warned": None,
    "keeps_used": 0,
}
"""A new run is judged by itself: nothing of the run before it counts (field case D24)."""


def notebooks_seen(*, node: Node, report: Report, actor: Actor) -> int:
    """Take in what a report tells of notebooks; how many. Those whose run is over are left out."""
    told = {one.attempt: one.notebook for one in report.work if one.notebook is not None}
    if not told:
        return 0
    rows = Attempt.objects.filter(uid__in=told, node=node, state=AttemptState.OPEN)
    found = list(rows.select_related("workload__project", "workload__owner").order_by("pk"))
    at = now()
    for attempt in found:
        _take(attempt, told[attempt.uid], at, actor)
    return len(found)


@transaction.atomic
def _take(attempt: Attempt, seen: NotebookSeen, at: datetime, actor: Actor) -> None:
    row, _ = Notebook.objects.select_for_update().get_or_create(workload=attempt.workload)
    values: dict[str, Any] = dict(FRESH) if row.attempt_id != attempt.pk else {}
    before = values.get("stage", row.stage)
    values |= {"attempt_id": attempt.pk, "stage": str(seen.stage), "words": seen.words[:200]}
    values |= {"facts": msgspec.to_builtins(seen), "facts_at": at}
    if seen.stage == Stage.READY and before != Stage.READY:
        values |= {"ready_at": at, "quiet_s": 0.0, "warned": None}
    Notebook.objects.filter(pk=row.pk).update(**values)
    if before != seen.stage:
        record(
            EventKind.NOTEBOOK_STAGED,
            attempt.workload,
            actor=actor,
            stage=str(seen.stage),
            attempt=attempt.number,
            node=attempt.node.uid,
        )
