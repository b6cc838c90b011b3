"""The one writer of what a node reports of its rank of a gang."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from nodeagent.protocol.report import FoundWork
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from pool.clock import now
from pool.events import Actor
from pool.lifecycle.workloads import WORKLOAD, AttemptState, WorkloadState
from pool.models.nodes import Node
from pool.models.ranks import Rank
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload
from pool.services.gangs.ends import (
    gang_break,
    gang_in_reach,
    gang_locked,
    gang_settle,
    gang_state,
)
from pool.services.hardware.cleaning import cleaning_news, rank_unclean, unclean_told
from pool.services.moves import locked, move
from pool.services.placements import node_wish
from pool.services.yielding.settle import checkpoint_news, order_heard, order_news

OVER = frozenset({WorkFound.EXITED, WorkFound.REFUSED})
MOST_PORT = 65_535

Clock = Callable[[float | None], datetime | None]
"""A node's moment on our clock."""


def ranks_of(*, node: Node, attempts: Iterable[str]) -> dict[str, Rank]:
    """The node's ranks of these attempts, by the attempt's uid."""
    rows = Rank.objects.filter(node=node, attempt__uid__in=list(attempts))
    return {row.attempt.uid: row for row in rows.select_related("attempt__workload", "node")}


def rank_take(*, rank: Rank, found: FoundWork, ours: Clock, actor: Actor) -> bool:
    """Take in what a node says of its rank; true when the node may forget it.

    Repeated, late and out-of-order words change nothing that is settled.
    """
    done = found.state in OVER and found.clean
    if rank.attempt.state == AttemptState.ENDED or rank.lost_at is not None:
        return done and _cleaned_late(rank)
    if rank.clean_at is None and _differs(rank, found, ours):
        _progress(rank, found, ours, actor)
    if done:
        gang_settle(attempt_id=rank.attempt_id, actor=actor)
    return done


def _cleaned_late(rank: Rank) -> bool:
    """A rank that the books had given up, or whose gang they ended, is clean at last."""
    if rank.clean_at is None:
        Rank.objects.filter(pk=rank.pk).update(clean_at=now())
        rest = Rank.objects.filter(attempt=rank.attempt_id, clean_at=None)
        ended = Attempt.objects.filter(pk=rank.attempt_id, state=AttemptState.ENDED)
        if not rest.exists():
            ended.update(clean_at=now())
    return True


def _differs(rank: Rank, found: FoundWork, ours: Clock) -> bool:
    """Whether a report says anything new of the rank or moves its workload on."""
    over = found.state in OVER
    workload = rank.attempt.workload
    port = bool(found.port) and rank.rank == 0 and rank.attempt.master_port is None
    return (
        rank.accepted_at is None
        or (found.started_at is not None and rank.started_at is None)
        or (over and (rank.ended_at is None or found.clean))
        or port
        or workload.state == WorkloadState.UNREACHABLE
        or bool(_grown(rank, found))
        or bool(_saved(rank.attempt, found, ours))
        or bool(cleaning_news(attempt=rank.attempt, found=found))
        or order_news(attempt=rank.attempt, found=found)
    )


def _saved(attempt: Attempt, found: FoundWork, ours: Clock) -> dict[str, Any]:
    """The newest checkpoint that any of the ranks told of."""
    return checkpoint_news(attempt=attempt, found=found, saved_at=ours(found.checkpoint_at))


def _grown(rank: Rank, found: FoundWork) -> dict[str, Any]:
    """Columns that grow with time, as far as they changed."""
    seen = {
        "log_bytes": max(rank.log_bytes, found.log_bytes),
        "peak_memory_mib": max(rank.peak_memory_mib or 0, found.peak_memory_mib or 0) or None,
    }
    return {k: v for k, v in seen.items() if v is not None and v != getattr(rank, k)}


@transaction.atomic
def _progress(seen: Rank, found: FoundWork, ours: Clock, actor: Actor) -> None:
    workload, attempt, ranks = gang_locked(seen)
    (rank,) = [one for one in ranks if one.pk == seen.pk]
    if attempt.state != AttemptState.OPEN or rank.over:
        return
    was_over = rank.ended_at is not None
    _write(rank, _values(rank, found, ours))
    told_of_all = _of_all(attempt, ranks, found, ours)
    _write(attempt, told_of_all)
    said = rank_unclean(attempt, rank.rank) if "unclean" in told_of_all else ""
    if said:
        unclean_told(attempt=attempt, node=rank.node, reason=said, actor=actor)
    order_heard(
        workload=workload,
        attempt=attempt,
        found=found,
        noticed_at=ours(found.noticed_at),
        acked_at=ours(found.acked_at),
        saved_at=ours(found.checkpoint_at),
        actor=actor,
    )
    told = [rank] if rank.clean_at is not None else []
    if found.port and rank.rank == 0 and attempt.master_port is None:
        _write(attempt, {"master_port": min(max(found.port, 1), MOST_PORT)})
        told += [one for one in ranks if one.rank]
    _advance(workload, attempt, ranks, actor)
    if rank.ended_at is not None and not was_over:
        if all(one.ended_at is not None for one in ranks):
            _clean_slices(attempt, workload, actor)
        gang_break(workload, rank, actor)
    gang_in_reach(workload, ranks, actor)
    _wake(told)


def _write(row: Rank | Attempt, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    if values:
        row.save(update_fields=list(values))


def _values(rank: Rank, found: FoundWork, ours: Clock) -> dict[str, Any]:
    at = now()
    values = _grown(rank, found)
    if rank.accepted_at is None:
        values["accepted_at"] = at
    if found.started_at is not None and rank.started_at is None:
        values["started_at"] = ours(found.started_at) or at
    if found.state not in OVER:
        return values
    if rank.ended_at is None:
        reason = found.exit_reason
        if found.state is WorkFound.REFUSED:
            reason = reason or ExitReason.START_FAILED
        values |= {
            "ended_at": ours(found.ended_at) or at,
            "exit_code": found.exit_code,
            "exit_reason": reason or "",
            "message": found.message.replace("\x00", "")[:400],
        }
    if found.clean:
        values |= {"clean_at": at, "held_s": found.held_s}
    return values


def _of_all(
    attempt: Attempt, ranks: Iterable[Rank], found: FoundWork, ours: Clock
) -> dict[str, Any]:
    """What the attempt's own row says of all ranks together."""
    values = _saved(attempt, found, ours) | cleaning_news(attempt=attempt, found=found)
    if attempt.accepted_at is None:
        values["accepted_at"] = now()
    starts = [one.started_at for one in ranks]
    if attempt.started_at is None and None not in starts:
        values["started_at"] = max(at for at in starts if at is not None)
    peaks = [one.peak_memory_mib for one in ranks if one.peak_memory_mib is not None]
    if peaks and max(peaks) != attempt.peak_memory_mib:
        values["peak_memory_mib"] = max(peaks)
    return values


def _wake(ranks: Iterable[Rank]) -> None:
    """Tell their nodes: a rank is clean, or it is known where the gang meets.

    Nodes come last, in the order of their keys: a report of a node holds its slices before itself.
    """
    for node in sorted({one.node for one in ranks}, key=lambda node: node.pk):
        node_wish(node_id=node.pk, uid=node.uid)


_ROAD = (WorkloadState.PLACED, WorkloadState.STARTING, WorkloadState.RUNNING)


def _advance(workload: Workload, attempt: Attempt, ranks: Iterable[Rank], actor: Actor) -> None:
    """Along the road as far as all ranks have come; one that ended at once has begun, too."""
    state = WorkloadState(workload.state)
    if state not in _ROAD:
        return
    there = gang_state(list(ranks))
    for then in _ROAD[_ROAD.index(state) + 1 : _ROAD.index(there) + 1]:
        if not WORKLOAD.allows(WorkloadState(workload.state), then):
            return
        extra: dict[str, Any] = {}
        if then is WorkloadState.RUNNING and workload.started_at is None:
            extra = {"started_at": attempt.started_at or now()}
        move(workload, then, actor=actor, changes=extra, told={"attempt": attempt.number})


def _clean_slices(attempt: Attempt, workload: Workload, actor: Actor) -> None:
    """All processes are over: what is not clean yet is being cleaned, within its deadline."""
    held = Slice.objects.filter(
        holds__placement__attempt=attempt,
        holds__held__upper_inf=True,
        state="ready",
        card__node__in=Rank.objects.filter(attempt=attempt, clean_at=None).values("node"),
    )
    for row in locked(held):
        move(row, "cleaning", actor=actor, told={"workload": workload.uid})
