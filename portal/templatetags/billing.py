"""Words and pictures of bills."""

from typing import Any

from babel.numbers import format_currency, format_decimal
from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, gettext_lazy

from billing.models import Budget
from billing.rating.budgets import Measure
from billing.rating.money import MICRO
from billing.reports import words
from billing.selectors import budgets

register = template.Library()

STATES = {
    "provisional": ("wait", gettext_lazy("Provisional")),
    "reviewed": ("busy", gettext_lazy("Reviewed")),
    "closed": ("good", gettext_lazy("Closed")),
}


def _locale() -> str:
    return {"zh-hans": "zh_Hans_CN"}.get(get_language() or "en", "en")


@register.filter
def account_words(account: str) -> str:
    """What an account is called."""
    return words.account_words(account)


@register.filter
def budget_name(budget: Budget) -> str:
    """Whose a budget is."""
    return budgets.budget_name(budget)


@register.filter
def cents(amount: int, currency: str) -> str:
    """Hundredths of the currency."""
    return format_currency(amount / 100, currency, locale=_locale())


@register.filter
def us_hours(card_us: int) -> str:
    """Card-microseconds as card-hours."""
    return format_decimal(card_us / 3_600_000_000, format="#,##0.000", locale=_locale())


@register.simple_tag
def month_badge(state: str) -> SafeString:
    """Where a month stands."""
    colour, said = STATES[state]
    return format_html('<span class="gp-badge gp-badge-{}">{}</span>', colour, said)


@register.simple_tag
def parts_bar(parts: list[dict[str, Any]]) -> SafeString:
    """One bar of all positive parts side by side; the table beside it says the same in words."""
    at = 0
    boxes = []
    for part in parts:
        boxes.append((part["colour"], at, part["milli"], part["name"]))
        at += part["milli"]
    drawn = format_html_join(
        "",
        '<rect class="gp-part-{}" x="{}" width="{}" height="10"><title>{}</title></rect>',
        boxes,
    )
    return format_html(
        '<svg class="gp-parts" viewBox="0 0 1000 10" preserveAspectRatio="none" '
        'aria-hidden="true">{}</svg>',
        drawn,
    )


UNITS = {
    "card": gettext_lazy("A whole card"),
    "core": gettext_lazy("A core"),
    "gib": gettext_lazy("A GiB of memory"),
    "seat": gettext_lazy("A licence seat (vGPU)"),
}


@register.filter
def unit_name(unit: str) -> str:
    """What a price is of."""
    return str(UNITS.get(unit, unit))


@register.simple_tag
def budget_amount(budget: Budget, micro: int) -> str:
    """An amount in the budget's own measure, with its unit."""
    if budget.measure == Measure.MONEY:
        return format_currency(micro / MICRO, budget.organization.currency, locale=_locale())
    hours = format_decimal(micro / MICRO, format="#,##0.##", locale=_locale())
    return gettext("%(n)s card-hours") % {"n": hours}
