"""Telling running work to leave: one order a victim, all of a winner's victims together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum

from nodeagent.protocol.vocabulary import ExitReason, WorkloadKind
from pool.clock import now
from pool.errors import IllegalMove, NotYours, Stale
from pool.events import Actor, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.roles import Priority, WorkClass
from pool.lifecycle.workloads import WORKLOAD, AttemptState, WorkloadState
from pool.lifecycle.yielding import YieldKind
from pool.models.partitions import Partition
from pool.models.placements import Hold, Placement
from pool.models.ranks import Rank
from pool.models.workloads import Attempt, Workload
from pool.models.yielding import YieldOrder
from pool.rules import yielding as rules
from pool.scheduling.model import CeilingScope, Placed
from pool.selectors.calendar.policies import numbers_now
from pool.services.calendar.guard import kept_for
from pool.services.moves import locked, move
from pool.services.placements import node_wish
from pool.services.yielding.interrupted import over_cap
from pool.services.yielding.limits import limits_hold, limits_locked
from pool.services.yielding.promises import promise_keep, room_locked
from pool.wake import round_wanted

MAY_LEAVE = frozenset({WorkloadState.STARTING, WorkloadState.RUNNING})


@dataclass(frozen=True, slots=True)
class Ground:
    """One victim's locked rows, and how many millionths of a card it holds."""

    workload: Workload
    attempt: Attempt
    placement: Placement
    card_micro: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What the winner needs and gets: cards, or nodes for work without a card. `placed` is its
    planned start, by which its limits are judged."""

    cards: frozenset[int] = frozenset()
    nodes: frozenset[int] = frozenset()
    placed: Placed | None = None


@transaction.atomic
def order_leave(
    *,
    workload: Workload,
    kind: YieldKind,
    actor: Actor,
    reason: str = "",
    notice_s: float | None = None,
    winner: Workload | None = None,
) -> YieldOrder:
    """Order one running workload to leave, whatever protects it from being chosen.

    It goes back to the queue and keeps its place. A second order while one is open changes
    nothing: the deadline belongs to the first, and that one is returned. With a `winner` that
    waits, the cards it leaves are kept for that one. The cards of a proof are kept for itself.

    Raises:
        NotYours: it does not exist any more.
        IllegalMove: it is neither starting nor running.
    """
    wanted = {workload.pk} | ({winner.pk} if winner is not None else set())
    rows = {row.pk: row for row in _locked_works(wanted)}
    if workload.pk not in rows:
        raise NotYours
    row = rows[workload.pk]
    open_one = YieldOrder.objects.filter(workload=row, settled_at=None).first()
    if open_one is not None:
        return open_one
    ground = next(iter(_grounds([row])), None)
    if ground is None or row.state not in MAY_LEAVE:
        raise IllegalMove(noun=WORKLOAD.name, state=row.state, then=str(WorkloadState.PREEMPTING))
    keeper = row if kind is YieldKind.PROOF else rows.get(winner.pk) if winner else None
    room = Room(cards=_cards(ground)) if keeper is not None else Room()
    nodes = _places_locked([ground], room)
    order = _write(ground, kind, actor, reason=reason, notice=notice_s, winner=winner)
    if keeper is not None:
        until = order.deadline + timedelta(seconds=rules.HANDOVER_S)
        promise_keep(workload=keeper, until=until, cards=room.cards)
    _wake(nodes)
    round_wanted()
    return order


@transaction.atomic
def leave_together(
    *,
    winner_id: int,
    victims: Mapping[int, YieldKind],
    room: Room,
    share_milli: int,
    actor: Actor,
) -> list[YieldOrder]:
    """Order a winner's victims out, all or none, and keep the room for the winner.

    Everything the plan judged is judged again under the locks.

    Raises:
        Stale: the winner waits no more, a victim may not be chosen now, the cap of its project is
            reached, or the room is kept for another; nothing was changed.
        QuotaExceeded: the winner's own limits would not let it start; nothing was changed.
    """
    limits = limits_locked(winner_id=winner_id, placed=room.placed)
    rows = {row.pk: row for row in _locked_works({winner_id, *victims})}
    winner = rows.get(winner_id)
    if winner is None or winner.state != WorkloadState.QUEUED or winner.project.suspended:
        raise Stale(workload=winner_id, why="it does not wait any more")
    grounds = _grounds([rows[pk] for pk in sorted(victims) if pk in rows])
    if len(grounds) != len(victims):
        raise Stale(workload=winner.uid, why="a victim has left by itself")
    kept, grace_s = kept_for(winner), numbers_now()["overrun_s"]
    for ground in grounds:
        kind = victims[ground.workload.pk]
        _may_be_told(ground, winner, kind, kept.cards, overrun_s=grace_s)
    _enough_serve(grounds)
    if over_cap(grounds=[(g.workload, victims[g.workload.pk]) for g in grounds], milli=share_milli):
        raise Stale(workload=winner.uid, why="too much of one project is interrupted")
    leaving = [one for ground in grounds for one in ground.placement.quota_taken]
    limits_hold(limits, kept=kept.rows, leaving=leaving)
    nodes = _places_locked(grounds, room)
    made = [_write(g, victims[g.workload.pk], actor, winner=winner) for g in grounds]
    until = max(order.deadline for order in made) + timedelta(seconds=rules.HANDOVER_S)
    promise_keep(workload=winner, until=until, cards=room.cards, nodes=room.nodes)
    _wake(nodes)
    return made


def _places_locked(grounds: Sequence[Ground], room: Room) -> list[tuple[int, str]]:
    """Lock the room's cards, then its nodes with those of the victims, in the order in which
    everybody locks them; the victims' nodes."""
    attempts = [ground.attempt for ground in grounds]
    gangs = [one.pk for one in attempts if one.size > 1]
    theirs = {one.node_id for one in attempts}
    if gangs:
        theirs |= set(Rank.objects.filter(attempt__in=gangs).values_list("node_id", flat=True))
    rows = room_locked(cards=room.cards, nodes=theirs | room.nodes)
    return [(row.pk, row.uid) for row in rows if row.pk in theirs]


def _wake(nodes: Sequence[tuple[int, str]]) -> None:
    for node, uid in nodes:
        node_wish(node_id=node, uid=uid)


def _locked_works(wanted: Iterable[int]) -> list[Workload]:
    rows = Workload.objects.filter(pk__in=list(wanted))
    return locked(rows.select_related("project", "owner", "template_version"))


def _grounds(works: Sequence[Workload]) -> list[Ground]:
    """The open attempts and placements of locked work, locked; what has none is left out."""
    by_work = {row.pk: row for row in works}
    attempts = {
        row.pk: row
        for row in locked(Attempt.objects.filter(workload__in=by_work, state=AttemptState.OPEN))
    }
    placements = locked(
        Placement.objects.filter(attempt__in=attempts, state=PlacementState.OPEN).select_related(
            "partition"
        )
    )
    held = dict(
        Hold.objects.filter(placement__in=placements, held__upper_inf=True)
        .values("placement")
        .annotate(micro=Sum("equivalents_micro"))
        .values_list("placement", "micro")
    )
    return [
        Ground(by_work[attempt.workload_id], attempt, row, held.get(row.pk) or 0)
        for row in placements
        for attempt in (attempts[row.attempt_id],)
    ]


def _may_be_told(
    ground: Ground, winner: Workload, kind: YieldKind, kept: frozenset[int], *, overrun_s: int
) -> None:
    row, at = ground.workload, now()
    if row.state not in MAY_LEAVE:
        raise Stale(workload=row.uid, state=row.state)
    started = ground.attempt.started_at or ground.placement.opened_at
    least = timedelta(seconds=row.template_version.min_run_seconds)
    partition = ground.placement.partition
    holder = rules.Holder(
        priority=Priority(row.priority),
        work_class=WorkClass(row.template_version.work_class),
        preemptible=row.preemptible,
        checkpointed=ground.attempt.checkpoint_step is not None,
        entitled=ground.placement.entitled,
        late=started + timedelta(seconds=row.expected_seconds + overrun_s) < at,
        fresh=started + least > at,
        lends=partition is None or partition.preemption,
        returns=partition is None or partition.lending,
        swaps=row.kind == WorkloadKind.REPLICA and _mixed(partition),
        kept=bool(kept) and bool(kept & _cards(ground)),
    )
    trains = winner.template_version.work_class in rules.TRAINING
    why = rules.refusal(holder, Priority(winner.priority), kind, trains=trains)
    if why:
        raise Stale(workload=row.uid, why=why)


def _enough_serve(grounds: Sequence[Ground]) -> None:
    """Whether one replica of each endpoint goes on serving; asked again under the locks.

    Raises:
        Stale: these are the last of one.
    """
    leave: dict[int, set[int]] = defaultdict(set)
    for row in (ground.workload for ground in grounds):
        if row.parent_id is not None and row.kind == WorkloadKind.REPLICA:
            leave[row.parent_id].add(row.pk)
    for parent, going in sorted(leave.items()):
        rest = Workload.objects.filter(parent=parent, state__in=MAY_LEAVE).exclude(pk__in=going)
        if not rest.exists():
            raise Stale(workload=parent, why="an endpoint keeps one that serves")


def _write(
    ground: Ground,
    kind: YieldKind,
    actor: Actor,
    *,
    reason: str = "",
    notice: float | None = None,
    winner: Workload | None = None,
) -> YieldOrder:
    """The order and the workload's move; its nodes are told once all is written."""
    row, attempt, partition = ground.workload, ground.attempt, ground.placement.partition
    at = now()
    serving = rules.serves(row.template_version.work_class, row.kind)
    given = rules.notice_s(
        hand_back=kind is YieldKind.HAND_BACK,
        serving=serving,
        scavenges=row.priority == Priority.SCAVENGER,
        grace_s=float(row.grace_seconds),
        give_back_s=float(partition.give_back_seconds if partition else row.grace_seconds),
        drain_s=float(numbers_now()["inference_notice_s"]) if serving else 0.0,
    )
    seconds = given if notice is None else notice
    saved = attempt.checkpoint_at or attempt.started_at or at
    order = YieldOrder.objects.create(
        attempt=attempt,
        workload=row,
        winner=winner,
        kind=kind,
        reason=reason[:200],
        ordered_by=actor.label[:160],
        ordered_at=at,
        deadline=at + timedelta(seconds=seconds),
        lost_card_s=rules.lost_card_s(card_micro=ground.card_micro, saved_at=saved, now=at),
    )
    Attempt.objects.filter(pk=attempt.pk).update(
        draining=attempt.draining or serving, stop_asked_at=attempt.stop_asked_at or at
    )
    told: dict[str, Any] = {
        "order": order.uid,
        "cause": str(kind),
        "seconds": round(seconds, 3),
        "draining": attempt.draining or serving,
    }
    move(
        row,
        WorkloadState.PREEMPTING,
        actor=actor,
        reason=reason or str(kind),
        deadline=order.deadline,
        changes={"stop_reason": ExitReason.PREEMPTED},
        told=told,
    )
    lost = round(order.lost_card_s, 3)
    record(EventKind.YIELD_ORDERED, row, actor=actor, reason=reason, lost_card_s=lost, **told)
    return order


def _mixed(partition: Partition | None) -> bool:
    """Whether its cards are shared between training and what serves."""
    return partition is not None and bool(partition.ceilings.get(CeilingScope.CARD_SPLIT))


def _cards(ground: Ground) -> frozenset[int]:
    held = Hold.objects.filter(placement=ground.placement, held__upper_inf=True)
    return frozenset(held.exclude(card=None).values_list("card_id", flat=True))
