"""Refusals about money."""

from django.utils.translation import gettext_lazy as _

from pool.errors import PoolError


class PriceInThePast(PoolError):
    """Time that was already metered keeps its price; detail: starts_at, metered_until."""

    code = "price_in_the_past"
    text = _(
        "Usage up to %(metered_until)s is already charged; a price cannot start at %(starts_at)s."
    )


class MonthNotOver(PoolError):
    """A month is reviewed and closed after it is over; detail: month."""

    code = "month_not_over"
    text = _("%(month)s is not over yet.")


class MonthNotPosted(PoolError):
    """Some hours of the month are not in the ledger yet; detail: left, in hours."""

    code = "month_not_posted"
    text = _("Some hours of the month are not in the ledger yet. Try again in a few minutes.")
