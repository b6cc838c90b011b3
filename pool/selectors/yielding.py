"""Orders to give way, read: as the notice a node gets, and as people see them."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import OuterRef, QuerySet, Subquery, Sum

from nodeagent.protocol.desired import Notice
from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.lifecycle.workloads import WorkloadState
from pool.models.placements import Hold, Promise
from pool.models.workloads import Attempt, Workload
from pool.models.yielding import YieldOrder
from pool.rules.yielding import lost_card_s

TOLD = frozenset({WorkloadState.PREEMPTING, WorkloadState.UNREACHABLE, WorkloadState.STOPPING})
"""States in which work may be under an order that is not settled."""


def under_order(workload: Workload) -> bool:
    """Whether it is leaving because it was told to, and not because somebody wants it no more."""
    return workload.state in TOLD and workload.stop_reason == ExitReason.PREEMPTED


def notices(*, attempts: Iterable[Attempt]) -> dict[int, Notice]:
    """The notice for each open attempt that was told to leave; one query, none when nobody was."""
    told = [row.pk for row in attempts if under_order(row.workload)]
    if not told:
        return {}
    at = now()
    rows = YieldOrder.objects.filter(attempt__in=told, settled_at=None)
    return {row.attempt_id: _notice(row, at) for row in rows}


def _notice(row: YieldOrder, at: datetime) -> Notice:
    return Notice(
        order=row.uid,
        kind=row.kind,
        seconds=max(0.0, (row.deadline - at).total_seconds()),
        deadline=row.deadline.timestamp(),
        reason=row.reason,
    )


def resumes(*, attempts: Iterable[Attempt]) -> dict[int, tuple[int, str]]:
    """The newest checkpoint of each workload's earlier attempts; none asked for first ones."""
    again = {row.workload_id for row in attempts if row.number > 1}
    if not again:
        return {}
    rows = Attempt.objects.filter(workload__in=again, checkpoint_step__isnull=False)
    found = rows.order_by("workload", "number").values_list(
        "workload", "checkpoint_step", "checkpoint_path"
    )
    return {work: (step, path) for work, step, path in found if step is not None}


def order_list(*, workload: Workload, most: int = 20) -> Sequence[YieldOrder]:
    """A workload's orders, newest first, each with `restarted_at`: when it ran again after it."""
    later = Attempt.objects.filter(
        workload=OuterRef("workload"),
        number__gt=OuterRef("attempt__number"),
        started_at__isnull=False,
    ).order_by("number")
    rows: QuerySet[YieldOrder] = workload.orders.select_related("attempt").annotate(
        restarted_at=Subquery(later.values("started_at")[:1])
    )
    return list(rows.order_by("-pk")[:most])


def loss_now(*, workload: Workload) -> float | None:
    """Card-seconds that leaving now would throw away; None while it does not run on a card."""
    attempt = workload.attempts.filter(state="open", started_at__isnull=False).first()
    if attempt is None:
        return None
    held = Hold.objects.filter(placement__attempt=attempt, held__upper_inf=True)
    micro = held.aggregate(micro=Sum("equivalents_micro"))["micro"] or 0
    saved = attempt.checkpoint_at or attempt.started_at or now()
    return lost_card_s(card_micro=micro, saved_at=saved, now=now()) if micro else None


def room_kept_until(*, workload: Workload) -> datetime | None:
    """Until when room is kept for work that waits for others to leave; None when none is."""
    rows = Promise.objects.filter(workload=workload, until__gt=now())
    found: datetime | None = rows.order_by("-until").values_list("until", flat=True).first()
    return found
