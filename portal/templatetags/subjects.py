"""What an event is about, and its details, short enough for a line of a list."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

register = template.Library()

PAGES = {"workload": "workload", "request": "request", "node": "node"}
TAIL = 8


@register.simple_tag
def subject_link(subject: str) -> SafeString:
    """The noun and the end of its uid, all of it as title; a link where the noun has a page."""
    noun, _, uid = subject.partition(":")
    short = f"{noun} …{uid[-TAIL:]}" if len(uid) > TAIL else f"{noun} {uid}"
    if noun in PAGES:
        url = reverse(PAGES[noun], args=[uid])
        return format_html('<a href="{}" title="{}">{}</a>', url, uid, short)
    return format_html('<span title="{}">{}</span>', uid, short)


@register.filter
def details(data: Mapping[str, Any]) -> str:
    """Names and values in one line; empty ones are left out."""
    said = ((name, value) for name, value in data.items() if value not in ("", None, [], {}))
    return " · ".join(f"{name} {value}" for name, value in said)


PLAIN = {
    "card.erred": gettext_lazy("the card reported an error"),
    "card.struck": gettext_lazy("work on the card ended together with its neighbours"),
    "workload.warned": gettext_lazy("the card under this work reported an error"),
}


@register.filter
def kind_words(kind: str) -> str:
    """What a kind of event means, where its name does not say it; else nothing."""
    return str(PLAIN.get(kind, ""))
