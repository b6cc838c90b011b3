"""The meter of kept cards: what of them their own leases left idle is paid as well."""

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime, timedelta

from django.db.models import Max, OuterRef, Q, QuerySet, Subquery

from billing.models.usage import KEPT_IDLE, Usage
from billing.rating.intervals import HOUR_US, micros, moment
from billing.rating.kept import CARD_MICRO
from billing.selectors.kept import IdleHour, KeptCard, kept_cards
from billing.services.whose import stays
from nodeagent.protocol.vocabulary import Mode
from pool.models.reservations import ReservedCard

_SEEN = frozenset({"used_us", "known_us"})
_FIXED = _SEEN | {"id", "uid", "kept_id", "hour", "revision", "metered_at"}
_TOLD = tuple(f.attname for f in Usage._meta.concrete_fields if f.attname not in _FIXED)
_WRITTEN = [
    f.name
    for f in Usage._meta.concrete_fields
    if f.name not in _SEEN | {"id", "uid", "kept", "hour"}
]


def kept_meter(
    *, reservations: Collection[str] | None, now: datetime, after: timedelta = timedelta()
) -> int:
    """Bring the rows of kept cards to what the books say now; how many were written.

    Of the reservations named, from their beginning; with None, of all that are still kept and were
    not looked at for `after`, from the hour that still ran. Rows that already agree stay.
    """
    rows = ReservedCard.objects.filter(reservation__began_at__isnull=False)
    if reservations is None:
        found = kept_cards(rows=rows.filter(_due(now, after)), until=now)
    elif reservations:
        found = kept_cards(rows=rows.filter(reservation__uid__in=reservations), until=now)
    else:
        return 0
    return _write(found, now, running_only=reservations is None)


def _due(now: datetime, after: timedelta) -> Q:
    """Cards still kept that were not looked at for a while, or not since the hour began."""
    hour = moment(micros(now) - micros(now) % HOUR_US)
    latest = Usage.objects.filter(kept=OuterRef("pk")).order_by("-hour").values("ends_at")[:1]
    live: QuerySet[ReservedCard] = ReservedCard.objects.filter(
        live=True, reservation__began_at__isnull=False, reservation__over_at=None
    ).annotate(metered=Subquery(latest))
    late = Q(metered=None) | Q(metered__lte=now - after) | Q(metered__lt=hour)
    return Q(pk__in=live.filter(late).values("pk"))


def _write(cards: list[KeptCard], now: datetime, *, running_only: bool) -> int:
    rows = Usage.objects.filter(kept__in=[one.row.pk for one in cards])
    since = {}
    if running_only:
        newest = rows.order_by().values("kept").annotate(newest=Max("hour"))
        since = {one["kept"]: micros(one["newest"]) for one in newest}
        rows = rows.filter(running=True)
    known = {(row.kept_id, row.hour): row for row in rows}
    written: list[Usage] = []
    for one in cards:
        hours = one.hours(now, since_us=since.get(one.row.pk, 0))
        for part in hours:
            wanted = _row(one, part, now, running=one.open(now) and part is hours[-1])
            found = known.pop((one.row.pk, wanted.hour), None)
            if found is not None:
                stays(found, wanted)
            if found is None or any(getattr(found, n) != getattr(wanted, n) for n in _TOLD):
                wanted.revision = found.revision + 1 if found else 1
                written.append(wanted)
    written += [_emptied(row, now) for row in known.values() if row.reserved_us]
    Usage.objects.bulk_create(
        written, update_conflicts=True, unique_fields=["kept", "hour"], update_fields=_WRITTEN
    )
    return len(written)


def _row(one: KeptCard, part: IdleHour, now: datetime, *, running: bool) -> Usage:
    kept, whole = one.row, one.row.reservation
    assert whole.lease is not None
    return Usage(
        kind=KEPT_IDLE,
        kept=kept,
        hour=moment(part.hour_us),
        starts_at=moment(part.span.start_us),
        ends_at=moment(part.span.end_us),
        reserved_us=part.idle_us,
        running=running,
        charges=[asdict(line) for line in part.lines],
        amount_micro=part.micro,
        metered_at=now,
        card_id=kept.card_id,
        card_model=kept.card.label,
        mode=Mode.WHOLE,
        equivalents_micro=CARD_MICRO,
        memory_mib=kept.card.memory_mib,
        compute_milli=1000,
        cpu_milli=0,
        ram_mib=0,
        disk_mib=0,
        organization_id=one.organization,
        project_id=whole.project_id,
        owner_id=whole.request.requester_id,
        cost_centre=whole.project.cost_centre,
        partition_id=whole.partition_id,
        price_class=whole.lease.template_version.price_class,
        currency=one.currency,
    )


def _emptied(row: Usage, now: datetime) -> Usage:
    """It was not kept in that hour after all: the row stays, with nothing in it."""
    row.ends_at, row.reserved_us, row.running = row.starts_at, 0, False
    row.amount_micro, row.charges = 0, []
    row.revision, row.metered_at = row.revision + 1, now
    row.pk = None
    return row
