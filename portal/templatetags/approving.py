"""Words of approvals: sentences kept in data, changes of a request, lease changes."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from pool.models.requests import Request
from pool.selectors.approvals.outcomes import Outcome

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


@register.simple_tag
def outcome_words(outcomes: Mapping[int, Outcome], request: Request) -> SafeString:
    """What became of an approved request: how much of the granted time was held, by how many."""
    one = outcomes.get(request.pk)
    if one is None or one.percent is None:
        return mark_safe("")
    said = ngettext(
        "%(percent)s %% of the granted time held by %(n)s workload",
        "%(percent)s %% of the granted time held by %(n)s workloads",
        one.workloads,
    ) % {"percent": one.percent, "n": one.workloads}
    return format_html('<div class="gp-sub">{}</div>', said)
