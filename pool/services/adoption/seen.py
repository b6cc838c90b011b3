"""What a node tells of work that the books do not know: written down, told, never touched."""

from collections.abc import Iterable
from typing import Any

import msgspec
from django.db import transaction
from django.utils.translation import gettext as _

from nodeagent.protocol.report import FoundWork as Told
from nodeagent.protocol.report import Report
from nodeagent.protocol.vocabulary import WorkFound
from pool.clock import now
from pool.errors import PoolError
from pool.events import SYSTEM, Actor, record
from pool.lifecycle.cards import CardState
from pool.lifecycle.events import EventKind
from pool.lifecycle.found import FoundState
from pool.lifecycle.workloads import WorkloadState
from pool.models.adoption.found import FoundWork
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.workloads import Attempt, Workload
from pool.services.adoption.adopt import found_adopt_known
from pool.services.adoption.plausible import is_plausible
from pool.services.alerts import alert_raise, alert_resolve
from pool.services.cards import card_strangers
from pool.services.moves import locked, move

OFTEN_S, REPORT_S = 120, 10
"""So long each report tries to adopt; afterwards one in a minute does."""

THERE = (FoundState.RUNNING, FoundState.STOPPING)
_OVER = frozenset({WorkFound.EXITED, WorkFound.REFUSED})


def found_seen(
    *, node: Node, told: Iterable[Told], report: Report, actor: Actor, ours: Any
) -> list[str]:
    """Take in attempts that the books do not know; those whose end the node may forget.

    `ours` turns a moment of the node into one of ours. A repeat changes nothing. What a node tells
    of no more is over. Work that waits in these very books (they are older than its start) is taken
    into them at once, so that it does not run a second time.
    """
    listed = _nowhere(list(told))
    known = {one.attempt: one for one in FoundWork.objects.filter(node=node)} if listed else {}
    closed: list[str] = []
    for one in listed:
        row = known.get(one.attempt) or _new(node, one, report, actor, ours(one.started_at))
        if _over(row, one, report, actor):
            closed.append(one.attempt)
    _gone(node, {one.attempt for one in report.work}, actor)
    return closed


def _nowhere(told: list[Told]) -> list[Told]:
    """Without what the books know on another node: a node's word about that counts for nothing."""
    uids = [one.attempt for one in told]
    known = set(Attempt.objects.filter(uid__in=uids).values_list("uid", flat=True)) if uids else ()
    return [one for one in told if one.attempt not in known]


def _over(row: FoundWork, told: Told, report: Report, actor: Actor) -> bool:
    """Take in what is told of one; true when it is over and the node may forget it."""
    over = told.state in _OVER and told.clean
    if row.state in THERE and over:
        _end(row, told, actor)
    elif row.state == FoundState.RUNNING:
        _again(row, told, report, actor)
    return over


@transaction.atomic
def _new(node: Node, told: Told, report: Report, actor: Actor, started_at: Any) -> FoundWork:
    """It is written down; while it runs, a person is told and its cards are nobody's."""
    row, made = FoundWork.objects.get_or_create(
        node=node,
        attempt=told.attempt[:64],
        defaults={
            "told_workload": told.workload[:64],
            "rank": told.rank,
            "pid": told.pid,
            "origin": msgspec.to_builtins(told.origin),
            "cards": _cards(told, report),
            "started_at": started_at,
        },
    )
    if not made or told.state in _OVER:
        return row
    alert_raise(
        key=_key(row),
        subject=f"node:{node.uid}",
        title=_("Work that the books do not know runs on %(node)s") % {"node": node.name},
        detail={"attempt": told.attempt, "workload": told.workload, "found": row.uid},
        actor=actor,
    )
    words = {"attempt": told.attempt, "pid": told.pid, "found": row.uid}
    record(EventKind.FOUND_WORK_SEEN, node, actor=actor, **words)
    _nobodys(row, node, actor)
    return row


def _cards(told: Told, report: Report) -> list[str]:
    """The cards that it holds, as far as its node knows as what it was started."""
    by_uid = {one.uid: one.card for one in report.slices if one.uid}
    slices = told.origin.slices if told.origin is not None else ()
    return sorted({by_uid.get(one.uid, one.card) for one in slices})


def _nobodys(row: FoundWork, node: Node, actor: Actor) -> None:
    """Nothing else starts on its cards."""
    cards = Card.objects.filter(node=node, uuid__in=row.cards, state=CardState.READY)
    for pk in cards.order_by("pk").values_list("pk", flat=True):
        card_strangers(card_id=pk, there=True, node=node, actor=actor)


def _again(row: FoundWork, told: Told, report: Report, actor: Actor) -> None:
    """It still runs: what was not known of it before is kept, and it is adopted where it waits.

    A node tells as what it was started once it has the wish in which it is missing: a moment later
    than it tells that it is there.
    """
    if row.origin is None and told.origin is not None:
        with transaction.atomic():
            row.origin, row.cards = msgspec.to_builtins(told.origin), _cards(told, report)
            row.save(update_fields=["origin", "cards"])
            _nobodys(row, row.node, actor)
    waits = Workload.objects.filter(uid=row.told_workload, state=WorkloadState.QUEUED).first()
    if waits is None or not _turn(row) or not is_plausible(found=row, workload=waits):
        return
    try:
        found_adopt_known(found=row, workload=waits, actor=SYSTEM)
    except PoolError:  # a person decides; the alert stands, and a later report tries again
        return


def _turn(row: FoundWork) -> bool:
    """Whether adoption is tried with this report: with each at first, then once a minute."""
    age = (now() - row.found_at).total_seconds()
    return age < OFTEN_S or int(age) % 60 < REPORT_S


@transaction.atomic
def _end(row: FoundWork, told: Told | None, actor: Actor) -> None:
    """It is over: by itself, or because a person wanted it."""
    (mine,) = locked(FoundWork.objects.filter(pk=row.pk).select_related("node"))
    if mine.state not in THERE:
        return
    changes: dict[str, Any] = {}
    if told is not None:
        changes = {"exit_code": told.exit_code, "exit_reason": told.exit_reason or ""}
    move(mine, FoundState.OVER, actor=actor, changes=changes, told={"attempt": mine.attempt})
    alert_resolve(key=_key(mine), actor=actor)


def _gone(node: Node, told: set[str], actor: Actor) -> None:
    """What a whole report does not name any more is not there any more."""
    for row in FoundWork.objects.filter(node=node, state__in=THERE).exclude(attempt__in=told):
        _end(row, None, actor)


def _key(row: FoundWork) -> str:
    return f"found:{row.node.uid}:{row.attempt}"
