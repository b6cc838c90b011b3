"""How a list is to be shown: in which order, with which words in it, as a page or as a file."""

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from rest_framework import serializers

from portal.api.fields import Given

if TYPE_CHECKING:
    from portal.api.door import Listing

SHOWN = ("ordering", "search", "format")
MOST_SEARCH = 80


class ShownIn(Given):
    """`ordering` (`-name`: the other way round), `search`, `format=csv`: parameters of lists."""

    ordering = serializers.ChoiceField(choices=[], required=False)
    search = serializers.CharField(max_length=MOST_SEARCH, required=False, allow_blank=True)
    format = serializers.ChoiceField(choices=["json", "csv"], required=False)

    def __init__(self, *args: Any, of: "type[Listing]", **more: Any) -> None:
        super().__init__(*args, **more)
        self.of = of
        self.fields["ordering"] = serializers.ChoiceField(choices=ways(of), required=False)

    def validate_search(self, text: str) -> str:
        """The text, where there is something to look into.

        Raises:
            ValidationError: this list cannot be searched.
        """
        if not self.of.searched:
            raise serializers.ValidationError(_("This list has no search."))
        return text


def ways(of: "type[Listing]") -> list[str]:
    """Every order of a list, both ways round."""
    names = ["created", *of.sorts]
    return [*names, *(f"-{name}" for name in names)]


def shown_parameters(of: "type[Listing]") -> list[dict[str, Any]]:
    """The parameters, for OpenAPI."""
    if not of.sortable:
        return []
    found = [
        _told("ordering", "Sorted by; with - the other way round.", {"enum": ways(of)}),
        _told("format", "csv: the whole list as a file.", {"enum": ["json", "csv"]}),
    ]
    if of.searched:
        columns = ", ".join(one.replace("__", " ") for one in of.searched)
        text = f"Only rows with this text in one of: {columns}."
        found.append(_told("search", text, {"maxLength": MOST_SEARCH}))
    return found


def _told(name: str, text: str, words: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "string", **words}
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema}
