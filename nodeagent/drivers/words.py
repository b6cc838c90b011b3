"""What vendors' programs write where they have no number, and numbers with their units."""

import re
from typing import Any

NOTHING = frozenset({"", "-", "--", "na", "n/a", "none", "null", "nan", "unknown", "not supported"})
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
BLANKS = frozenset({0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x7FFFFFFFFFFFFFF2, -1})
"""Whole numbers that stand for nothing: all bits set, and the blank of NVIDIA's tools."""


def number(value: Any) -> float | None:
    """A number however it is wrapped: 12, "12 W", {"value": 12, "unit": "W"}; else None."""
    if isinstance(value, dict):
        value = value.get("value")
    if value is None or isinstance(value, bool | list):
        return None
    words = str(value).strip()
    if words.casefold() in NOTHING:
        return None
    said = NUMBER.match(words)
    if said is None:
        return None
    found = float(said[0])
    return None if found in BLANKS else found


def first(values: dict[str, Any], *names: str) -> float | None:
    """The first of these keys that holds a number."""
    return next((n for n in (number(values.get(name)) for name in names) if n is not None), None)


def text(value: Any) -> str | None:
    """Words that say something; None for the many ways to say nothing."""
    words = str(value).strip() if value is not None else ""
    return None if words.casefold() in NOTHING else words
