"""The roll-out board of a partition: where each step stands, and the figures round its switch."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.planning.rollouts import RolloutMove
from pool.rules.planning.rollout import ORDER, Setup, Step, is_on, missing_before
from pool.selectors.planning.use import pool_use

BEFORE = timedelta(days=7)
"""A switch is measured against the week before it."""

AFTER = timedelta(days=28)
"""And by what came after, up to now or four weeks."""

LOOKED_BACK = timedelta(days=28)


@dataclass(frozen=True, slots=True)
class Figures:
    """One partition over a span: use in thousandths, cards held in the mean, waits in seconds.

    Unknown is None: nothing was measured, or nothing started.
    """

    since: datetime
    until: datetime
    use_milli: int | None
    mean_cards: float
    started: int
    p50_wait_s: float | None
    p95_wait_s: float | None


@dataclass(frozen=True, slots=True)
class StepNow:
    """One line of the board. `move` is the newest switch of it; figures are round one that is on.

    `missing` are earlier steps that are not in force.
    """

    step: Step
    on: bool
    missing: tuple[Step, ...]
    move: RolloutMove | None
    before: Figures | None
    after: Figures | None


@dataclass(frozen=True, slots=True)
class Board:
    """A partition with its steps in order; `days` were measured of the last four weeks."""

    partition: Partition
    days: int
    steps: tuple[StepNow, ...]


def setup_of(partition: Partition, *, at: datetime) -> Setup:
    """Where the partition stands: its columns, its vendors, the days measured, the word on labels.

    Three queries.
    """
    vendors = Card.objects.filter(partition=partition).exclude(state="retired")
    said = RolloutMove.objects.filter(partition=partition, step=Step.LABELS).first()
    return Setup(
        modes=tuple(partition.modes),
        sharing=partition.sharing,
        lending=partition.lending,
        preemption=partition.preemption,
        policy=partition.policy,
        vendors=frozenset(vendors.order_by().values_list("vendor", flat=True)),
        days=pool_use(since=at - LOOKED_BACK, until=at, partition=partition).days,
        labelled=said is not None and said.on,
    )


def on_now(setup: Setup) -> frozenset[Step]:
    """The steps in force."""
    return frozenset(step for step in ORDER if is_on(step, setup))


def board_of(partition: Partition, *, at: datetime) -> Board:
    """All steps of one partition; figures for those that this board switched on."""
    setup = setup_of(partition, at=at)
    on = on_now(setup)
    newest: dict[str, RolloutMove] = {}
    for row in RolloutMove.objects.filter(partition=partition):
        newest.setdefault(row.step, row)
    steps = []
    for step in ORDER:
        move = newest.get(step)
        before = after = None
        if move is not None and move.on and step in on:
            before = figures(partition, move.at - BEFORE, move.at)
            after = figures(partition, move.at, min(at, move.at + AFTER))
        steps.append(
            StepNow(
                step=step,
                on=step in on,
                missing=missing_before(step, on),
                move=move,
                before=before,
                after=after,
            )
        )
    return Board(partition, setup.days, tuple(steps))


def boards(partitions: Iterable[Partition], *, at: datetime) -> list[Board]:
    """The boards of some partitions, in their order."""
    return [board_of(one, at=at) for one in partitions]


def figures(partition: Partition, since: datetime, until: datetime) -> Figures:
    """The figures of one span; four queries."""
    place: dict[str, Any] = {"since": since, "until": until, "partition": partition.pk}
    with connection.cursor() as cursor:
        cursor.execute(_HELD, place)
        hours = float(cursor.fetchone()[0] or 0.0)
        cursor.execute(_WAITS, place)
        started, middle, most = cursor.fetchone()
    return Figures(
        since=since,
        until=until,
        use_milli=pool_use(since=since, until=until, partition=partition).use_milli,
        mean_cards=hours * 3600 / max(1.0, (until - since).total_seconds()),
        started=started,
        p50_wait_s=None if middle is None else float(middle),
        p95_wait_s=None if most is None else float(most),
    )


_HELD = """
SELECT sum(h.equivalents_micro::float8 * extract(epoch FROM
    least(coalesce(upper(h.held), %(until)s), %(until)s)
    - greatest(lower(h.held), %(since)s))) / 3600e6
FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id
WHERE h.card_id IS NOT NULL AND p.partition_id = %(partition)s
  AND h.held && tstzrange(%(since)s, %(until)s)
"""
_WAITS = """
SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY waited),
    percentile_cont(0.95) WITHIN GROUP (ORDER BY waited)
FROM (
    SELECT extract(epoch FROM w.started_at - w.queued_at)::float8 AS waited
    FROM pool_workload w
    WHERE w.started_at >= %(since)s AND w.started_at < %(until)s AND w.queued_at <= w.started_at
      AND EXISTS (SELECT 1 FROM pool_attempt a JOIN pool_placement p ON p.attempt_id = a.id
                  WHERE a.workload_id = w.id AND p.partition_id = %(partition)s)
) AS began
"""
