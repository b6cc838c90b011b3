"""The one writer of what nodes report: their first words, and what they find each time."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from nodeagent.protocol.inventory import Hello, Welcome
from nodeagent.protocol.report import FoundWork, Report, Taken
from nodeagent.protocol.version import PROTOCOL
from nodeagent.protocol.vocabulary import ExitReason, WorkFound
from pool.clock import now
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.workloads import WORKLOAD, AttemptState, WorkloadState
from pool.models.installation import Installation
from pool.models.nodes import Node
from pool.models.slices import Slice
from pool.models.workloads import Attempt, Workload
from pool.selectors.hardware.standing import is_bare
from pool.services.adoption.seen import found_seen
from pool.services.alerts import alert_resolve
from pool.services.attempts import End, attempt_end
from pool.services.cards import cards_found, cards_health
from pool.services.catalogue.watched import places_take
from pool.services.gangs.ends import gang_node_lost
from pool.services.gangs.ranks import rank_take, ranks_of
from pool.services.hardware.cleaning import cleaning_news, unclean_told
from pool.services.moves import locked, move
from pool.services.notebooks.seen import notebooks_seen
from pool.services.placements import node_wish
from pool.services.slices import slices_anew, slices_found, slices_lost
from pool.services.yielding.settle import checkpoint_news, order_heard, order_news
from pool.wake import round_wanted

SKEW_S = 30.0
"""A node whose clock differs by more gets a warning; nothing else follows from it."""

LONGEST_AGO_S = 366 * 86_400.0
"""Nothing that a node tells of is longer ago; more is a broken clock."""

_COUNT = """
UPDATE pool_node SET report_count = report_count + 1, last_report_at = %s, reached = %s
WHERE id = %s RETURNING generation
"""

_OVER = frozenset({WorkFound.EXITED, WorkFound.REFUSED})
_LIVE = {WorkFound.STARTING: WorkloadState.STARTING, WorkFound.RUNNING: WorkloadState.RUNNING}
_ROAD = (WorkloadState.PLACED, WorkloadState.STARTING, WorkloadState.RUNNING)


def actor_of(node: Node) -> Actor:
    """The node itself, as the one who acted."""
    return Actor("node", node.uid, node.name)


def node_seen(*, node: Node, hello: Hello, actor: Actor) -> Welcome:
    """Take in a node's description of itself. Safe to repeat.

    A boot id that changed is a confirmed death: what ran before is lost, slices are made again.
    """
    reborn = bool(node.boot_id) and node.boot_id != hello.boot_id
    if reborn:
        node_died(node=node, actor=actor, reason=_("the node was started anew"), gone=True)
        slices_anew(node=node, actor=actor)
    with transaction.atomic():
        warnings = cards_found(node=node, found=hello.cards, actor=actor)
        (row,) = locked(Node.objects.filter(pk=node.pk))
        skew = hello.sent_at - now().timestamp()
        if abs(skew) > SKEW_S:
            warnings.append(_("the node's clock is off by %(s)d s") % {"s": round(skew)})
            if row.skew_s is None or abs(row.skew_s) <= SKEW_S:
                record(EventKind.NODE_SKEWED, row, actor=actor, skew_s=round(skew, 3))
        Node.objects.filter(pk=row.pk).update(**_facts(hello), skew_s=skew)
        _welcome(row, hello, actor)
        node_wish(node_id=row.pk, uid=row.uid)
        round_wanted()
    return Welcome(
        protocol=min(PROTOCOL, hello.protocol),
        node=row.uid,
        epoch=Installation.objects.values_list("epoch", flat=True).get(pk=1),
        generation=row.generation + 1,
        fence_s=settings.FENCE_SECONDS,
        skew_s=skew,
        warnings=tuple(warnings),
    )


def _facts(hello: Hello) -> dict[str, Any]:
    host = hello.host
    return {
        "boot_id": hello.boot_id,
        "labels": dict(hello.labels),
        "cpu_milli": host.cpu_milli,
        "memory_mib": host.memory_mib,
        "disk_mib": host.disk_mib,
        "identity": host.identity,
        "fence": host.fence,
        "simulated": host.simulated,
        "host": msgspec.to_builtins(host) | {"address": hello.address[:255]},
        "agent_version": hello.agent[:40],
        "protocol": hello.protocol,
    }


def _welcome(row: Node, hello: Hello, actor: Actor) -> None:
    """From joining to ready or observed; from silent to what it was; a lost node joins again."""
    if row.state == NodeState.SILENT:
        _answers(row, actor)
    if row.state == NodeState.LOST:
        move(row, NodeState.JOINING, actor=actor, reason="it is back")
    if row.state == NodeState.JOINING:
        then = NodeState.OBSERVED if hello.observe or row.observe else NodeState.READY
        move(row, then, actor=actor)


def _answers(row: Node, actor: Actor) -> None:
    """A silent node is what it was before, and its alert is over."""
    move(row, row.state_before or NodeState.READY, actor=actor, reason="it answers")
    alert_resolve(key=f"silent:{row.uid}", actor=actor)


def node_died(*, node: Node, actor: Actor, reason: str, gone: bool) -> None:
    """What ran on the node is over, and what lay on its cards is not known any more.

    `gone` says that its processes cannot exist any more (it was started anew): what it had not yet
    accepted may still start there. Else all is over, and is stopped should the node ever return.
    """
    slices_lost(node=node, actor=actor, reason=reason)
    ended = Attempt.objects.filter(node=node, state=AttemptState.OPEN, size=1)
    if gone:
        ended = ended.exclude(accepted_at=None)
    for pk in ended.order_by("pk").values_list("pk", flat=True):
        end = End(reason=ExitReason.NODE_LOST, message=reason, clean=gone)
        attempt_end(attempt_id=pk, end=end, actor=actor)
    gang_node_lost(node=node, reason=ExitReason.NODE_LOST, message=reason, gone=gone, actor=actor)
    if gone:
        unsettled = Attempt.objects.filter(
            node=node, state=AttemptState.ENDED, clean_at=None, size=1
        )
        unsettled.update(clean_at=now())


def report_take(*, node: Node, report: Report) -> Taken:
    """Take in one report. Repeated, late and out-of-order ones change nothing that is settled.

    A node that counts as lost is only asked for its hello: that makes it a node again.
    """
    actor = actor_of(node)
    epoch = epoch_for(node)
    if node.state == NodeState.LOST:
        return Taken(epoch=epoch, hello=True)
    before = node.generation
    node_back(node=node, actor=actor)
    closed: tuple[str, ...] = ()
    if report.slices or report.work or not is_bare(node=node):
        slices_found(node=node, report=report, epoch=epoch, actor=actor)
        closed = _work(node, report, actor)
    notebooks_seen(node=node, report=report, actor=actor)
    if report.cards:
        cards_health(node=node, told=report.cards, actor=actor)
    if report.places is not None:
        places_take(node=node, places=report.places)
    reached = min(report.generation, node.generation) if report.epoch == epoch else 0
    after = _heard(node, reached)
    wake = after > max(before, report.generation)
    return Taken(epoch=epoch, closed=closed, wake=wake, generation=after)


def epoch_for(node: Node) -> int:
    """The installation's epoch: as the gate read it together with the node, else asked for."""
    told: int | None = getattr(node, "epoch", None)
    return Installation.objects.values_list("epoch", flat=True).get(pk=1) if told is None else told


def _heard(node: Node, reached: int) -> int:
    """Count a report; the node's generation as it is now. One statement: it runs 100 times a s."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [now(), reached, node.pk])
        return int(cursor.fetchone()[0])


def node_back(*, node: Node, actor: Actor) -> None:
    """A node that was silent is heard again: it is what it was before."""
    if node.state != NodeState.SILENT:
        return
    with transaction.atomic():
        (row,) = locked(Node.objects.filter(pk=node.pk))
        if row.state != NodeState.SILENT:
            return
        _answers(row, actor)
        round_wanted()


def _work(node: Node, report: Report, actor: Actor) -> tuple[str, ...]:
    """Take in the attempts; the uids of those whose end is now in the books."""
    told = {one.attempt: one for one in report.work}
    ours = partial(_our_time, report=report)
    if not told:
        found_seen(node=node, told=(), report=report, actor=actor, ours=ours)
        return ()
    rows = {
        row.uid: row
        for row in Attempt.objects.filter(Q(uid__in=told), node=node, size=1)
        .select_related("workload")
        .order_by("pk")
    }

    closed: list[str] = []
    for uid, row in rows.items():
        found = told[uid]
        if _over(row, found, report, actor):
            closed.append(uid)
    rest = told.keys() - rows.keys()
    ranks = ranks_of(node=node, attempts=rest) if rest else {}
    for uid, rank in ranks.items():
        if rank_take(rank=rank, found=told[uid], ours=ours, actor=actor):
            closed.append(uid)
    strange = [told[uid] for uid in sorted(rest - ranks.keys())]
    closed += found_seen(node=node, told=strange, report=report, actor=actor, ours=ours)
    return tuple(closed)


def _over(row: Attempt, found: FoundWork, report: Report, actor: Actor) -> bool:
    """Take in one attempt; true when the books hold its end and the node may forget it."""
    done = found.state in _OVER and found.clean
    if row.state == AttemptState.ENDED:
        if done and row.clean_at is None:
            Attempt.objects.filter(pk=row.pk).update(clean_at=now())
        return done
    if _differs(row, found, report):
        _progress(row, found, report, actor)
    if done:
        attempt_end(attempt_id=row.pk, end=_end(found, report), actor=actor)
    return done


def _end(found: FoundWork, report: Report) -> End:
    reason = found.exit_reason
    if found.state is WorkFound.REFUSED:
        reason = reason or ExitReason.START_FAILED
    struck = [one.attempt for one in report.work if one.exit_reason is ExitReason.NEIGHBOUR]
    return End(
        exit_code=found.exit_code,
        reason=reason,
        message=found.message.replace("\x00", ""),
        ended_at=_our_time(found.ended_at, report),
        clean_at=_our_time(found.clean_at, report),
        held_s=found.held_s,
        together=tuple(struck) if reason is ExitReason.NEIGHBOUR else (),
    )


def _our_time(at: float | None, report: Report) -> datetime | None:
    """A node's moment on our clock: so long ago as the node says, whatever its clock shows."""
    if at is None:
        return None
    return now() - timedelta(seconds=min(max(0.0, report.sent_at - at), LONGEST_AGO_S))


def _columns(row: Attempt, found: FoundWork) -> dict[str, Any]:
    """Observed columns that grow with time, as far as they changed."""
    seen = {
        "log_bytes": max(row.log_bytes, found.log_bytes),
        # A node forgets its peak when its agent is started anew; the books keep theirs.
        "peak_memory_mib": max(row.peak_memory_mib or 0, found.peak_memory_mib or 0) or None,
    }
    grown = {k: v for k, v in seen.items() if v is not None and v != getattr(row, k)}
    return grown | cleaning_news(attempt=row, found=found)


def _next(row: Workload, found: FoundWork) -> tuple[WorkloadState, ...]:
    """The states the workload passes because of what was found; none when nothing is new."""
    state = WorkloadState(row.state)
    if state is WorkloadState.UNREACHABLE:
        back = WorkloadState(row.state_before)
        if back not in _ROAD:
            return (back,)
        return (_LIVE.get(found.state, WorkloadState.RUNNING),)
    then = _LIVE.get(found.state)
    if then is None or state not in _ROAD:
        return ()
    return _ROAD[_ROAD.index(state) + 1 : _ROAD.index(then) + 1]


def _differs(row: Attempt, found: FoundWork, report: Report) -> bool:
    ends = found.state in _OVER and row.ended_at is None and not found.clean
    starts = found.started_at is not None and row.started_at is None
    fresh = row.accepted_at is None or starts or ends
    if fresh or _next(row.workload, found) or _columns(row, found):
        return True
    saved_at = _our_time(found.checkpoint_at, report)
    saved = checkpoint_news(attempt=row, found=found, saved_at=saved_at)
    return bool(saved) or order_news(attempt=row, found=found)


@transaction.atomic
def _progress(row: Attempt, found: FoundWork, report: Report, actor: Actor) -> None:
    """Write how far an attempt has come; the workload moves along its table."""
    (workload,) = locked(
        Workload.objects.filter(pk=row.workload_id).select_related("project", "template_version")
    )
    (attempt,) = locked(Attempt.objects.filter(pk=row.pk))
    if attempt.state != AttemptState.OPEN:
        return
    at = now()
    values = _columns(attempt, found)
    if attempt.accepted_at is None:
        values["accepted_at"] = at
    if found.started_at is not None and attempt.started_at is None:
        values["started_at"] = _our_time(found.started_at, report)
    saved_at = _our_time(found.checkpoint_at, report)
    values |= checkpoint_news(attempt=attempt, found=found, saved_at=saved_at)
    if found.state in _OVER and not found.clean and attempt.ended_at is None:
        values |= {"ended_at": _our_time(found.ended_at, report) or at}
        _clean_slices(attempt, actor)
    if values:
        Attempt.objects.filter(pk=attempt.pk).update(**values)
    if values.get("unclean"):
        unclean_told(attempt=attempt, node=row.node, reason=values["unclean"], actor=actor)
    order_heard(
        workload=workload,
        attempt=attempt,
        found=found,
        noticed_at=_our_time(found.noticed_at, report),
        acked_at=_our_time(found.acked_at, report),
        saved_at=saved_at,
        actor=actor,
    )
    _advance(workload, found, values.get("started_at"), actor)


def _advance(
    workload: Workload, found: FoundWork, started_at: datetime | None, actor: Actor
) -> None:
    for then in _next(workload, found):
        if not WORKLOAD.allows(WorkloadState(workload.state), then):
            return
        extra: Mapping[str, Any] = {}
        if then is WorkloadState.RUNNING and workload.started_at is None:
            extra = {"started_at": started_at or now()}
        move(workload, then, actor=actor, changes=extra, told={"attempt": workload.attempts_made})


def _clean_slices(attempt: Attempt, actor: Actor) -> None:
    """Its processes are over: the slices are being cleaned before anybody else gets them."""
    held = Slice.objects.filter(
        holds__placement__attempt=attempt, holds__held__upper_inf=True, state="ready"
    )
    for row in locked(held):
        move(row, "cleaning", actor=actor, told={"workload": attempt.workload.uid})
