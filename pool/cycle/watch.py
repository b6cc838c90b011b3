"""Each second: decisions that take effect, silent nodes, states past their deadline."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.cycle.lateness import late
from pool.cycle.round import only_one
from pool.cycle.silence import boottime, silence_sweep
from pool.events import SYSTEM
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.slices import SliceState
from pool.lifecycle.workloads import AttemptState, WorkloadState
from pool.locks import WATCH
from pool.models.expressions import closed
from pool.models.nodes import Node
from pool.models.placements import Hold, Promise
from pool.models.ranks import Rank
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload
from pool.services.alerts import alert_raise
from pool.services.attempts import attempt_stop
from pool.services.calendar.turns import reservations_due, windows_due
from pool.services.cards import cards_clean
from pool.services.decisions import request_decisions_due
from pool.services.gangs.ends import gangs_settle
from pool.services.moves import locked, move
from pool.services.placements import node_wish
from pool.services.slices import start_fail
from pool.wake import round_wanted

log = structlog.get_logger(__name__)

S = SliceState
W = WorkloadState
AGAIN_S = 60
"""How much longer what cannot be ended from here is waited for, after people were told."""

CARVING_S = 30
"""How much longer placed work waits each time while its slices are being made."""

DEAF = frozenset({NodeState.SILENT, NodeState.LOST, NodeState.RETIRED})


@dataclass(frozen=True, slots=True)
class Seen:
    """What one sweep found and did."""

    silent: int = 0
    overdue: int = 0
    rooms: int = 0
    decisions: int = 0
    turned: int = 0
    late: int = 0


def watch() -> Seen | None:
    """One sweep; None when another process is at it."""
    with only_one(WATCH) as mine:
        if not mine:
            return None
        at = now()
        return Seen(
            silent=_part(lambda: silence_sweep(seen=boottime())),
            overdue=_part(lambda: _workloads(at))
            + _part(lambda: _slices(at))
            + _part(_drained)
            + _part(gangs_settle),
            rooms=_part(lambda: _rooms(at)) + _part(lambda: cards_clean(actor=SYSTEM)),
            decisions=_part(lambda: request_decisions_due(actor=SYSTEM)),
            late=_part(lambda: late(at)),
            turned=_part(lambda: windows_due(actor=SYSTEM))
            + _part(lambda: reservations_due(actor=SYSTEM)),
        )


def _part(look: Callable[[], int]) -> int:
    """One part of the sweep. What goes wrong in it is told, and keeps no other part from its turn:
    the next second tries it again."""
    try:
        return look()
    except Exception:
        log.exception("watch.failed")
        return 0


def _workloads(at: datetime) -> int:
    rows = Workload.objects.filter(
        deadline__lt=at, state__in=[W.PLACED, W.STARTING, W.PREEMPTING, W.STOPPING, W.UNREACHABLE]
    )
    found = list(rows.order_by("pk").values_list("pk", "state"))
    return sum(_overdue(pk, state) for pk, state in found)


def _overdue(pk: int, state: str) -> bool:
    """End what is past its deadline as far as the books can; what only the node can end is told.

    True when something was done.
    """
    if state == W.PLACED and _being_carved(pk):
        wait = now() + timedelta(seconds=CARVING_S)
        Workload.objects.filter(pk=pk, state=state).update(deadline=wait)
        return False
    if state in (W.PLACED, W.STARTING):
        return start_fail(workload_id=pk, actor=SYSTEM, why=_("it did not start in time"))
    with transaction.atomic():
        (row,) = locked(
            Workload.objects.filter(pk=pk).select_related("project", "template_version")
        )
        if row.state != state or row.deadline is None or row.deadline >= now():
            return False
        if state == W.PREEMPTING:
            reason = {"stop_reason": ExitReason.PREEMPTED}
            move(row, W.STOPPING, actor=SYSTEM, reason="notice is over", changes=reason)
        else:
            _ask_a_person(row)
        if state != W.UNREACHABLE:
            attempt_stop(workload=row, actor=SYSTEM)
    return True


def _being_carved(pk: int) -> bool:
    """Whether its slices are still being made: they have deadlines of their own."""
    return Slice.objects.filter(
        state__in=[S.PLANNED, S.CREATING],
        holds__held__upper_inf=True,
        holds__placement__attempt__workload=pk,
    ).exists()


def _ask_a_person(row: Workload) -> None:
    """Only the node's report can end it: a person is told once, and it is waited for again."""
    longer = 86_400 if row.state == W.UNREACHABLE else AGAIN_S
    Workload.objects.filter(pk=row.pk).update(deadline=now() + timedelta(seconds=longer))
    alert_raise(
        key=f"overdue:{row.uid}",
        subject=f"workload:{row.uid}",
        title=_("%(name)s has been %(state)s for too long")
        % {"name": row.name, "state": row.state},
        actor=SYSTEM,
        family="workload",
    )


def _overdue_slices(at: datetime) -> QuerySet[Slice]:
    held = Hold.objects.filter(slice=OuterRef("pk"), held__upper_inf=True)
    return (
        Slice.objects.filter(deadline__lt=at, lived__upper_inf=True)
        .select_related("card__node")
        .annotate(is_held=Exists(held))
        .order_by("pk")
    )


def _slices(at: datetime) -> int:
    return sum(_slice(row) for row in list(_overdue_slices(at)))


def _slice(seen: Slice) -> bool:
    """One overdue slice: planned ones vanish, others fail, failed ones are deleted again.

    Those of a node that does not answer are waited for. A held one fails its work's start first.
    """
    held: bool = seen.is_held  # type: ignore[attr-defined]
    node = seen.card.node
    if held and seen.state in (S.PLANNED, S.CREATING):
        _fail_start_on(seen)
    with transaction.atomic():
        (row,) = locked(Slice.objects.filter(pk=seen.pk))
        if row.state != seen.state:
            return False
        if node.state in DEAF or (held and row.state in (S.PLANNED, S.FAILED)):
            Slice.objects.filter(pk=row.pk).update(deadline=now() + timedelta(seconds=AGAIN_S))
            if row.state == S.FAILED and held:
                _never_clean(row, node)
            return False
        _end_slice(row, node)
    return True


def _never_clean(row: Slice, node: Node) -> None:
    """Work is over, but the node does not say that it is clean: nobody else may have the slice."""
    alert_raise(
        key=f"unclean:{row.uid}",
        subject=f"slice:{row.uid}",
        title=_("%(node)s cannot clean a slice after its work") % {"node": node.name},
        actor=SYSTEM,
    )


def _end_slice(row: Slice, node: Node) -> None:
    told = {"node": node.uid}
    if row.state == S.PLANNED:
        over = {"lived": closed("lived")}
        move(row, S.GONE, actor=SYSTEM, reason="never made", changes=over, told=told)
    elif row.state == S.FAILED:
        wish = {"wished_in": node.generation + 1}
        move(row, S.DELETING, actor=SYSTEM, reason="again", changes=wish, told=told)
    else:
        wish = {"wished_in": node.generation + 1}
        move(row, S.FAILED, actor=SYSTEM, reason="took too long", changes=wish, told=told)
    node_wish(node_id=node.pk, uid=node.uid)
    if row.state == S.GONE:
        round_wanted()


def _fail_start_on(row: Slice) -> None:
    holders = Workload.objects.filter(
        attempts__placements__holds__slice=row, attempts__placements__holds__held__upper_inf=True
    )
    for pk in holders.values_list("pk", flat=True):
        start_fail(workload_id=pk, actor=SYSTEM, why=_("its slice was not made in time"))


def _drained() -> int:
    """A draining node on which nothing runs any more is cordoned."""
    runs = Attempt.objects.filter(node=OuterRef("pk"), state=AttemptState.OPEN, size=1)
    ranks = Rank.objects.filter(
        node=OuterRef("pk"), attempt__state=AttemptState.OPEN, clean_at=None, lost_at=None
    )
    rows = Node.objects.filter(~Exists(runs), ~Exists(ranks), state=NodeState.DRAINING)
    with transaction.atomic():
        done = locked(rows)
        for row in done:
            move(row, NodeState.CORDONED, actor=SYSTEM, reason="drained")
    return len(done)


def _rooms(at: datetime) -> int:
    """Rooms that were kept longer than carving may take are anybody's again."""
    gone, _by = Promise.objects.filter(until__lt=at).delete()
    if gone:
        with transaction.atomic():
            round_wanted()
    return gone
