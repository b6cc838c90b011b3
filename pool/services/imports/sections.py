"""What a section of the configuration is: its words, how its rows are written and loaded."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from pool.errors import Invalid
from pool.events import Actor

Words = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One noun of the configuration.

    `keys` name a row, `words` are all its columns in their order, `plain` those of `words` that
    are not texts, with how a CSV cell becomes one. `rows` gives all rows as they are, `load` makes
    one row so; both in the same words, so that what was written loads without a change.

    Where there is `together`, `load` only judges a row, and `together` writes all that differ, of
    which there are at most `most`, at the very end: others wait for their locks no longer than
    that, and for a trial not at all.
    """

    name: str
    keys: tuple[str, ...]
    words: tuple[str, ...]
    rows: Callable[[], Iterable[Words]]
    load: Callable[[Words, Actor], None]
    plain: Mapping[str, Callable[[str], Any]]
    together: Callable[[Sequence[Words], Actor], None] | None = None
    most: int = 20_000

    def key(self, words: Words) -> tuple[str, ...]:
        """Which row these words are about."""
        return tuple(str(words.get(name) or "") for name in self.keys)

    def read(self, words: Words) -> Words:
        """The words in their own types.

        Raises:
            Invalid: a word that the section does not know, or a cell that cannot be read.
        """
        strange = [name for name in words if name not in self.words]
        if strange:
            known = ", ".join(self.words)
            said = _("Unknown. Choose from: %(known)s.") % {"known": known}
            raise Invalid(**{str(strange[0])[:63] or "?": said})
        return {name: self._cell(name, value) for name, value in words.items()}

    def _cell(self, name: str, value: Any) -> Any:
        parse = self.plain.get(name)
        if parse is None:
            if isinstance(value, (dict, list)):
                raise Invalid(**{name: _("One text is needed.")})
            return "" if value is None else str(value)
        if not isinstance(value, str):
            return _of_its_kind(name, value, parse)
        try:
            return parse(value)
        except (ValueError, RecursionError) as wrong:
            raise Invalid(**{name: _("This cannot be read.")}) from wrong


def whole(text: str) -> int | None:
    """A whole number; nothing for an empty cell."""
    return int(text) if text.strip() else None


def yes_no(text: str) -> bool:
    """Yes or no, as people write it."""
    plain = text.strip().lower()
    if plain in ("yes", "true", "1", "on"):
        return True
    if plain in ("no", "false", "0", "off", ""):
        return False
    raise ValueError(text)


def names(text: str) -> list[str]:
    """Several names in one cell, with spaces or semicolons between them."""
    return [one for one in text.replace(";", " ").split() if one]


def tree(text: str) -> Any:
    """JSON in one cell."""
    return json.loads(text)


def _of_its_kind(name: str, value: Any, parse: Callable[[str], Any]) -> Any:
    """What YAML read is what the cell of a CSV would have become.

    Raises:
        Invalid: it is not: a list for a number, say.
    """
    kind = _KINDS.get(parse, object)
    right = isinstance(value, kind) and (kind is not int or not isinstance(value, bool))
    if kind is list and right:
        right = all(isinstance(one, str) for one in value)
    if value is not None and not right:
        raise Invalid(**{name: _("This cannot be read.")})
    return value


_KINDS: Mapping[Callable[[str], Any], type] = {whole: int, yes_no: bool, names: list}


def cell(value: Any) -> str:
    """A value as one CSV cell, as `read` takes it back."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return str(value)
