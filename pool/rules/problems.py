"""What is wrong with a value, as a sentence with holes: the ring translates and fills it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """`text` is an English sentence of the catalogue; `values` fill its %-holes."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text % self.values if self.values else self.text


class Problems(ValueError):
    """Input that can never be right: from each field to what is wrong with it."""

    def __init__(self, fields: Mapping[str, Problem]) -> None:
        self.fields = dict(fields)
        super().__init__("; ".join(f"{name}: {said}" for name, said in self.fields.items()))


def marked(text: str) -> str:
    """The sentence itself; files import this as `_`, so that the catalogue finds it."""
    return text
