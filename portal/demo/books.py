"""What the scheduler made of the month, as the books keep it: attempts, places, holds, the log."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from django.db import connection, transaction
from psycopg.types.range import Range

from nodeagent.protocol.vocabulary import PLACED_MODES, ExitReason, Isolation, WorkloadKind
from pool.events import SYSTEM, Actor
from pool.lifecycle.events import EventKind
from pool.lifecycle.idleness import Verdict
from pool.lifecycle.workloads import WorkloadState
from pool.models import (
    Attempt,
    Card,
    Hold,
    Node,
    Notebook,
    Partition,
    Placement,
    Rank,
    Slice,
    Workload,
)
from pool.models.events import Event
from pool.models.ids import new_uid
from pool.replay.mixed import Run, Why
from pool.scheduling.model import Part
from pool.services.gangs.opening import in_rank_order
from pool.services.hardware.cuts import card_isolation
from portal.demo.history import Told
from portal.demo.rows import keys, written

STARTS_S = 2.0
RETURNS = 60
"""So many pieces of work that ran or waited at the end come back when the stack is started."""

REASONS = {
    Why.PREEMPTED: ExitReason.PREEMPTED,
    Why.BROKEN: ExitReason.NODE_LOST,
    Why.STOPPED: ExitReason.NODE_STOPPED,
}
CODES = {
    ExitReason.FINISHED: 0,
    ExitReason.OWN_ERROR: 1,
    ExitReason.OOM_CARD: 1,
}
STATES = {
    ExitReason.FINISHED: WorkloadState.SUCCEEDED,
    ExitReason.OWN_ERROR: WorkloadState.FAILED,
    ExitReason.OOM_CARD: WorkloadState.FAILED,
    ExitReason.CANCELLED: WorkloadState.CANCELLED,
    ExitReason.RECLAIMED: WorkloadState.RECLAIMED,
    ExitReason.NODE_STOPPED: WorkloadState.STOPPED,
}


@dataclass(frozen=True, slots=True)
class Ran:
    """One run with its rows: what the readings are made from."""

    told: Told
    attempt: int
    start: datetime
    end: datetime
    slices: tuple[Slice, ...]


@dataclass(slots=True)
class Shelf:
    """Rows on their way into the tables, and who and what they speak of."""

    cards: dict[int, Card]
    nodes: dict[int, Node]
    xact: int
    slice_keys: Iterator[int]
    attempts: list[Attempt] = field(default_factory=list)
    ranks: list[Rank] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    slices: list[Slice] = field(default_factory=list)
    holds: list[Hold] = field(default_factory=list)
    notebooks: list[Notebook] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)


@transaction.atomic
def books_written(*, work: Sequence[Told], until: datetime) -> list[Ran]:
    """Write it all; the runs with their rows. What was cut off by the end waits or is stopped."""
    shelf = Shelf(
        cards=Card.objects.select_related("node").in_bulk(),
        nodes=Node.objects.in_bulk(),
        xact=_xact(),
        slice_keys=iter(keys(Slice, sum(len(r.placed.parts) for one in work for r in one.runs))),
    )
    back = _returning(work)
    numbers = iter(keys(Attempt, sum(len(one.runs) for one in work)))
    places = iter(keys(Placement, sum(len(one.runs) for one in work)))
    for one in work:
        for count, run in enumerate(one.runs, start=1):
            _run(shelf, one, run, count, next(numbers), next(places))
        _life(shelf, one, until, comes_back=one.row.pk in back)
    _put(shelf, work)
    return shelf.ran


def _xact() -> int:
    """The transaction's own number: readers of the log go by it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        return int(cursor.fetchone()[0])


def _returning(work: Sequence[Told]) -> set[int]:
    """The youngest that ran or waited at the end: so many a laptop can start again."""
    open_ = [one.row.pk for one in work if not one.runs or one.runs[-1].why is not Why.DONE]
    return set(open_[-RETURNS:])


def _put(shelf: Shelf, work: Sequence[Told]) -> None:
    """Into the tables, each after what it refers to."""
    written([one.row for one in work])
    through = Workload.partitions.through
    written([through(workload_id=one.row.pk, partition_id=one.partition) for one in work])
    for rows in (shelf.attempts, shelf.ranks, shelf.placements, shelf.slices, shelf.holds):
        written(rows)
    written(shelf.notebooks)
    written(sorted(shelf.events, key=_when))
    Partition.objects.update(example=True)


def _when(event: Any) -> datetime:
    return cast(datetime, event.at)


def moment(seconds: float) -> datetime:
    """Seconds of the replay on the books' clock."""
    return datetime.fromtimestamp(seconds, tz=UTC)


def _run(shelf: Shelf, one: Told, run: Run, count: int, number: int, place: int) -> None:
    start, end = moment(run.start_s), moment(run.end_s)
    end = max(end, start + timedelta(microseconds=1))
    order = in_rank_order([shelf.nodes[host.node] for host in run.placed.hosts])
    attempt = _attempt(one, run, count, number, start, end, order)
    shelf.attempts.append(attempt)
    if len(order) > 1:
        _ranks(shelf, attempt, run, order)
    placement = Placement(
        pk=place,
        uid=new_uid("pl"),
        attempt=attempt,
        partition_id=run.placed.partition,
        state="closed",
        entitled=not run.placed.borrowed,
        opened_at=start,
        closed_at=end,
    )
    shelf.placements.append(placement)
    span = Range(start, end)
    slices = [_slice(shelf, part, span) for part in run.placed.parts]
    shelf.slices += slices
    shelf.holds += _holds(shelf, one, run, placement, slices, span)
    shelf.ran.append(Ran(one, number, start, end, tuple(slices)))
    _tell(shelf, one, run, attempt, placement, slices, order)


def _attempt(
    one: Told, run: Run, count: int, number: int, start: datetime, end: datetime, order: list[Node]
) -> Attempt:
    reason = REASONS.get(run.why, one.wish.end)
    begun = min(end, start + timedelta(seconds=STARTS_S))
    every = one.version.checkpoint_seconds
    steps = int((run.end_s - run.start_s) // every) if every else 0
    row = Attempt(
        pk=number,
        uid=new_uid("at"),
        workload=one.row,
        number=count,
        state="ended",
        node=order[0],
        size=len(order),
        created_at=start,
        accepted_at=min(end, start + timedelta(seconds=1)),
        started_at=begun,
        ended_at=end,
        clean_at=end,
        exit_code=CODES.get(reason, -15),
        exit_reason=reason,
        billable=run.why is not Why.BROKEN,
    )
    if steps:
        row.checkpoint_step = steps * 1000
        row.checkpoint_at = start + timedelta(seconds=steps * (every or 0))
        row.checkpoint_path = f"checkpoints/step-{steps * 1000}"
    return row


def _ranks(shelf: Shelf, attempt: Attempt, run: Run, order: list[Node]) -> None:
    parts = Counter(shelf.cards[part.card].node_id for part in run.placed.parts)
    for number, node in enumerate(order):
        shelf.ranks.append(
            Rank(
                attempt=attempt,
                rank=number,
                node=node,
                cards=parts[node.pk],
                accepted_at=attempt.accepted_at,
                started_at=attempt.started_at,
                ended_at=attempt.ended_at,
                exit_code=attempt.exit_code,
                exit_reason=attempt.exit_reason,
                clean_at=attempt.clean_at,
            )
        )


def _slice(shelf: Shelf, part: Part, span: Range[datetime]) -> Slice:
    """A slice that was cut for one run and taken away after it."""
    card, new = shelf.cards[part.card], part.new
    if new is None:
        raise ValueError("a pool that begins empty has no slices to give")
    placed = new.mode in PLACED_MODES
    where = Range(new.start, (new.start or 0) + (new.size or 0)) if placed else None
    return Slice(
        pk=next(shelf.slice_keys),
        uid=new_uid("sl"),
        card=card,
        mode=new.mode,
        isolation=card_isolation(card, new.mode),
        profile=new.profile,
        span=where,
        lived=span,
        memory_mib=new.memory_mib,
        compute_milli=new.compute_milli,
        equivalents_micro=new.card_micro,
        state="gone",
        state_since=cast(datetime, span.upper),
    )


def _holds(
    shelf: Shelf,
    one: Told,
    run: Run,
    placement: Placement,
    slices: list[Slice],
    span: Range[datetime],
) -> list[Hold]:
    trust = one.row.project.trust_group_id
    common: dict[str, Any] = {"placement": placement, "trust": trust, "fenced": True, "held": span}
    opened, closed = placement.opened_at, placement.closed_at or placement.opened_at
    common |= {"agent_held_s": (closed - opened).total_seconds()}
    of_cards = [
        Hold(
            uid=new_uid("hd"),
            slice=row,
            card=row.card,
            node=row.card.node,
            mode=row.mode,
            isolation=row.isolation,
            equivalents_micro=row.equivalents_micro,
            memory_mib=row.memory_mib,
            compute_milli=row.compute_milli,
            **common,
        )
        for row in slices
    ]
    of_hosts = [
        Hold(
            uid=new_uid("hd"),
            node=shelf.nodes[host.node],
            mode="host",
            isolation=Isolation.NONE,
            cpu_milli=host.cpu_milli,
            ram_mib=host.memory_mib,
            disk_mib=host.disk_mib,
            **common,
        )
        for host in run.placed.hosts
    ]
    return [*of_cards, *of_hosts]


def _life(shelf: Shelf, one: Told, until: datetime, *, comes_back: bool) -> None:
    """The row as the month left it: ended, waiting, or stopped with its node."""
    row, last = one.row, one.runs[-1] if one.runs else None
    row.attempts_made = len(one.runs)
    row.started_at = moment(one.runs[0].start_s + STARTS_S) if one.runs else None
    ended = last is not None and last.why is Why.DONE
    at = moment(last.end_s) if ended and last is not None else until
    reason = one.wish.end if ended else ExitReason.NODE_STOPPED
    if comes_back:
        row.state, row.queued_at = WorkloadState.QUEUED, until
    elif last is None:
        row.state, row.exit_reason = WorkloadState.CANCELLED, ""
    else:
        row.state, row.exit_reason = STATES[reason], reason
        row.exit_code = CODES.get(reason, -15)
    row.state_since = at
    row.ended_at = None if comes_back else at
    before = "running" if last is not None else "queued"
    _event(shelf, one, EventKind.WORKLOAD_SUBMITTED, one.wish.submit, {"name": row.name})
    _moved(shelf, one, at, before, row.state, str(reason) if last is not None else "")
    if row.kind == WorkloadKind.NOTEBOOK:
        _notebook(shelf, one, at)


def _notebook(shelf: Shelf, one: Told, at: datetime) -> None:
    idle = one.wish.end is ExitReason.RECLAIMED
    last = shelf.attempts[-1] if one.runs else None
    shelf.notebooks.append(
        Notebook(
            workload=one.row,
            attempt=last,
            verdict=Verdict.IDLE if idle else Verdict.ACTIVE,
            verdict_at=at,
            last_input_at=at - timedelta(seconds=one.wish.idle_s),
            quiet_s=one.wish.idle_s,
            limit_s=one.version.idle_seconds,
        )
    )
    if idle and one.row.state == WorkloadState.RECLAIMED:
        told = {"quiet_s": one.wish.idle_s, "reason": "nobody used it"}
        _event(shelf, one, EventKind.NOTEBOOK_RECLAIMED, at, told)


def _tell(
    shelf: Shelf,
    one: Told,
    run: Run,
    attempt: Attempt,
    placement: Placement,
    slices: list[Slice],
    order: list[Node],
) -> None:
    """What the log says of one run."""
    start, end = placement.opened_at, placement.closed_at
    _moved(shelf, one, start, "queued", "placed", "")
    words = {
        "workload": one.row.uid,
        "node": order[0].uid,
        "attempt": attempt.uid,
        "slices": [row.uid for row in slices],
        "backfilled": run.placed.backfilled,
    }
    subject = f"placement:{placement.uid}"
    _event(shelf, one, EventKind.PLACEMENT_OPENED, start, words, subject)
    begun = attempt.started_at or start
    _moved(shelf, one, begun, "placed", "running", "")
    shut = {"from": "open", "to": "closed", "reason": attempt.exit_reason}
    _event(shelf, one, EventKind.PLACEMENT_CLOSED, end or start, shut, subject)
    if run.why in (Why.PREEMPTED, Why.BROKEN):
        _moved(shelf, one, end or start, "running", "queued", str(attempt.exit_reason))


def _moved(shelf: Shelf, one: Told, at: datetime, before: str, then: str, reason: str) -> None:
    words = {"from": before, "to": str(then), "reason": reason}
    _event(shelf, one, EventKind.WORKLOAD_MOVED, at, words)


def _event(
    shelf: Shelf,
    one: Told,
    kind: EventKind,
    at: datetime,
    words: dict[str, Any],
    subject: str = "",
) -> None:
    owner = Actor.of(one.row.owner) if kind is EventKind.WORKLOAD_SUBMITTED else SYSTEM
    shelf.events.append(
        Event(
            epoch=1,
            xact=shelf.xact,
            kind=kind,
            subject=subject or f"workload:{one.row.uid}",
            organization_id=one.row.project.organization_id,
            project_id=one.row.project_id,
            actor_kind=owner.kind,
            actor_id=owner.id,
            actor_label=owner.label,
            data=words,
            at=at,
        )
    )
