"""How much of a project's ordinary work is interrupted: the cap of requirement S5, by the rows."""

from collections import Counter
from collections.abc import Sequence

from django.db.models import Exists, OuterRef, Q

from pool.lifecycle.workloads import HOLDING, WorkloadState
from pool.lifecycle.yielding import CAPPED, YieldKind, YieldOutcome
from pool.models.workloads import Workload
from pool.models.yielding import YieldOrder
from pool.rules import yielding as rules


def interrupted_order() -> Exists:
    """For workloads: was its newest attempt told to leave, and has it not run again since?"""
    newest = YieldOrder.objects.filter(
        workload=OuterRef("pk"),
        kind__in=sorted(CAPPED),
        attempt__number=OuterRef("attempts_made"),
    )
    return Exists(newest.filter(Q(outcome="") | Q(outcome=YieldOutcome.RELEASED)))


def over_cap(*, grounds: Sequence[tuple[Workload, YieldKind]], milli: int) -> bool:
    """Whether these orders would interrupt too much of one project's ordinary work.

    Hand-backs are not counted: they have a time limit of their own instead.
    """
    more = Counter(
        row.project_id for row, kind in grounds if kind in CAPPED and row.priority in rules.ORDINARY
    )
    return any(_over(project, count, milli) for project, count in more.items())


def _over(project: int, more: int, milli: int) -> bool:
    rows = Workload.objects.filter(project=project, priority__in=sorted(rules.ORDINARY)).annotate(
        is_interrupted=interrupted_order()
    )
    out = rows.filter(is_interrupted=True, state__in=[WorkloadState.QUEUED, *sorted(HOLDING)])
    held = rows.filter(state__in=sorted(HOLDING)).count()
    waiting = out.filter(state=WorkloadState.QUEUED).count()
    return rules.over_cap(
        ordinary=held + waiting, interrupted=out.count(), more=more, share_milli=milli
    )
