"""Readings condensed by the minute (a table a day) and by the hour (a table a month)."""

import django.contrib.postgres.fields
from django.db import migrations, models


def _table(name: str) -> str:
    return f"""
CREATE TABLE pool_rollup_{name} (
    at timestamptz NOT NULL,
    card_id bigint NOT NULL,
    slice_id bigint,
    attempt_id bigint,
    seconds real NOT NULL,
    mean real[] NOT NULL,
    p95 real[],
    peak real[] NOT NULL,
    known real[] NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE pool_rollup_{name}_default PARTITION OF pool_rollup_{name} DEFAULT;
CREATE INDEX pool_rollup_{name}_card ON pool_rollup_{name} (card_id, at);
CREATE INDEX pool_rollup_{name}_attempt ON pool_rollup_{name} (attempt_id, at)
    WHERE attempt_id IS NOT NULL;
"""


def _maker(name: str, unit: str, stamp: str) -> str:
    """A function that makes the table of the day or month that a day lies in."""
    return _FUNCTION.replace("NAME", name).replace("UNIT", unit).replace("STAMP", stamp)


_FUNCTION = """
CREATE FUNCTION pool_rollup_NAME_for(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    first timestamp := date_trunc('UNIT', day::timestamp);
    starts timestamptz := first AT TIME ZONE 'UTC';
    ends timestamptz := (first + interval '1 UNIT') AT TIME ZONE 'UTC';
    name text := 'pool_rollup_NAME_' || to_char(first, 'STAMP');
BEGIN
    IF to_regclass(name) IS NOT NULL THEN RETURN; END IF;
    IF EXISTS (SELECT 1 FROM pool_rollup_NAME_default WHERE at >= starts AND at < ends) THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I PARTITION OF pool_rollup_NAME FOR VALUES FROM (%L) TO (%L)',
        name, starts, ends);
END $$;
"""

TABLES = (
    _table("minute")
    + _table("hour")
    + _maker("minute", "day", "YYYYMMDD")
    + _maker("hour", "month", "YYYYMM")
    + """
SELECT pool_rollup_minute_for((now() AT TIME ZONE 'UTC')::date + n) FROM generate_series(0, 2) AS n;
SELECT pool_rollup_hour_for((now() AT TIME ZONE 'UTC')::date);
"""
)
BACK = """
DROP FUNCTION pool_rollup_minute_for(date);
DROP FUNCTION pool_rollup_hour_for(date);
DROP TABLE pool_rollup_minute;
DROP TABLE pool_rollup_hour;
"""

_NUMBERS = django.contrib.postgres.fields.ArrayField


def _fields() -> list[tuple[str, models.Field]]:
    """What both kinds of row have."""
    unknown = {"base_field": models.FloatField(null=True), "size": None}
    return [
        ("at", models.DateTimeField(primary_key=True, serialize=False)),
        ("card_id", models.BigIntegerField()),
        ("slice_id", models.BigIntegerField(null=True)),
        ("attempt_id", models.BigIntegerField(null=True)),
        ("seconds", models.FloatField()),
        ("mean", _NUMBERS(**unknown)),
        ("p95", _NUMBERS(**unknown, null=True)),
        ("peak", _NUMBERS(**unknown)),
        ("known", _NUMBERS(base_field=models.FloatField(), size=None)),
    ]


class Migration(migrations.Migration):
    dependencies = [("pool", "0022_notebooks_and_idle_rules")]

    operations = [
        migrations.CreateModel(
            name="MinuteRollup",
            fields=_fields(),
            options={"db_table": "pool_rollup_minute", "managed": False},
        ),
        migrations.CreateModel(
            name="HourRollup",
            fields=_fields(),
            options={"db_table": "pool_rollup_hour", "managed": False},
        ),
        migrations.CreateModel(
            name="RollupDue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("step", models.PositiveSmallIntegerField()),
                ("at", models.DateTimeField()),
                ("touched_at", models.DateTimeField()),
                ("rolled_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["touched_at"], name="rollup_due_touched")],
                "constraints": [
                    models.UniqueConstraint(fields=("step", "at"), name="rollup_due_once")
                ],
            },
        ),
        migrations.RunSQL(TABLES, BACK),
    ]
