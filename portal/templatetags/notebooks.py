"""Words of idle rules, and heads of columns that sort."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from pool.models.notebooks.notebooks import IdleRule
from portal.pages.notebooks.hogs import ORDERS

register = template.Library()

HEADS = dict.fromkeys(("share", "cost"), "gp-number d-none d-md-table-cell")
"""Columns that a telephone has no room for; their numbers stand below the name there."""


@register.filter
def rule_scope(rule: IdleRule) -> str:
    """Whom a rule is for, in words."""
    scopes = [str(one.name) for one in (rule.project, rule.template, rule.partition) if one]
    return " · ".join(scopes) or _("all notebooks")


@register.filter
def quiet_hours(rule: IdleRule) -> str:
    """From when to when letters rest."""
    if rule.quiet_from is None or rule.quiet_until is None:
        return "–"
    return f"{_hour(rule.quiet_from)}–{_hour(rule.quiet_until)}"


@register.simple_tag
def sort_head(name: str, chosen: str) -> SafeString:
    """The head of a column by which the list can be ordered."""
    return format_html(
        '<th scope="col"{}{}><a href="?sort={}">{}</a></th>',
        format_html(' class="{}"', HEADS.get(name, "gp-number")) if name != "owner" else "",
        format_html(' aria-sort="{}"', "other") if name == chosen else "",
        name,
        str(ORDERS[name][0]),
    )


def _hour(minute: Any) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
