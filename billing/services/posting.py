"""From usage rows to the ledger: each hour that is over, card by card; repeats change nothing."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Min

from billing.models.cursors import Cursor
from billing.models.usage import KEPT_IDLE, Usage
from billing.rating.accounts import Account
from billing.rating.days import day_of, month_of
from billing.rating.intervals import HOUR_US, Span, micros, moment
from billing.rating.lines import Metered, Posted, Whose, card_lines, difference, host_lines
from billing.rating.tariffs import Rate, Tariff, Unit, tariffs
from billing.selectors.agreed import Agreed
from billing.selectors.cardhours import Busy, Life, busy, lives
from billing.selectors.holds import database_now
from billing.selectors.hours import HourRow, rows_of
from billing.selectors.prices import RateKey, rates_of
from billing.services.entries import Bills, Draft, entries_write
from pool.locks import METER
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.models.telemetry.rollups import HOUR_S, RollupDue
from pool.models.tenants import Organization

READER = "ledger"
READINGS = "ledger-readings"
"""Its mark of the condensed readings: they and the rows of the meter have clocks of their own."""

SETTLES = timedelta(minutes=5)
"""An hour is posted when it has been over for so long; what comes later is posted beside it."""

MOST_HOURS = 24
"""So many hours at one go: the meter and prices wait meanwhile."""

_POSTED = """
WITH e AS MATERIALIZED (
    SELECT id, scope, currency FROM billing_entry WHERE hour = %s AND kind = 'metered'
)
SELECT e.scope, e.currency, p.account, p.usage_id, p.organization_id, p.project_id, p.day,
    sum(p.micro), sum(p.card_us)
FROM e CROSS JOIN LATERAL (
    SELECT account, usage_id, organization_id, project_id, day,
        sum(amount_micro) AS micro, sum(card_us) AS card_us
    FROM billing_posting WHERE entry_id = e.id GROUP BY 1, 2, 3, 4, 5
) AS p
GROUP BY 1, 2, 3, 4, 5, 6, 7
"""
"""Entry by entry through the index: never a look at the whole ledger, whatever it has grown to."""

_SEEN = """
UPDATE billing_usage AS u SET used_us = n.used, known_us = n.known
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS n(id, used, known) WHERE u.id = n.id
"""

Key = tuple[str, str]
"""Scope and currency of an entry."""


@dataclass(frozen=True, slots=True)
class Done:
    """What one run did: hours looked at, postings written; `more` if some hours are left."""

    hours: int = 0
    postings: int = 0
    more: bool = False


@dataclass(slots=True)
class _Desk:
    """All that many hours share, read once."""

    agreed: Agreed
    rates: dict[RateKey, list[Rate]]
    cards: dict[int, Card]
    lives: dict[int, Life]
    homes: dict[int, Organization]
    lines: dict[tuple[int, str, str], tuple[Tariff, ...]]

    @classmethod
    def laid(cls, since: datetime, until: datetime) -> "_Desk":
        cards = {card.pk: card for card in Card.objects.all()}
        return cls(
            agreed=Agreed.now(),
            rates=rates_of(partitions=set(Partition.objects.values_list("pk", flat=True))),
            cards=cards,
            lives=lives(
                cards={card.uid: card for card in cards.values()}, since=since, until=until
            ),
            homes=Organization.objects.in_bulk(),
            lines={},
        )

    def line(self, partition: int | None, currency: str, label: str) -> tuple[Tariff, ...]:
        """The list rates of a whole card: those that name neither mode nor class."""
        if partition is None:
            return ()
        key = (partition, currency, label)
        if key not in self.lines:
            named = self.rates.get((partition, currency, Unit.CARD.value), ())
            plain = [one for one in named if not one.mode and not one.price_class]
            self.lines[key] = tariffs(plain, card_model=label, mode="", price_class="")
        return self.lines[key]

    def currencies(self, card: Card) -> set[str]:
        """In which of the organizations' currencies an idle card has a list price."""
        used = {home.currency for home in self.homes.values()}
        return {one for one in used if self.line(card.partition_id, one, card.label)}


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far the ledger has come, as one pass finds it.

    `agreed` counts the changes of what was agreed: a pass that finds another number stops, since
    what it has read counts no more. `seen` and `rolled` are up to when rows and readings are known.
    """

    agreed: int
    place: datetime
    changed: tuple[datetime, ...]
    seen: int
    rolled: int


def ledger_post(*, until: datetime | None = None, most: int = MOST_HOURS) -> Done:
    """Post the hours that are over and were not looked at, and those in which something changed.

    Each hour is its own transaction; the meter's lock keeps meters, prices and closing apart. When
    more hours have changed than are looked at in one go, all from the first of them on are. What is
    agreed anew meanwhile ends the pass, and the next one begins where it says.
    """
    end = _hour(until or database_now() - SETTLES)
    mark = _due(end)
    place, changed = mark.place, mark.changed
    if len(changed) > most:
        place, changed = changed[0], ()
    hours = [*changed, *_hours(place, end)]
    todo = hours[:most]
    if not todo:
        return Done()
    desk = _Desk.laid(min(todo), max(todo) + timedelta(hours=1))
    count = 0
    for done, hour in enumerate(todo):
        posted = _post_hour(hour, desk, mark.agreed)
        if posted is None:
            return Done(done, count, more=True)
        count += posted
    reached = max([place, *(hour + timedelta(hours=1) for hour in todo if hour >= place)])
    kept = _reach(mark, reached)
    return Done(len(todo), count, more=len(hours) > most or not kept)


@transaction.atomic
def ledger_repost(*, since: datetime) -> None:
    """Look at every hour from then on again: a price, a contract or a discount has changed.

    Before the month of the first usage there is nothing to look at. Call it inside the transaction
    that holds the meter's lock; a pass that runs sees it before its next hour.
    """
    Cursor.objects.get_or_create(name=READER)
    row = Cursor.objects.select_for_update().get(name=READER)
    first = Usage.objects.aggregate(first=Min("hour"))["first"]
    hour = micros(max(_hour(since), _month_before(first))) if first is not None else row.event
    Cursor.objects.filter(pk=row.pk).update(event=min(row.event, hour), epoch=row.epoch + 1)


def _month_before(first: datetime) -> datetime:
    """When its month had begun in every zone: free cards of those days may be shared, too."""
    return _hour(first).replace(day=1, hour=0) - timedelta(days=1)


@transaction.atomic
def _reach(mark: _Mark, reached: datetime) -> bool:
    """Say how far the pass came; False where something was agreed anew meanwhile."""
    own = Cursor.objects.filter(name=READER, epoch=mark.agreed)
    if not own.update(event=micros(reached), xact=mark.seen):
        return False
    Cursor.objects.update_or_create(name=READINGS, defaults={"event": mark.rolled})
    return True


@transaction.atomic
def _due(end: datetime) -> _Mark:
    """The next hour that was never posted, posted hours with changed rows, and up to when seen.

    The meter's lock is held: no row with an earlier moment can come after what is seen here.
    """
    _lock_meter()
    row, _made = Cursor.objects.get_or_create(name=READER)
    rolled = Cursor.objects.filter(name=READINGS).values_list("event", flat=True).first() or 0
    first = Usage.objects.aggregate(first=Min("hour"))["first"]
    begin = first if first is not None else end
    place = min(moment(row.event) if row.event else begin, end)
    rows = Usage.objects.filter(hour__lt=place, metered_at__gt=moment(row.xact))
    changed = set(rows.values_list("hour", flat=True).distinct())
    readings = RollupDue.objects.filter(step=HOUR_S)
    anew = readings.filter(at__lt=place, rolled_at__gt=moment(rolled))
    changed |= {hour for hour in anew.values_list("at", flat=True) if hour >= begin}
    newest = Usage.objects.aggregate(at=Max("metered_at"))["at"]
    read = readings.aggregate(at=Max("rolled_at"))["at"]
    return _Mark(
        agreed=row.epoch,
        place=place,
        changed=tuple(sorted(changed)),
        seen=max(row.xact, micros(newest)) if newest is not None else row.xact,
        rolled=max(rolled, micros(read)) if read is not None else rolled,
    )


def _lock_meter() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [METER])


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _hours(begin: datetime, end: datetime) -> list[datetime]:
    count = max(0, (micros(end) - micros(begin)) // HOUR_US)
    return [begin + timedelta(hours=n) for n in range(count)]


@transaction.atomic
def _post_hour(hour: datetime, desk: _Desk, agreed: int) -> int | None:
    """How many postings; None where something was agreed since the desk was laid."""
    _lock_meter()
    if not Cursor.objects.filter(name=READER, epoch=agreed).exists():
        return None
    bills = Bills.now()
    span = Span(micros(hour), micros(hour) + HOUR_US)
    rows = rows_of(hour)
    _measured([row for row in rows if _open(row, desk, bills)], busy(hour=hour))
    by_card: dict[int, list[Metered]] = defaultdict(list)
    by_home: dict[tuple[int, str], list[Metered]] = defaultdict(list)
    for row in rows:
        told = _metered(row, desk)
        if row.card_id is None:
            by_home[row.organization_id, row.currency].append(told)
        else:
            by_card[row.card_id].append(told)
    places = {row.card_id: row.partition_id for row in rows}
    wanted: dict[Key, list[Posted]] = {}
    for card in desk.cards.values():
        for currency, lines in _of_card(card, span, by_card[card.pk], places, desk):
            wanted[f"card:{card.pk}", currency] = lines
    for (home, currency), told_rows in by_home.items():
        wanted[f"host:{home}", currency] = host_lines(told_rows, day=hour.date())
    return _write(hour, wanted, bills)


def _of_card(
    card: Card,
    span: Span,
    rows: list[Metered],
    places: dict[int | None, int | None],
    desk: _Desk,
) -> Iterable[tuple[str, list[Posted]]]:
    life = desk.lives[card.pk]
    here = span.cut(life.here)
    if not here.length_us and not rows:
        return
    partition = places.get(card.pk) or card.partition_id
    for currency in sorted({row.currency for row in rows} | desk.currencies(card)):
        line = desk.line(partition, currency, card.label)
        down = [span.cut(one) for one in life.down]
        lines = card_lines(
            rows,
            currency=currency,
            span=here if here.length_us else span,
            line=line,
            down=[one for one in down if one.length_us],
        )
        if lines:
            yield currency, lines


def _metered(row: HourRow, desk: _Desk) -> Metered:
    home = desk.homes[row.organization_id]
    card = desk.cards.get(row.card_id or 0)
    contract = desk.agreed.contract(home.pk, day_of(row.starts_at, home.zone))
    return Metered(
        key=row.pk,
        whose=Whose(row.organization_id, row.project_id),
        zone=home.zone,
        currency=row.currency,
        span=Span(micros(row.starts_at), micros(row.ends_at)),
        micro=row.equivalents_micro,
        amount_micro=row.amount_micro,
        reserved_us=row.reserved_us,
        memory_milli=min(1000, row.memory_mib * 1000 // card.memory_mib) if card else 0,
        compute_milli=row.compute_milli,
        used_us=row.used_us,
        known_us=row.known_us,
        billable=row.billable,
        kept=row.kind == KEPT_IDLE,
        licence_micro=row.licence_micro,
        terms=desk.agreed.terms(contract),
        cuts=desk.agreed.cuts(row, home.zone),
        strands=contract.stranded_by == "holders",
        pays_kept=contract.guarantee_by == "holders",
    )


def _open(row: HourRow, desk: _Desk, bills: Bills) -> bool:
    """Whether its month may still be split anew by what is read late: never a closed one."""
    day = day_of(row.starts_at, desk.homes[row.organization_id].zone)
    return bills.bill(row.organization_id, day) == month_of(day)


def _measured(rows: list[HourRow], found: dict[tuple[int, int | None, int], Busy]) -> None:
    """Write down beside the rows what was seen of them."""
    changed = []
    for row in rows:
        if row.card_id is None or row.attempt_id is None:
            continue
        seen = found.get((row.card_id, row.slice_id, row.attempt_id))
        seen = seen or found.get((row.card_id, None, row.attempt_id))
        known = min(row.reserved_us, seen.known_us) if seen else 0
        used = min(known, seen.used_us) if seen else 0
        if (row.known_us, row.used_us) != (known, used):
            row.known_us, row.used_us = known, used
            changed.append(row)
    if changed:
        with connection.cursor() as cursor:
            cursor.execute(
                _SEEN,
                [
                    [row.pk for row in changed],
                    [row.used_us for row in changed],
                    [row.known_us for row in changed],
                ],
            )


def _write(hour: datetime, wanted: dict[Key, list[Posted]], bills: Bills) -> int:
    posted = _posted(hour)
    drafts = []
    for key in sorted({*wanted, *posted}):
        lines = difference(wanted.get(key, []), posted.get(key, {}))
        if lines:
            drafts.append(Draft(key[0], hour, key[1], lines))
    return entries_write(drafts, bills=bills, now=database_now())


def _posted(hour: datetime) -> dict[Key, dict[Posted, tuple[int, int]]]:
    """What the ledger says of an hour, summed."""
    with connection.cursor() as cursor:
        cursor.execute(_POSTED, [hour])
        rows: list[Any] = cursor.fetchall()
    found: dict[Key, dict[Posted, tuple[int, int]]] = defaultdict(dict)
    for scope, currency, account, usage, home, project, day, micro, card_us in rows:
        bare = Posted(Account(account), usage, Whose(home, project), day, 0, 0)
        found[scope, currency][bare] = (int(micro), int(card_us))
    return found
