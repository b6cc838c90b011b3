"""The roll-out board of a partition: where each step stands, and the figures round its switch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection

from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.planning.rollouts import RolloutMove
from pool.rules.planning.rollout import ORDER, Setup, Step, is_on, missing_before
from pool.selectors.planning.use import measured_days, use_in

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
    return _setups([partition], _newest([partition]), at)[partition.pk]


def on_now(setup: Setup) -> frozenset[Step]:
    """The steps in force."""
    return frozenset(step for step in ORDER if is_on(step, setup))


def board_of(partition: Partition, *, at: datetime) -> Board:
    """All steps of one partition; figures for those that this board switched on."""
    (board,) = boards([partition], at=at)
    return board


def boards(partitions: Iterable[Partition], *, at: datetime) -> list[Board]:
    """The boards of some partitions, in their order; five queries, however many they are."""
    rows = list(partitions)
    newest = _newest(rows)
    setups = _setups(rows, newest, at)
    on = {row.pk: on_now(setups[row.pk]) for row in rows}
    measured = {key: move for key, move in newest.items() if move.on and key[1] in on[key[0]]}
    before = [(pk, move.at - BEFORE, move.at) for (pk, _step), move in measured.items()]
    after = [(pk, move.at, min(at, move.at + AFTER)) for (pk, _step), move in measured.items()]
    told = _figures([*before, *after])
    pairs = dict(zip(measured, zip(told, told[len(before) :], strict=False), strict=True))
    found = []
    for row in rows:
        steps = []
        for step in ORDER:
            first, second = pairs.get((row.pk, step), (None, None))
            steps.append(
                StepNow(
                    step=step,
                    on=step in on[row.pk],
                    missing=missing_before(step, on[row.pk]),
                    move=newest.get((row.pk, step)),
                    before=first,
                    after=second,
                )
            )
        found.append(Board(row, setups[row.pk].days, tuple(steps)))
    return found


def figures(partition: Partition, since: datetime, until: datetime) -> Figures:
    """The figures of one span; two queries."""
    (told,) = _figures([(partition.pk, since, until)])
    return told


def _newest(rows: Sequence[Partition]) -> dict[tuple[int, str], RolloutMove]:
    """The newest switch of each step, by partition and step."""
    moves = RolloutMove.objects.filter(partition__in=[row.pk for row in rows])
    moves = moves.order_by("partition_id", "step", "-pk").distinct("partition_id", "step")
    return {(move.partition_id, move.step): move for move in moves}


def _setups(
    rows: Sequence[Partition], newest: Mapping[tuple[int, str], RolloutMove], at: datetime
) -> dict[int, Setup]:
    places = [row.pk for row in rows]
    vendors: dict[int, set[str]] = {pk: set() for pk in places}
    cards = Card.objects.filter(partition__in=places).exclude(state="retired").order_by()
    for pk, vendor in cards.values_list("partition", "vendor").distinct():
        vendors[pk].add(vendor)
    days = measured_days(partitions=places, since=at - LOOKED_BACK, until=at)
    said = {pk: newest.get((pk, Step.LABELS.value)) for pk in places}
    return {
        row.pk: Setup(
            modes=tuple(row.modes),
            sharing=row.sharing,
            lending=row.lending,
            preemption=row.preemption,
            policy=row.policy,
            vendors=frozenset(vendors[row.pk]),
            days=days.get(row.pk, 0),
            labelled=(move := said[row.pk]) is not None and move.on,
        )
        for row in rows
    }


def _figures(spans: Sequence[tuple[int, datetime, datetime]]) -> list[Figures]:
    """Of partitions, each over its own span (key, since, until)."""
    if not spans:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_OF_SPANS, [list(column) for column in zip(*spans, strict=True)])
        rows = cursor.fetchall()
    return [
        Figures(
            since=since,
            until=until,
            use_milli=use,
            mean_cards=float(hours or 0.0) * 3600 / max(1.0, (until - since).total_seconds()),
            started=started,
            p50_wait_s=None if middle is None else float(middle),
            p95_wait_s=None if most is None else float(most),
        )
        for (_pk, since, until), use, (hours, started, middle, most) in zip(
            spans, use_in(spans), rows, strict=True
        )
    ]


_OF_SPANS = """
SELECT held.hours, began.number, began.middle, began.most
FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[])
    WITH ORDINALITY AS s(place, since, until, n)
CROSS JOIN LATERAL (
    SELECT sum(h.equivalents_micro::float8 * extract(epoch FROM
        least(coalesce(upper(h.held), s.until), s.until)
        - greatest(lower(h.held), s.since))) / 3600e6 AS hours
    FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id
    WHERE h.card_id IS NOT NULL AND p.partition_id = s.place
      AND h.held && tstzrange(s.since, s.until)
) AS held
CROSS JOIN LATERAL (
    SELECT count(*) AS number,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY w.waited) AS middle,
        percentile_cont(0.95) WITHIN GROUP (ORDER BY w.waited) AS most
    FROM (
        SELECT extract(epoch FROM w.started_at - w.queued_at)::float8 AS waited
        FROM pool_workload w
        WHERE w.started_at >= s.since AND w.started_at < s.until AND w.queued_at <= w.started_at
          AND EXISTS (SELECT 1 FROM pool_attempt a JOIN pool_placement p ON p.attempt_id = a.id
                      WHERE a.workload_id = w.id AND p.partition_id = s.place)
    ) AS w
) AS began
ORDER BY s.n
"""
