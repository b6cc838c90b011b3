"""Icons from the one sprite that `manage.py vendor` makes."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """A decorative icon in the colour of its text; the words beside it carry the meaning."""
    return format_html(
        '<svg class="gp-icon {}" aria-hidden="true" focusable="false">'
        '<use href="{}#{}"></use></svg>',
        extra,
        static("vendor/icons.svg"),
        name,
    )
