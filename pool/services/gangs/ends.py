"""The end of a gang: one rank's death takes the rest along; it is over when every rank is."""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import ExitReason
from pool.clock import now
from pool.events import SYSTEM, Actor
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.workloads import WORKLOAD, AttemptState, WorkloadState
from pool.models.nodes import Node
from pool.models.ranks import Rank
from pool.models.workloads import Attempt, Workload
from pool.rules.gangs import GangEnd, RankEnd, gang_end, went_well
from pool.services.attempts import End, attempt_end, attempt_stop
from pool.services.moves import locked, move

W = WorkloadState
_GOING = (W.PLACED, W.STARTING, W.RUNNING)
DEAF = (NodeState.SILENT, NodeState.LOST)


def gang_locked(rank: Rank) -> tuple[Workload, Attempt, list[Rank]]:
    """Workload, attempt and all ranks, locked in the order of the house."""
    workload_id = Attempt.objects.values_list("workload_id", flat=True).get(pk=rank.attempt_id)
    (workload,) = locked(
        Workload.objects.filter(pk=workload_id).select_related("project", "template_version")
    )
    (attempt,) = locked(Attempt.objects.filter(pk=rank.attempt_id))
    ranks = locked(Rank.objects.filter(attempt=attempt).select_related("node"))
    return workload, attempt, ranks


def gang_settle(*, attempt_id: int, actor: Actor) -> bool:
    """End the attempt when each of its ranks is clean or given up; whether it is at its end now.

    Call it outside the transaction that wrote the last rank: the end locks the quota first.
    """
    ranks = list(Rank.objects.filter(attempt=attempt_id).select_related("node").order_by("rank"))
    if not all(one.over for one in ranks):
        return False
    found = gang_end([_told(one) for one in ranks])
    end = End(
        exit_code=found.exit_code,
        reason=found.reason,
        message=_words(found),
        ended_at=max((one.ended_at for one in ranks if one.ended_at is not None), default=None),
        clean=all(one.clean_at is not None for one in ranks),
    )
    attempt_end(attempt_id=attempt_id, end=end, actor=actor)
    return True


def gangs_settle() -> int:
    """End gangs whose every rank is over and whose end was not written: a process died between.

    How many were ended.
    """
    whole = Attempt.objects.filter(state=AttemptState.OPEN, size__gt=1)
    going = whole.filter(ranks__clean_at=None, ranks__lost_at=None)
    ids = whole.exclude(pk__in=going.values("pk")).values_list("pk", flat=True)
    return sum(gang_settle(attempt_id=pk, actor=SYSTEM) for pk in list(ids))


def gang_node_lost(
    *, node: Node, reason: ExitReason, message: str, gone: bool, actor: Actor
) -> None:
    """Ranks on a node that is dead: the rest of each gang is stopped, and its policy decides.

    `gone` says that its processes cannot exist any more; what it had not yet accepted may still
    start there. Else they are given up, and stopped should the node ever return.
    """
    rows = Rank.objects.filter(node=node, clean_at=None)
    mine = rows.filter(attempt__state=AttemptState.OPEN, lost_at=None)
    if gone:
        mine = mine.exclude(accepted_at=None)
    for row in list(mine.order_by("pk")):
        gang_rank_lost(rank=row, reason=reason, message=message, gone=gone, actor=actor)
    if gone:
        rows.filter(attempt__state=AttemptState.ENDED).update(clean_at=now())
        rows.exclude(lost_at=None).update(clean_at=now())


def gang_rank_lost(
    *, rank: Rank, reason: ExitReason, message: str, gone: bool, actor: Actor
) -> None:
    """One rank is over though its node did not say so."""
    with transaction.atomic():
        workload, attempt, ranks = gang_locked(rank)
        (row,) = [one for one in ranks if one.pk == rank.pk]
        if attempt.state != AttemptState.OPEN or row.over:
            return
        at = now()
        row.lost_at, row.ended_at = at, row.ended_at or at
        row.clean_at = at if gone else None
        if not row.exit_reason:
            row.exit_reason, row.message = reason, message[:400]
        row.save(update_fields=["lost_at", "clean_at", "ended_at", "exit_reason", "message"])
        gang_break(workload, row, actor)
        gang_in_reach(workload, ranks, actor)
    gang_settle(attempt_id=rank.attempt_id, actor=actor)


def gang_break(workload: Workload, rank: Rank, actor: Actor) -> None:
    """A rank is over: unless it went well, the rest is told to stop.

    A stop or a notice under way goes on as it was ordered. Work that is out of reach in part keeps
    its state: the nodes in reach are told. Call it under the locks of `gang_locked`.
    """
    if went_well(exit_code=rank.exit_code, reason=rank.exit_reason):
        return
    why = ExitReason.RANK_DIED
    if rank.exit_reason == ExitReason.START_FAILED and rank.started_at is None:
        why = ExitReason.START_FAILED
    if workload.state in _GOING:
        words = _("rank %(n)d on %(node)s died") % {"n": rank.rank, "node": rank.node.name}
        changes = {"stop_reason": why}
        move(workload, W.STOPPING, actor=actor, reason=words, changes=changes)
        attempt_stop(workload=workload, actor=actor)
    elif workload.state == W.UNREACHABLE and not workload.stop_reason:
        workload.stop_reason = why
        workload.save(update_fields=["stop_reason"])
        attempt_stop(workload=workload, actor=actor)


def gang_in_reach(workload: Workload, ranks: Sequence[Rank], actor: Actor) -> None:
    """Out of reach no longer, when no node is silent on which a rank is still expected to be."""
    if workload.state != W.UNREACHABLE:
        return
    if any(one.node.state in DEAF for one in ranks if not one.over):
        return
    then = W(workload.state_before)
    if then in _GOING:
        then = W.STOPPING if workload.stop_reason else gang_state(ranks)
    if WORKLOAD.allows(W.UNREACHABLE, then):
        move(workload, then, actor=actor, told={"attempt": workload.attempts_made})


def gang_state(ranks: Sequence[Rank]) -> WorkloadState:
    """How far a gang is: it runs once each of its ranks has begun."""
    if all(one.started_at is not None for one in ranks):
        return W.RUNNING
    return W.STARTING


def _told(rank: Rank) -> RankEnd:
    return RankEnd(
        rank=rank.rank,
        node=rank.node.name,
        started=rank.started_at is not None or rank.exit_code is not None,
        exit_code=rank.exit_code,
        reason=rank.exit_reason,
        message=rank.message,
        ended_s=rank.ended_at.timestamp() if rank.ended_at is not None else 0.0,
    )


def _words(end: GangEnd) -> str:
    """Which rank brought the end about, and what its node said of it."""
    if end.culprit is None:
        return ""
    named = {"n": end.culprit.rank, "node": end.culprit.node}
    told = _("rank %(n)d on %(node)s") % named
    return f"{told}: {end.culprit.message}" if end.culprit.message else told
