"""Times and spans that the database itself writes; see migration 0002."""

from django.contrib.postgres.fields import DateTimeRangeField
from django.db.models import DateTimeField, F, Func, Value


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
