"""Refusals about money."""

from django.utils.translation import gettext_lazy as _

from pool.errors import PoolError


class PriceInThePast(PoolError):
    """Time that was already metered keeps its price; detail: starts_at, metered_until."""

    code = "price_in_the_past"
    text = _(
        "Usage up to %(metered_until)s is already charged; a price cannot start at %(starts_at)s."
    )
