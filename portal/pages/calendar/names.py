"""Several names in one field, with commas between them."""

from typing import Any

from django import forms


class NamesField(forms.CharField):
    """A list of names, each once; nothing is an empty list."""

    def __init__(self, **given: Any) -> None:
        super().__init__(max_length=400, required=False, **given)

    def clean(self, value: Any) -> Any:
        """The names, in the order in which they were said."""
        said = super().clean(value)
        return list(dict.fromkeys(one.strip() for one in said.split(",") if one.strip()))

    def prepare_value(self, value: Any) -> Any:
        """A list as it is typed."""
        return ", ".join(value) if isinstance(value, list) else value
