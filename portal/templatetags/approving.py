"""Words of approvals: sentences kept in data, changes of a request, lease changes."""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from pool.models.requests import Request

register = template.Library()

ALTERATIONS = {
    "extend": _("more time for a lease in force"),
    "resize": _("another size for a lease in force"),
}


@register.simple_tag
def marked_words(text: str) -> str:
    """A sentence of the catalogue that stands in data."""
    return gettext(text)


@register.filter
def alteration_words(request: Request) -> str:
    """What it asks of a lease that is in force; empty where it asks for a new one."""
    return str(ALTERATIONS.get(request.alteration, ""))


@register.filter
def changed_words(data: Mapping[str, Any], name: str) -> Any:
    """One value of a mapping, empty when it is not there."""
    return data.get(name, "")
