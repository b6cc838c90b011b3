"""Readings condensed by the minute and the hour, again whenever late ones have come."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction
from django.db.models import F, Q

from pool.clock import now
from pool.models.telemetry.rollups import BATCH_S, HOUR_S, MINUTE_S, ROLLED, RollupDue

SETTLE = timedelta(seconds=60)
"""A batch that is stored as a stretch is condensed may not have been seen: so long after it was
touched the stretch is condensed once more."""

QUIET = timedelta(seconds=10)
"""A stretch touched so lately is not marked again: a thousand nodes would queue for its row."""

PATIENCE = {MINUTE_S: timedelta(0), HOUR_S: timedelta(minutes=5)}
"""How long after it was condensed a stretch that still goes on is condensed anew."""

_TABLE = {MINUTE_S: "pool_rollup_minute", HOUR_S: "pool_rollup_hour"}


def stretch(moment: datetime, step: int) -> datetime:
    """The start of the stretch of ten minutes or of one hour that the moment lies in."""
    size = BATCH_S[step]
    seconds = int(moment.timestamp())
    return datetime.fromtimestamp(seconds - seconds % size, tz=UTC)


def rollups_touched(*, moments: Iterable[datetime]) -> None:
    """Note that readings of these moments have come. Call it in their transaction."""
    found = {(step, stretch(moment, step)) for moment in moments for step in BATCH_S}
    if not found:
        return
    at = now()
    fresh = Q(touched_at__gt=at - QUIET, touched_at__lte=at)
    starts = {start for _step, start in found}
    known = RollupDue.objects.filter(fresh, at__in=starts).values_list("step", "at")
    stale = sorted(found - set(known))
    RollupDue.objects.bulk_create(
        [RollupDue(step=step, at=start, touched_at=at) for step, start in stale],
        update_conflicts=True,
        unique_fields=["step", "at"],
        update_fields=["touched_at"],
    )


def rollups_due(*, most: int = 60) -> int:
    """Condense what has been touched since; how many stretches were. Safe to repeat, or beside
    itself: a stretch that another process is at is left to it.
    """
    done = 0
    for _turn in range(most):
        with transaction.atomic():
            due = _next()
            if due is None:
                break
            _condense(due.step, due.at)
            RollupDue.objects.filter(pk=due.pk).update(rolled_at=now())
        done += 1
    return done


def rollups_forget(*, before: datetime) -> int:
    """Drop the notes of stretches whose readings are gone; how many went."""
    gone, _each = RollupDue.objects.filter(at__lt=before).delete()
    return gone


def _next() -> RollupDue | None:
    at = now()
    late = Q(rolled_at=None) | Q(touched_at__gte=F("rolled_at") - SETTLE)
    ready = Q()
    for step, patience in PATIENCE.items():
        over = Q(at__lte=at - timedelta(seconds=BATCH_S[step]))
        again = Q(rolled_at=None) | Q(rolled_at__lte=at - max(patience, QUIET))
        over_again = Q(rolled_at=None) | Q(rolled_at__lte=at - QUIET)
        ready |= Q(step=step) & ((over & over_again) | again)
    rows = RollupDue.objects.select_for_update(skip_locked=True).filter(late & ready)
    return rows.order_by("step", "-at").first()


def _condense(step: int, start: datetime) -> None:
    """Put the stretch's rows in place of those that were there."""
    end = start + timedelta(seconds=BATCH_S[step])
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_TABLE[step]} WHERE at >= %s AND at < %s", [start, end])  # noqa: S608
        cursor.execute(_SQL[step], [f"{step} seconds", start, end])


def _array(template: str) -> str:
    return ", ".join(template.format(mean=mean, peak=peak) for _name, mean, peak in ROLLED)


def _statement(step: int) -> str:
    """One pass over the raw rows. Names come from ROLLED alone, never from outside."""
    mean = _array(
        "(sum({mean} * seconds) / nullif(sum(seconds) FILTER (WHERE {mean} IS NOT NULL), 0))::real"
    )
    p95 = _array("(percentile_cont(0.95) WITHIN GROUP (ORDER BY {mean}))::real")
    peak = _array("max(greatest({peak}, {mean}))::real")
    known = _array("coalesce(sum(seconds) FILTER (WHERE {mean} IS NOT NULL), 0)::real")
    return (
        f"INSERT INTO {_TABLE[step]} "  # noqa: S608
        "(at, card_id, slice_id, attempt_id, seconds, mean, p95, peak, known) "
        "SELECT date_bin(%s::interval, at, 'epoch'), card_id, slice_id, attempt_id, sum(seconds), "
        f"ARRAY[{mean}], {f'ARRAY[{p95}]' if step == HOUR_S else 'NULL'}, "
        f"ARRAY[{peak}], ARRAY[{known}] "
        "FROM pool_sample WHERE at >= %s AND at < %s GROUP BY 1, 2, 3, 4"
    )


_SQL = {step: _statement(step) for step in BATCH_S}
