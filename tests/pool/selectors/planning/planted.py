"""Planted weeks: holds and hourly readings written as they would stand after a month."""

from datetime import timedelta

from django.db import connection
from django.db.backends.postgresql.psycopg_any import NumericRange
from psycopg.types.range import TimestamptzRange

from pool.models import Attempt, Hold, Placement, Slice, Workload
from pool.models.telemetry.rollups import METRICS, PLACE
from tests import rows


def ran(*, card, into, since, until, version=None, waited=0.0, micro=1_000_000):
    """Work that held one whole card for that time, after it waited so many seconds."""
    work = rows.workload(into=into, version=version, state="succeeded")
    queued = since - timedelta(seconds=waited)
    Workload.objects.filter(pk=work.pk).update(
        queued_at=queued, started_at=since, ended_at=until, asked_micro=micro
    )
    attempt = Attempt.objects.create(
        workload=work,
        number=1,
        node=card.node,
        state="ended",
        started_at=since,
        ended_at=until,
    )
    span = TimestamptzRange(since, until)
    piece = Slice.objects.create(
        card=card,
        mode="whole",
        isolation="hardware",
        profile="whole",
        span=NumericRange(0, 1),
        lived=span,
        memory_mib=card.memory_mib,
        compute_milli=1000,
        equivalents_micro=micro,
        state="gone",
    )
    placement = Placement.objects.create(
        attempt=attempt, state="closed", opened_at=since, closed_at=until
    )
    Hold.objects.create(
        placement=placement,
        slice=piece,
        card=card,
        node=card.node,
        mode="whole",
        isolation="hardware",
        trust=into.trust_group_id,
        fenced=True,
        held=span,
        equivalents_micro=micro,
    )
    return work, attempt, piece


def measured(*, card, hours, piece=None, attempt=None, **values):
    """Readings of whole hours, all known; what is not named is unknown."""
    mean = [None] * len(METRICS)
    known = [0.0] * len(METRICS)
    for name, value in values.items():
        mean[PLACE[name]], known[PLACE[name]] = float(value), 3600.0
    with connection.cursor() as cursor:
        for month in {at.date().replace(day=1) for at in hours}:
            cursor.execute("SELECT pool_rollup_hour_for(%s)", [month])
        cursor.executemany(
            "INSERT INTO pool_rollup_hour"
            " (at, card_id, slice_id, attempt_id, seconds, mean, p95, peak, known)"
            " VALUES (%s, %s, %s, %s, 3600, %s, %s, %s, %s)",
            [
                (
                    at,
                    card.pk,
                    piece.pk if piece else None,
                    attempt.pk if attempt else None,
                    mean,
                    mean,
                    mean,
                    known,
                )
                for at in hours
            ],
        )


def hours(since, number):
    """So many hours in a row."""
    return [since + timedelta(hours=at) for at in range(number)]
