"""Orders that people give: break-glass by an admin, a rehearsal by the owner; and declared time."""

from django.db import transaction
from django.utils.translation import gettext as _

from pool.errors import IllegalMove, Invalid, NotYours, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.workloads import ENDED, WORKLOAD, WorkloadState
from pool.lifecycle.yielding import YieldKind
from pool.models.workloads import Workload
from pool.models.yielding import YieldOrder
from pool.rules.workloads import is_text, seconds_problem
from pool.services.moves import locked
from pool.services.refusals import refuse
from pool.services.yielding.budgets import critical_more
from pool.services.yielding.orders import order_leave

MOST_REASON = 200


def break_glass(
    *, workload: Workload, reason: str, actor: Actor, winner: Workload | None = None
) -> YieldOrder:
    """A platform admin orders running work to leave, whatever protects it; the reason is kept.

    With a `winner` that waits, the room is kept for that one.

    Raises:
        Invalid: no reason, or the winner does not wait.
        IllegalMove: the work is neither starting nor running.
    """
    if not is_text(reason) or not 0 < len(reason.strip()) <= MOST_REASON:
        raise Invalid(reason=_("A reason of 1 to %(most)d characters is needed.") % _most())
    if winner is not None and winner.state != WorkloadState.QUEUED:
        raise Invalid(winner=_("This work does not wait."))
    return order_leave(
        workload=workload,
        kind=YieldKind.BREAK_GLASS,
        reason=reason.strip(),
        actor=actor,
        winner=winner,
    )


def preemption_prove(*, workload: Workload, actor: Actor) -> YieldOrder:
    """Rehearse: order one's own running work to leave; its cards are kept for its return.

    What came of it stands on the order: when it was told, answered, saved, left, and ran again.

    Raises:
        IllegalMove: it is neither starting nor running.
    """
    return order_leave(workload=workload, kind=YieldKind.PROOF, actor=actor)


@transaction.atomic
def workload_declare(*, workload: Workload, expected_seconds: int, actor: Actor) -> Workload:
    """Change how long work says it will take. An order to leave keeps its deadline all the same.

    Raises:
        NotYours: it does not exist any more.
        IllegalMove: it has ended.
        Invalid: less than a second, more than its template allows, or more critical card-hours
            than the budget of the month has left.
        Stale: it was declared anew at the same moment.
    """
    seen = Workload.objects.select_related("project").filter(pk=workload.pk).first()
    if seen is not None and seen.state not in ENDED:
        more = expected_seconds - seen.expected_seconds
        critical_more(workload=seen, seconds=more, pieces=seen.array_size or 1)
    rows = Workload.objects.filter(pk=workload.pk).select_related("project", "template_version")
    row = next(iter(locked(rows)), None)
    if row is None:
        raise NotYours
    if row.state in ENDED:
        raise IllegalMove(noun=WORKLOAD.name, state=row.state, then=row.state)
    wrong = seconds_problem(expected_seconds, row.template_version.max_seconds)
    refuse({"expected_seconds": wrong} if wrong else {})
    if seen is not None and row.expected_seconds != seen.expected_seconds:
        raise Stale(workload=row.uid, why="it was declared anew meanwhile")
    if row.expected_seconds != expected_seconds:
        before = row.expected_seconds
        row.expected_seconds = expected_seconds
        row.save(update_fields=["expected_seconds"])
        row.attempts.filter(state="open").update(overran_at=None)
        record(
            EventKind.WORKLOAD_DECLARED,
            row,
            actor=actor,
            before_s=before,
            after_s=expected_seconds,
        )
    return row


def _most() -> dict[str, int]:
    return {"most": MOST_REASON}
