"""Video engines of cards and needs in plain words."""

from django import template
from django.utils.translation import ngettext

register = template.Library()


@register.filter
def encoders(count: float | None) -> str:
    """So many video encoders: "2 video encoders"."""
    n = int(count or 0)
    return ngettext("%(n)d video encoder", "%(n)d video encoders", n) % {"n": n}


@register.filter
def decoders(count: float | None) -> str:
    """So many video decoders."""
    n = int(count or 0)
    return ngettext("%(n)d video decoder", "%(n)d video decoders", n) % {"n": n}
