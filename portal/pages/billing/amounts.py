"""What people type: words, and amounts with a point in units of the currency or card-hours."""

from decimal import Decimal, InvalidOperation

from django.http import HttpRequest
from django.utils.translation import gettext as _

from billing.rating.money import MICRO
from pool.errors import Invalid

MOST = Decimal(10) ** 12


def amount_of(text: str, field: str) -> int:
    """Millionths.

    Raises:
        Invalid: it is no amount, negative, too large, or finer than a millionth.
    """
    try:
        value = Decimal(text.strip().replace(" ", ""))
    except InvalidOperation as wrong:
        raise Invalid(**{field: _("An amount is needed, for example 1200.50.")}) from wrong
    if not value.is_finite() or not 0 <= value <= MOST or value * MICRO != int(value * MICRO):
        raise Invalid(**{field: _("An amount from 0 on, with at most six digits after the point.")})
    return int(value * MICRO)


def words_of(request: HttpRequest, name: str) -> str:
    """What somebody wrote, without the zero bytes that no row can hold."""
    return request.POST.get(name, "").replace("\0", "")


def plain_amount(micro: int) -> str:
    """The same back, for a field."""
    text = f"{Decimal(micro) / MICRO:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
