"""Words of the quota tree: columns, oddities with their numbers, what lies below a level."""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pool.lifecycle.roles import QuotaUnit
from pool.lifecycle.targets import PlannedQuotaState
from pool.rules.quotatree.oddities import Finding, Oddity
from pool.selectors.reviews.templates import Review
from portal.pages.quotatree.said import UNIT_WORDS, shown
from portal.templatetags.units import amount, card_time, money

register = template.Library()

COLUMN_WORDS = {
    "entitlement": gettext_lazy("Promised at most"),
    "limit": gettext_lazy("Limit"),
    "allowance": gettext_lazy("Without asking"),
}
ODDITIES = {
    Oddity.OVER: gettext_lazy("over by %(by)s"),
    Oddity.ABOVE_PARENT: gettext_lazy("%(by)s above the limit over it: the stricter counts"),
    Oddity.ALLOWANCE_ABOVE_LIMIT: gettext_lazy("%(by)s more goes unasked than the limit lets in"),
    Oddity.GUARANTEES_ABOVE_PARENT: gettext_lazy("%(by)s more is guaranteed below than here"),
    Oddity.GUARANTEES_ABOVE_CARDS: gettext_lazy("%(by)s more is guaranteed than there are cards"),
}
STATES = {
    PlannedQuotaState.AHEAD: gettext_lazy("to come"),
    PlannedQuotaState.IN_FORCE: gettext_lazy("in force"),
    PlannedQuotaState.DONE: gettext_lazy("done"),
    PlannedQuotaState.CANCELLED: gettext_lazy("called off"),
}


@register.filter
def column_words(kind: str) -> str:
    """What a column of the tree is called."""
    return str(COLUMN_WORDS.get(kind, kind))


@register.filter
def planned_words(state: str) -> str:
    """Where a planned change stands."""
    return str(STATES[PlannedQuotaState(state)])


@register.filter
def unit_words(unit: str) -> str:
    """What is counted, in plain words."""
    words: dict[str, Any] = {str(name): text for name, text in UNIT_WORDS.items()}
    return str(words.get(unit, unit))


@register.simple_tag
def plain(value: int | None, unit: str) -> str:
    """A number in what people write, without its unit."""
    return shown(value, unit) or "–"


@register.simple_tag
def finding(one: Finding, unit: str) -> str:
    """One oddity in a sentence."""
    by = card_time(one.by) if unit == QuotaUnit.CARD_SECONDS else amount(one.by, unit)
    return str(ODDITIES[one.what]) % {"by": by}


@register.simple_tag
def below(row: Any, kind: str, unit: str) -> str:
    """What the children are given together; empty where they have no such rows."""
    value = row.children.get(kind)
    return "" if value is None else _("%(n)s below it") % {"n": shown(value, unit)}


@register.simple_tag
def toggled(query: str, opened: str, slug: str) -> str:
    """The address of the tree with one project's members shown, or hidden again."""
    slugs = [one for one in opened.split(",") if one]
    slugs = [one for one in slugs if one != slug] if slug in slugs else [*slugs, slug]
    kept = [(name, value) for name, value in parse_qsl(query) if name != "open"]
    return urlencode([*kept, ("open", ",".join(slugs))], safe=",")


@register.simple_tag
def version_value(value: Any) -> str:
    """A word of a template's version, shortly."""
    if value in (None, "", {}, []):
        return "–"
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return str(value)


@register.simple_tag
def wasted(review: Review, costs: dict[int, tuple[int, str]], version: int) -> str:
    """The part of a version's cost that its untouched memory is; nothing where none is known."""
    if version not in costs or not review.card_s:
        return ""
    micro, currency = costs[version]
    return money(round(micro * review.wasted_card_s / review.card_s), currency)
