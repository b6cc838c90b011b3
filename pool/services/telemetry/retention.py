"""Tables for the days to come, and an end for those that have been kept long enough."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db import connection

from pool.models.cards import Card
from pool.rules.telemetry import kept
from pool.selectors.calendar.policies import numbers_now
from pool.services.telemetry.rollups import rollups_forget

AHEAD_DAYS = 2


@dataclass(frozen=True, slots=True)
class Family:
    """One table that is split by day or month; `maker` makes the one of a day."""

    table: str
    maker: str
    monthly: bool = False

    def name(self, day: date) -> str:
        """The table that a day lies in."""
        return f"{self.table}_{day:%Y%m}" if self.monthly else f"{self.table}_{day:%Y%m%d}"


RAW = Family("pool_sample", "pool_sample_day")
MINUTE = Family("pool_rollup_minute", "pool_rollup_minute_for")
HOUR = Family("pool_rollup_hour", "pool_rollup_hour_for", monthly=True)


def tables_ahead(*, today: date) -> None:
    """Make the tables of today and the next days: rows never wait for one."""
    with connection.cursor() as cursor:
        for ahead in range(AHEAD_DAYS + 1):
            for family in (RAW, MINUTE, HOUR):
                cursor.execute(f"SELECT {family.maker}(%s)", [today + timedelta(days=ahead)])  # noqa: S608


def tables_drop(*, today: date) -> int:
    """Drop whole what is older than the numbers in force keep; how many tables went.

    Rows of days for which no table was there in time lie in the default one: they go singly.
    """
    keeps = kept(cards=Card.objects.count(), numbers=numbers_now())
    dropped = 0
    for family, days in (
        (RAW, keeps.raw_days),
        (MINUTE, keeps.minute_days),
        (HOUR, keeps.hour_days),
    ):
        dropped += _drop(family, today - timedelta(days=days))
    raw_since = today - timedelta(days=keeps.raw_days)
    rollups_forget(before=datetime.combine(raw_since, time(), UTC))
    return dropped


def _drop(family: Family, since: date) -> int:
    digits = 6 if family.monthly else 8
    with connection.cursor() as cursor:
        cursor.execute(
            f"DELETE FROM {family.table}_default WHERE at < %s::timestamp AT TIME ZONE 'UTC'",  # noqa: S608
            [since],
        )
        cursor.execute(
            "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
            "WHERE i.inhparent = %s::regclass AND c.relname ~ %s AND c.relname < %s ORDER BY 1",
            [family.table, f"^{family.table}_[0-9]{{{digits}}}$", family.name(since)],
        )
        names = [name for (name,) in cursor.fetchall()]
        for name in names:
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}")
    return len(names)
