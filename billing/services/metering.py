"""The meter: from the log of holds to usage rows, after a cursor; repeats do no harm."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery

from billing.models.cursors import Cursor
from billing.models.usage import Usage
from billing.rating.intervals import HOUR_US, micros, moment
from billing.selectors.holds import HeldPart, RatedHold, database_now, rated_holds
from billing.services.keeping import kept_meter
from billing.services.whose import stays
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Priority
from pool.locks import METER
from pool.models.partitions import Partition
from pool.models.placements import Hold
from pool.selectors.events import Page, Place, events_after

READER = "metering"
YIELDING = frozenset({Priority.LOW, Priority.SCAVENGER})
"""Priorities that give way to anybody: what runs so is preemptible."""

KINDS = frozenset(
    {
        EventKind.PLACEMENT_OPENED,
        EventKind.PLACEMENT_CLOSED,
        EventKind.HOLD_CORRECTED,
        EventKind.RESERVATION_MOVED,
    }
)
EXTEND_AFTER = timedelta(seconds=60)
"""An open hold's running row is written again this often; pages compute what is missing."""

RERATED_AT_ONCE = 2000
"""So many holds are rated in one piece when a price changes."""

_SEEN = frozenset({"used_us", "known_us"})
"""Columns that the ledger writes."""

_FIXED = _SEEN | {"id", "uid", "hold_id", "hour", "revision", "metered_at"}
_TOLD = tuple(f.attname for f in Usage._meta.concrete_fields if f.attname not in _FIXED)
_WRITTEN = [
    f.name
    for f in Usage._meta.concrete_fields
    if f.name not in _SEEN | {"id", "uid", "hold", "hour"}
]


@dataclass(frozen=True, slots=True)
class Metered:
    """What one run did: events read, holds looked at, rows written; `busy` if another runs."""

    events: int = 0
    holds: int = 0
    rows: int = 0
    busy: bool = False


def usage_meter(*, page: int = 2000) -> Metered:
    """Take in all that the log holds, then extend what is still held; each page its own commit."""
    events = holds = rows = 0
    while True:
        done, more = _meter_page(page)
        events, holds, rows = events + done.events, holds + done.holds, rows + done.rows
        if not more:
            return Metered(events, holds, rows, done.busy)


@transaction.atomic
def _meter_page(limit: int) -> tuple[Metered, bool]:
    """One stretch of the log. Of two meters the second finds the lock taken and leaves."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [METER])
        if not cursor.fetchone()[0]:
            return Metered(busy=True), False
    row, _ = Cursor.objects.get_or_create(name=READER)
    page = events_after(place=Place(row.epoch, row.xact, row.event), kinds=KINDS, limit=limit)
    now = database_now()
    named = _named(page)
    holds = rated_holds(holds=Hold.objects.filter(_spoken(named)), as_written=True)
    rows = _write(holds, now) + kept_meter(reservations=named["reservation"], now=now)
    if not page.full:
        due = rated_holds(holds=Hold.objects.filter(_due(now)), as_written=True)
        rows += _write(due, now, running_only=True)
        rows += kept_meter(reservations=None, now=now, after=EXTEND_AFTER)
        holds += due
    Cursor.objects.filter(pk=row.pk).update(
        epoch=page.place.epoch, xact=page.place.xact, event=page.place.event
    )
    return Metered(len(page.subjects), len(holds), rows), page.full


def usage_rerate(*, partition: Partition, since: datetime, now: datetime) -> int:
    """Rate again what was held in a partition since then; how many rows changed.

    Call it inside a transaction that holds the meter's lock, after a price has changed.
    """
    rows = Usage.objects.filter(partition=partition, ends_at__gt=since)
    holds = rows.filter(hold__isnull=False).order_by("hold")
    named = list(holds.values_list("hold", flat=True).distinct())
    changed = 0
    for begin in range(0, len(named), RERATED_AT_ONCE):
        some = named[begin : begin + RERATED_AT_ONCE]
        changed += _write(rated_holds(holds=Hold.objects.filter(pk__in=some), as_written=True), now)
    kept = rows.filter(kept__isnull=False).values_list("kept__reservation__uid", flat=True)
    return changed + kept_meter(reservations=set(kept), now=now)


def _named(page: Page) -> dict[str, set[str]]:
    """Whom the log speaks of, by noun; its subjects are `noun:uid`."""
    named: dict[str, set[str]] = {"placement": set(), "hold": set(), "reservation": set()}
    for _, subject in page.subjects:
        noun, _, uid = subject.partition(":")
        named.setdefault(noun, set()).add(uid)
    return named


def _spoken(named: dict[str, set[str]]) -> Q:
    """The holds among them."""
    return Q(placement__uid__in=named["placement"]) | Q(uid__in=named["hold"])


def _due(now: datetime) -> Q:
    """Open holds that were not looked at for a while, or not since the hour began."""
    hour = moment(micros(now) - micros(now) % HOUR_US)
    latest = Usage.objects.filter(hold=OuterRef("pk")).order_by("-hour").values("ends_at")[:1]
    opened: QuerySet[Hold] = Hold.objects.filter(held__upper_inf=True)
    opened = opened.annotate(metered=Subquery(latest))
    late = Q(metered=None) | Q(metered__lte=now - EXTEND_AFTER) | Q(metered__lt=hour)
    return Q(pk__in=opened.filter(late).values("pk"))


def _write(holds: list[RatedHold], now: datetime, *, running_only: bool = False) -> int:
    """Bring the rows of these holds to what the books say now; rows that already agree stay.

    `running_only` goes on from the hour that still ran at the last look.
    """
    rows = Usage.objects.filter(hold__in=[one.hold.pk for one in holds])
    known = {(row.hold_id, row.hour): row for row in _since(rows, running_only)}
    since = {hold: micros(hour) for hold, hour in known} if running_only else {}
    written = []
    for one in holds:
        for part in one.parts(now, since_us=since.get(one.hold.pk, 0)):
            wanted = _row(one, part, now)
            found = known.pop((wanted.hold_id, wanted.hour), None)
            if found is not None:
                stays(found, wanted)
            if found is None or _differs(found, wanted):
                wanted.revision = found.revision + 1 if found else 1
                written.append(wanted)
    written += [_emptied(row, now) for row in known.values() if row.reserved_us]
    written.sort(key=lambda row: (row.hold_id, row.hour))
    Usage.objects.bulk_create(
        written, update_conflicts=True, unique_fields=["hold", "hour"], update_fields=_WRITTEN
    )
    return len(written)


def _since(rows: QuerySet[Usage], running_only: bool) -> QuerySet[Usage]:
    return rows.filter(running=True) if running_only else rows


def _row(one: RatedHold, part: HeldPart, now: datetime) -> Usage:
    hold = one.hold
    return Usage(
        hold=hold,
        hour=moment(part.hour_us),
        starts_at=moment(part.span.start_us),
        ends_at=moment(part.span.end_us),
        reserved_us=part.span.length_us,
        running=part.running,
        corrected=hold.corrected_s is not None,
        charges=[asdict(line) for line in part.charge.lines],
        amount_micro=part.charge.micro,
        metered_at=now,
        card_id=hold.card_id,
        card_model=hold.card.label if hold.card else "",
        mode=hold.mode,
        equivalents_micro=hold.equivalents_micro,
        memory_mib=hold.memory_mib,
        compute_milli=hold.compute_milli,
        cpu_milli=hold.cpu_milli,
        ram_mib=hold.ram_mib,
        disk_mib=hold.disk_mib,
        **_whose(one),
    )


def _whose(one: RatedHold) -> dict[str, Any]:
    placement = one.hold.placement
    attempt = placement.attempt
    workload = attempt.workload
    return {
        "billable": attempt.billable,
        "borrowed": not placement.entitled,
        "organization_id": one.organization,
        "project_id": workload.project_id,
        "owner_id": workload.owner_id,
        "workload_id": workload.pk,
        "attempt_id": attempt.pk,
        "cost_centre": workload.project.cost_centre,
        "partition_id": placement.partition_id,
        "price_class": workload.template_version.price_class,
        "preemptible": workload.preemptible or workload.priority in YIELDING,
        "currency": one.currency,
    }


def _differs(found: Usage, wanted: Usage) -> bool:
    return any(getattr(found, name) != getattr(wanted, name) for name in _TOLD)


def _emptied(row: Usage, now: datetime) -> Usage:
    """The hold turned out not to reach into this hour: the row stays, with nothing in it."""
    row.ends_at, row.reserved_us, row.running = row.starts_at, 0, False
    row.amount_micro, row.charges = 0, []
    row.revision, row.metered_at = row.revision + 1, now
    row.pk = None
    return row
