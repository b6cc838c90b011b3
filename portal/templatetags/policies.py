"""Numbers and switches of scheduling in plain words."""

import json
from typing import Any

from django import template
from django.utils.translation import gettext as _

from portal.pages.calendar.words import CLASSES, FOREIGN, LABELS, PLACEMENTS, SCOPES

register = template.Library()


@register.filter
def policy_label(name: str) -> str:
    """What a number or switch is called."""
    return str(LABELS.get(name, name))


@register.filter
def placement_words(name: str) -> str:
    """How a partition fills its cards."""
    return str(PLACEMENTS.get(name, name))


@register.filter
def foreign_words(name: str) -> str:
    """What becomes of a partition's cards with foreign work on them."""
    return str(FOREIGN.get(name, name))


@register.filter
def class_words(name: str) -> str:
    """A class of work."""
    return str(CLASSES.get(name, name))


@register.filter
def scope_words(name: str) -> str:
    """What a ceiling bounds."""
    return str(SCOPES.get(name, name))


@register.filter
def policy_value(value: Any) -> str:
    """A value of a version as people read it."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value in (None, "", [], {}):
        return "–"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)
