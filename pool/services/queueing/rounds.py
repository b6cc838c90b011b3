"""One line for every round that did something, and sums over all of them."""

from datetime import timedelta

from django.db import connection

from pool.clock import now
from pool.models.rounds import BUCKETS_MS, Round

QUIET_EVERY = timedelta(minutes=1)
"""Of rounds that changed nothing one is kept in so long: it shows that rounds are made."""

KEPT = timedelta(days=14)
"""Lines older than this are dropped; the sums stay."""

_SUMS = """
INSERT INTO pool_roundtotal AS sums
    (id, rounds, placed, carving, preempted, stale, taken_us, planned_us, committed_us, buckets)
VALUES (1, 1, %s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (id) DO UPDATE SET
    rounds = sums.rounds + 1,
    placed = sums.placed + excluded.placed,
    carving = sums.carving + excluded.carving,
    preempted = sums.preempted + excluded.preempted,
    stale = sums.stale + excluded.stale,
    taken_us = sums.taken_us + excluded.taken_us,
    planned_us = sums.planned_us + excluded.planned_us,
    committed_us = sums.committed_us + excluded.committed_us,
    buckets = (
        SELECT array_agg(before + more ORDER BY place)
        FROM unnest(sums.buckets, excluded.buckets) WITH ORDINALITY AS one(before, more, place)
    )
"""


def round_kept(*, made: Round) -> None:
    """Count a round, and keep its line unless it was quiet just after another one.

    `made` is not saved yet. Only the holder of the round's lock calls this.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _SUMS,
            [
                made.placed,
                made.carving,
                made.preempted,
                made.stale,
                made.taken_us,
                made.planned_us,
                made.committed_us,
                _bucket(made.took_us / 1000),
            ],
        )
    recent = Round.objects.filter(at__gt=made.at - QUIET_EVERY)
    if not made.quiet or not recent.exists():
        made.save(force_insert=True)


def rounds_forget() -> int:
    """Drop lines that were kept long enough; how many went."""
    return Round.objects.filter(at__lt=now() - KEPT).delete()[0]


def _bucket(took_ms: float) -> list[int]:
    """A one in the class of this duration, nought in the others."""
    place = sum(took_ms > end for end in BUCKETS_MS)
    return [int(place == one) for one in range(len(BUCKETS_MS) + 1)]
