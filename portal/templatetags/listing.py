"""Heads of columns by which a list can be sorted."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from portal.pages.lists import Page
from portal.templatetags.icons import icon

register = template.Library()

SORTED = {True: ("descending", "chevron-down"), False: ("ascending", "chevron-up")}


@register.simple_tag
def sort_head(page: Page[Any], name: str, label: str, css: str = "") -> SafeString:
    """A head that sorts by its column, and the other way round when it does already."""
    chosen = page.sort.removeprefix("-") == name
    way, sign = SORTED[page.sort.startswith("-")] if chosen else ("none", "")
    return format_html(
        '<th scope="col" class="{}" aria-sort="{}"><a class="gp-sort" href="{}">{}{}</a></th>',
        css,
        way,
        page.turned(name),
        label,
        icon(sign) if sign else mark_safe(""),  # noqa: S308
    )
