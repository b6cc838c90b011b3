"""Sorted lists page by page: a place is the last row seen, so that rows may come and go."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, TypeVar

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import F, Field, Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)
FIRST_YEAR, LAST_YEAR = 1900, 9998
"""Moments outside of these stand in no place that we have told."""


@dataclass(frozen=True, slots=True)
class Order:
    """A column that a list is sorted by; rows that tie go by their keys, the same way round.

    What has no value comes last, whichever way round.
    """

    name: str
    column: str
    down: bool

    @property
    def said(self) -> str:
        """As callers say it."""
        return f"-{self.name}" if self.down else self.name


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ends: the value that the last row is sorted by, and its key."""

    value: Any
    key: int


def order_of(said: str, orders: Mapping[str, str]) -> Order | None:
    """The order of that name (`-name`: the other way round); None for no such order."""
    name = said.removeprefix("-")
    return Order(name, orders[name], said.startswith("-")) if name in orders else None


def sorted_rows(rows: QuerySet[Row], order: Order, *, back: bool = False) -> QuerySet[Row]:
    """The rows in this order; `back` gives them from the end."""
    down = order.down != back
    key = "-pk" if down else "pk"
    if not _optional(rows, order.column):
        return rows.order_by(f"{'-' if down else ''}{order.column}", key)
    column, ends = F(order.column), {"nulls_first": True} if back else {"nulls_last": True}
    return rows.order_by(column.desc(**ends) if down else column.asc(**ends), key)


def beyond(rows: QuerySet[Row], order: Order, place: Place, *, back: bool = False) -> QuerySet[Row]:
    """Only the rows after the place, or (`back`) before it."""
    column, later = order.column, "lt" if order.down != back else "gt"
    key = {f"pk__{later}": place.key}
    if place.value is None:
        ties = Q(**{f"{column}__isnull": True}, **key)
        return rows.filter(ties | Q(**{f"{column}__isnull": False}) if back else ties)
    after = Q(**{f"{column}__{later}": place.value}) | Q(**{column: place.value}, **key)
    if back or not _optional(rows, column):
        return rows.filter(**{f"{column}__{later}e": place.value}).filter(after)
    return rows.filter(after | Q(**{f"{column}__isnull": True}))


def place_of(row: Model, order: Order) -> Place:
    """The place of a row that was read."""
    value: Any = row
    for name in order.column.split("__"):
        value = getattr(value, name, None)
    return Place(value, row.pk)


def place_text(place: Place) -> str:
    """A place as text, for an address."""
    value = place.value
    if isinstance(value, (date, datetime)):
        value = value.isoformat()
    return json.dumps([value, place.key], ensure_ascii=False)


def place_read(text: str, rows: QuerySet[Any], order: Order) -> Place:
    """The place that `place_text` made this text of.

    Raises:
        ValueError: it is none, or none of this order.
    """
    try:
        value, key = json.loads(text)
        if value is not None:
            value = _field(rows, order.column).to_python(value)
    except (ValueError, TypeError, OverflowError, RecursionError, ValidationError) as odd:
        raise ValueError("no place") from odd
    if type(key) is not int or not 0 <= key < 2**63 or _odd(value):
        raise ValueError("no place")
    return Place(value, key)


def _odd(value: Any) -> bool:
    """Whether the database would not take it for a value of ours."""
    if isinstance(value, str):
        return "\0" in value or not _utf8(value)
    if isinstance(value, date):
        return not FIRST_YEAR <= value.year <= LAST_YEAR
    return isinstance(value, int) and not -(2**63) <= value < 2**63


def _utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _field(rows: QuerySet[Any], column: str) -> "Field[Any, Any]":
    """The field at the end of a path, or of what the rows are annotated with."""
    if column in rows.query.annotations:
        found: Field[Any, Any] = rows.query.annotations[column].output_field
        return found
    return _way(rows.model, column)[-1]


def _way(model: type[Model], column: str) -> "list[Field[Any, Any]]":
    """The fields of a path, one after the other."""
    found: list[Field[Any, Any]] = []
    for name in column.split("__"):
        field = model._meta.pk if name == "pk" else model._meta.get_field(name)
        if not isinstance(field, Field):
            raise FieldDoesNotExist(column)
        found.append(field)
        model = field.related_model or model
    return found


def _optional(rows: QuerySet[Any], column: str) -> bool:
    """Whether a row may have no value there."""
    if column in rows.query.annotations:
        return True
    return any(field.null for field in _way(rows.model, column))
