"""Times and spans that the database itself writes; see migration 0002."""

from django.contrib.postgres.fields import DateTimeRangeField
from django.db.models import Aggregate, DateTimeField, F, Func, Value


class PoolNow(Func):
    """The pool's clock inside SQL: clock_timestamp(), moved by the one clock row of test stacks."""

    function = "pool_now"
    template = "%(function)s()"
    output_field = DateTimeField()


def open_hold(slice_id: int | None) -> Func:
    """An open span that starts now, or where the slice's last span ended if that is later."""
    return Func(Value(slice_id), function="pool_open_hold", output_field=DateTimeRangeField())


def open_life(card_id: int) -> Func:
    """An open span that starts now, or where the card's last ended slice ended if that is later."""
    return Func(Value(card_id), function="pool_open_life", output_field=DateTimeRangeField())


def closed(field: str) -> Func:
    """The span in `field`, ended now; at least one microsecond long, never empty."""
    return Func(F(field), function="pool_close_span", output_field=DateTimeRangeField())


class Percentile(Aggregate):
    """The value below which `part` (0 to 1) of the group lies; between two values, in proportion.

    For numbers and durations.
    """

    function = "percentile_cont"
    template = "%(function)s(%(part)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: str, part: float) -> None:
        super().__init__(expression, part=float(part))
