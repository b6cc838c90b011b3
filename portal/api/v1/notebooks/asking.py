"""What a call may leave out when it asks for a notebook."""

from typing import Any

from django.utils.translation import gettext as _

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.errors import Invalid

NOTEBOOK = "notebook"


def template_asked(given: dict[str, Any]) -> str:
    """The template that a submission names, taken out of it; a notebook has one of its own.

    Raises:
        Invalid: none is named for anything else.
    """
    named = str(given.pop("template"))
    if not named and given.get("kind") == WorkloadKind.NOTEBOOK:
        return NOTEBOOK
    if not named:
        raise Invalid(template=_("A template is needed."))
    return named
