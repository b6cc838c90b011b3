"""Many rows at once into the database by COPY, with every column as the model says it."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, models

_KEYS = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"


def keys(model: type[models.Model], count: int) -> list[int]:
    """So many fresh primary keys."""
    with connection.cursor() as cursor:
        cursor.execute(_KEYS, [model._meta.db_table, count])
        return [int(row[0]) for row in cursor.fetchall()]


def written(rows: Sequence[models.Model]) -> int:
    """Write new rows as they are, also moments that a model would set to now; how many."""
    if not rows:
        return 0
    model = type(rows[0])
    missing = [row for row in rows if row.pk is None]
    for row, key in zip(missing, keys(model, len(missing)), strict=True):
        row.pk = key
    fields = [one for one in model._meta.concrete_fields if not getattr(one, "generated", False)]
    columns = ", ".join(f'"{one.column}"' for one in fields)
    table = model._meta.db_table
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row([_said(one, row) for one in fields])
    return len(rows)


def _said(one: "models.Field[Any, Any]", row: models.Model) -> Any:
    return one.get_db_prep_save(getattr(row, one.attname), connection)
