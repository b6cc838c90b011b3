"""Times as the fields of forms show and read them."""

from django import template
from django.utils.translation import get_language

from portal.pages.calendar.durations import words_of

register = template.Library()


@register.filter
def time_words(seconds: int) -> str:
    """The seconds exactly, with units that a field of time reads again."""
    return words_of(seconds, get_language() or "en")
