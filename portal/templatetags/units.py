"""Numbers with their units; what is not known is shown as unknown, never as 0."""

from datetime import datetime
from decimal import Decimal

from babel.numbers import format_currency, format_decimal
from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, gettext_lazy, ngettext

from pool.models.workloads import Attempt, Workload

register = template.Library()

_LOCALES = {"zh-hans": "zh_Hans_CN", "en": "en"}


def _locale() -> str:
    return _LOCALES.get(get_language() or "en", "en")


def _number(value: float | Decimal, digits: int) -> str:
    pattern = "#,##0" + ("." + "#" * digits if digits else "")
    return format_decimal(value, format=pattern, locale=_locale())


def _unknown() -> SafeString:
    return format_html('<span class="gp-unknown">{}</span>', gettext("unknown"))


@register.filter
def number(value: float | None, digits: int = 0) -> str:
    """A plain number in the reader's language."""
    return _unknown() if value is None else _number(value, digits)


@register.filter
def mib(value: float | None) -> str:
    """MiB as they are, with the unit."""
    return _unknown() if value is None else gettext("%(n)s MiB") % {"n": _number(value, 0)}


@register.filter
def gib(value: float | None) -> str:
    """MiB shown as GiB."""
    return _unknown() if value is None else gettext("%(n)s GiB") % {"n": _number(value / 1024, 1)}


@register.filter
def gigabytes(value: float | None) -> str:
    """Nominal GB, as a card's name says them."""
    return _unknown() if value is None else gettext("%(n)s GB") % {"n": _number(value, 0)}


@register.filter
def percent(milli: float | None) -> str:
    """Thousandths shown as percent."""
    return _unknown() if milli is None else f"{_number(milli / 10, 1)} %"


@register.filter
def per_hundred(value: float | None) -> str:
    """A value that is already in percent."""
    return _unknown() if value is None else f"{_number(value, 0)} %"


@register.filter
def cards(micro: int | None) -> str:
    """Millionths of a card shown as cards."""
    if micro is None:
        return _unknown()
    count = micro / 1_000_000
    return ngettext("%(n)s card", "%(n)s cards", 1 if count == 1 else 2) % {"n": _number(count, 2)}


@register.filter
def cards_number(micro: int | None) -> str:
    """Millionths of a card as a bare number, beside one that names the unit."""
    return _unknown() if micro is None else _number(micro / 1_000_000, 2)


@register.filter
def cores(milli: int | None) -> str:
    """Thousandths of a core shown as cores."""
    if milli is None:
        return _unknown()
    return ngettext("%(n)s core", "%(n)s cores", 1 if milli == 1000 else 2) % {
        "n": _number(milli / 1000, 1)
    }


@register.filter
def duration(seconds: float | None) -> str:
    """Seconds in the two largest units that matter."""
    if seconds is None:
        return _unknown()
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    parts = (
        (days, gettext("%(n)s d")),
        (hours, gettext("%(n)s h")),
        (minutes, gettext("%(n)s min")),
        (left, gettext("%(n)s s")),
    )
    first = next((i for i, (n, _) in enumerate(parts) if n), 3)
    shown = [text % {"n": n} for n, text in parts[first : first + 2] if n]
    return " ".join(shown) or gettext("%(n)s s") % {"n": 0}


@register.filter
def milliseconds(micro: int | None) -> str:
    """Microseconds shown as milliseconds."""
    return _unknown() if micro is None else gettext("%(n)s ms") % {"n": _number(micro / 1000, 1)}


@register.filter
def card_time(card_seconds: float) -> str:
    """Card-seconds in the unit that fits."""
    if card_seconds < 3600 / 10:
        return gettext("%(n)s card-seconds") % {"n": _number(card_seconds, 1)}
    return gettext("%(n)s card-hours") % {"n": _number(card_seconds / 3600, 2)}


@register.filter
def ran_seconds(run: Workload | Attempt) -> float | None:
    """How long a workload's last or an attempt's run took, once it has ended."""
    if run.started_at is None or run.ended_at is None:
        return None
    return (run.ended_at - run.started_at).total_seconds()


@register.filter
def card_hours(card_seconds: float | None) -> str:
    """Card-seconds as bare card-hours, beside a word that names the unit."""
    if card_seconds is None:
        return _unknown()
    return format_decimal(card_seconds / 3600, format="#,##0.000", locale=_locale())


@register.filter
def micro_hours(micro: int | None) -> str:
    """Millionths of a card-hour."""
    return card_hours(None if micro is None else micro * 3600 / 1_000_000)


@register.filter
def money(micro: int | None, currency: str) -> str:
    """Millionths of the currency, with cents; parts of a cent where it is less than a tenth."""
    if micro is None:
        return _unknown()
    amount = Decimal(micro) / 1_000_000
    small = amount and abs(amount) < Decimal("0.1")
    pattern = "¤#,##0.0000" if small else "¤#,##0.00"
    return format_currency(
        amount, currency, format=pattern, locale=_locale(), currency_digits=False
    )


@register.filter
def when(at: datetime | None, show: str = "") -> str:
    """A moment; the browser writes it in the zone of the page (static/js/times.js)."""
    if at is None:
        return "–"
    return format_html(
        '<time datetime="{}" data-show="{}">{}</time>',
        at.isoformat(timespec="milliseconds"),
        show,
        at.strftime("%Y-%m-%d %H:%M UTC"),
    )


@register.simple_tag
def bar(value: int | None, limit: int | None, more: int = 0, label: str = "") -> SafeString:
    """How much of a limit is taken, and how much `more` would take; over the limit is marked."""
    if value is None or not limit:
        return format_html('<span class="gp-unknown">{}</span>', gettext("unknown"))
    taken = min(1000, round(value * 1000 / limit))
    after = min(1000 - taken, round(more * 1000 / limit))
    kind = "gp-bar-over" if value > limit else ""
    late = "gp-bar-over" if value + more > limit else "gp-bar-more"
    return format_html(
        '<svg class="gp-bar" viewBox="0 0 1000 8" preserveAspectRatio="none" role="img"'
        ' aria-label="{}">'
        '<rect class="{}" width="{}" height="8"></rect>'
        '<rect class="{}" x="{}" width="{}" height="8"></rect></svg>',
        label or f"{round(value * 100 / limit)} %",
        kind,
        taken,
        late,
        taken,
        after,
    )


@register.simple_tag
def change_bar(before: int, after: int, limit: int) -> SafeString:
    """What is taken of a limit now, and what would be on top of it."""
    return bar(before, limit, max(0, after - before))


@register.simple_tag
def room_bar(before: int, after: int, total: int) -> SafeString:
    """The same, told by what is left free before and after."""
    return bar(total - before, total, before - after)


UNITS = {
    "cards_micro": (gettext_lazy("Cards"), cards),
    "memory_mib": (gettext_lazy("card memory"), gib),
    "compute_milli": (gettext_lazy("card compute"), percent),
    "card_seconds": (gettext_lazy("card-hours"), card_hours),
    "cpu_milli": (gettext_lazy("Cores"), cores),
    "ram_mib": (gettext_lazy("host memory"), gib),
    "disk_mib": (gettext_lazy("disk"), gib),
    "workloads": (gettext_lazy("Workloads"), number),
    "cards_each": (gettext_lazy("Cards for one workload"), cards),
}
KINDS = {
    "limit": gettext_lazy("at most at once"),
    "allowance": gettext_lazy("without asking"),
    "entitlement": gettext_lazy("in leases and open requests"),
}


@register.filter
def quota_kind(kind: str) -> str:
    """What kind of limit a quota row is."""
    return str(KINDS.get(kind, kind))


@register.filter
def quota_unit(unit: str) -> str:
    """What a quota row counts."""
    return str(UNITS[unit][0]) if unit in UNITS else unit


@register.simple_tag
def amount(value: int, unit: str) -> str:
    """A level or limit with its unit."""
    return UNITS[unit][1](value) if unit in UNITS else number(value)
