"""Slices as their node finds them, against what the books planned."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from nodeagent.protocol.report import FoundSlice, Report
from nodeagent.protocol.vocabulary import ExitReason, SliceFound
from pool.events import Actor
from pool.lifecycle.cards import CardState
from pool.lifecycle.slices import SliceState
from pool.lifecycle.workloads import WorkloadState
from pool.models.adoption.found import FoundWork
from pool.models.cards import Card
from pool.models.expressions import closed
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.slices import Slice
from pool.models.workloads import Workload
from pool.services.attempts import attempt_stop
from pool.services.cards import card_strangers
from pool.services.hardware.foreign import STRANGERS
from pool.services.moves import locked, move
from pool.services.placements import node_wish
from pool.wake import round_wanted

S = SliceState
F = SliceFound

STEPS: Mapping[tuple[SliceState, SliceFound], tuple[SliceState, ...]] = {
    (S.PLANNED, F.CREATING): (S.CREATING,),
    (S.PLANNED, F.READY): (S.CREATING, S.READY),
    (S.PLANNED, F.FAILED): (S.CREATING, S.FAILED),
    (S.CREATING, F.READY): (S.READY,),
    (S.CREATING, F.FAILED): (S.FAILED,),
    (S.LOST, F.READY): (S.READY,),
    (S.LOST, F.CREATING): (S.CREATING,),
    (S.LOST, F.FAILED): (S.CREATING, S.FAILED),
    (S.DELETING, F.FAILED): (S.FAILED,),
}
"""What the books say and the node finds, to the moves that follow; anything else moves nothing."""

IDLE_STEPS: Mapping[tuple[SliceState, SliceFound], tuple[SliceState, ...]] = {
    (S.CLEANING, F.READY): (S.READY,),
    (S.CLEANING, F.FAILED): (S.FAILED,),
    (S.READY, F.FAILED): (S.CLEANING, S.FAILED),
}
"""Moves of slices that nobody holds; those of a held one follow its attempt's end."""


@dataclass(frozen=True, slots=True)
class Change:
    """One slice and the states it passes through now."""

    row: Slice
    road: tuple[SliceState, ...]
    reason: str = ""
    device: str = ""


def living(node: Node) -> QuerySet[Slice]:
    """Slices of the node that are not gone; `is_held` says whether an open hold lies on them."""
    held = Hold.objects.filter(slice=OuterRef("pk"), held__upper_inf=True)
    return (
        Slice.objects.filter(card__node=node, lived__upper_inf=True)
        .select_related("card")
        .defer("card__facts")
        .annotate(is_held=Exists(held))
    )


def _is_held(row: Slice) -> bool:
    held: bool = row.is_held  # type: ignore[attr-defined]
    return held


def slices_found(*, node: Node, report: Report, epoch: int, actor: Actor) -> None:
    """Take in one report's slices; a repeat, or an older one, changes nothing."""
    rows = list(living(node))
    reached = report.generation if report.epoch == epoch else -1
    found = {one.uid: one for one in report.slices if one.uid}
    changes = [
        change for row in rows if (change := _change(row, found.get(row.uid), reached)) is not None
    ]
    if changes:
        _fail_starts(_apply(node, changes, actor), actor)
    _strangers(node, report.slices, {row.uid for row in rows}, actor)


def _change(row: Slice, found: FoundSlice | None, reached: int) -> Change | None:
    state = SliceState(row.state)
    if found is None:
        return _absent(row, state, reached)
    key = (state, SliceFound(found.state))
    road = STEPS.get(key) or (() if _is_held(row) else IDLE_STEPS.get(key, ()))
    return Change(row, road, found.reason, found.device) if road else None


def _absent(row: Slice, state: SliceState, reached: int) -> Change | None:
    """A slice the node does not have: gone when that is wanted.

    One that is still to be made is waited for, whatever became of one try: the node tries again,
    says itself that it *found* it failed when it gives up, and the deadline is above both.
    """
    if reached < row.wished_in or _is_held(row):
        return None
    if state is S.DELETING:
        return Change(row, (S.GONE,))
    if state is S.FAILED:
        return Change(row, (S.DELETING, S.GONE))
    return None


@transaction.atomic
def _apply(node: Node, changes: Sequence[Change], actor: Actor) -> list[int]:
    """Move the slices under their locks, unless they moved meanwhile; the ids of broken ones."""
    seen = {change.row.pk: change for change in changes}
    room = False
    broken: list[Slice] = []
    for row in locked(Slice.objects.filter(pk__in=seen)):
        change = seen[row.pk]
        if row.state != change.row.state:
            continue
        _walk(row, change, node, actor)
        room |= row.state == S.GONE or (row.state == S.READY and not _is_held(change.row))
        if row.state == S.FAILED:
            broken.append(row)
    if broken:
        Slice.objects.filter(pk__in=[row.pk for row in broken]).update(
            wished_in=node.generation + 1
        )
        node_wish(node_id=node.pk, uid=node.uid)
    if room:
        round_wanted()
    return [row.pk for row in broken]


def _walk(row: Slice, change: Change, node: Node, actor: Actor) -> None:
    for then in change.road:
        extra: dict[str, object] = {}
        if then is S.GONE:
            extra["lived"] = closed("lived")
        if change.device:
            extra["device"] = change.device[:120]
        move(
            row,
            then,
            actor=actor,
            reason=change.reason.replace("\x00", ""),
            changes=extra,
            told={"node": node.uid, "profile": row.profile},
        )


def _fail_starts(slices: Sequence[int], actor: Actor) -> None:
    """Work whose slice could not be made is told to stop; its clean report gives all back."""
    if not slices:
        return
    for pk in Workload.objects.filter(
        attempts__placements__holds__slice__in=slices,
        attempts__placements__holds__held__upper_inf=True,
    ).values_list("pk", flat=True):
        start_fail(workload_id=pk, actor=actor, why="its slice could not be made")


@transaction.atomic
def start_fail(*, workload_id: int, actor: Actor, why: str) -> bool:
    """Give up a start: the node is told to stop it, and its report closes it as a failed start."""
    (workload,) = locked(
        Workload.objects.filter(pk=workload_id).select_related("project", "template_version")
    )
    if workload.state not in (WorkloadState.PLACED, WorkloadState.STARTING):
        return False
    move(
        workload,
        WorkloadState.STOPPING,
        actor=actor,
        reason=why,
        changes={"stop_reason": ExitReason.START_FAILED},
    )
    attempt_stop(workload=workload, actor=actor)
    return True


def _strangers(node: Node, found: Iterable[FoundSlice], known: set[str], actor: Actor) -> None:
    """Cards with slices that the books never had are contested while those are there."""
    odd = [one for one in found if one.uid is None or one.uid not in known]
    named = {one.uid for one in odd if one.uid}
    past = (
        set(Slice.objects.filter(uid__in=named).values_list("uid", flat=True)) if named else set()
    )
    there = {one.card for one in odd if one.uid not in past}
    marked = list(
        Card.objects.filter(
            node=node, state=CardState.CONTESTED, state_reason=STRANGERS
        ).values_list("pk", "uuid")
    )
    kept = _used_by_found(node) if marked else set()
    for pk, uuid in marked:
        if uuid not in there | kept:
            card_strangers(card_id=pk, there=False, node=node, actor=actor)
    if there:
        for pk in Card.objects.filter(node=node, uuid__in=there, state=CardState.READY).values_list(
            "pk", flat=True
        ):
            card_strangers(card_id=pk, there=True, node=node, actor=actor)


def _used_by_found(node: Node) -> set[str]:
    """Cards on which work runs that the books do not know."""
    rows = FoundWork.objects.filter(node=node, state__in=["running", "stopping"])
    return {card for cards in rows.values_list("cards", flat=True) for card in cards}


@transaction.atomic
def slices_lost(*, node: Node, actor: Actor, reason: str) -> None:
    """The node died or was started anew: what lay on its cards is not known any more."""
    rows = Slice.objects.filter(card__node=node, lived__upper_inf=True)
    there = (S.READY, S.CLEANING, S.DELETING, S.FAILED)
    for row in locked(rows.filter(state__in=there)):
        past = row.state in (S.DELETING, S.FAILED)
        move(row, S.LOST, actor=actor, reason=reason, told={"node": node.uid})
        if past:
            move(
                row,
                S.GONE,
                actor=actor,
                reason=reason,
                changes={"lived": closed("lived")},
                told={"node": node.uid},
            )


@transaction.atomic
def slices_anew(*, node: Node, actor: Actor) -> None:
    """After a new start the slices that are still wanted are made again."""
    rows = Slice.objects.filter(card__node=node, lived__upper_inf=True, state=S.LOST)
    for row in locked(rows):
        move(row, S.CREATING, actor=actor, reason="made again", told={"node": node.uid})


@transaction.atomic
def slices_retired(*, node: Node, actor: Actor, reason: str) -> None:
    """The node never comes back: nothing that lay on its cards is there any more."""
    rows = Slice.objects.filter(card__node=node, lived__upper_inf=True)
    told = {"node": node.uid}
    for row in locked(rows):
        if row.state not in (S.PLANNED, S.LOST):
            move(row, S.LOST, actor=actor, reason=reason, told=told)
        over = {"lived": closed("lived")}
        move(row, S.GONE, actor=actor, reason=reason, changes=over, told=told)
