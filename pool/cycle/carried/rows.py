"""Rows of the books by the version in which they were read, and what was made of them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Rows(Generic[T]):
    """Rows of one query by id. What the database has in another version is read again.

    The version of a row is asked before its content: a row that changes in between is kept under
    the older version and read again at the next look.
    """

    seen: dict[int, tuple[str, T]] = field(default_factory=dict)

    def renewed(
        self,
        versions: Iterable[tuple[int, str]],
        read: Callable[[Collection[int]], Iterable[tuple[int, T]]],
    ) -> Mapping[int, tuple[str, T]]:
        """Every row that there is now, by id in the order of the versions."""
        now = dict(versions)
        stale = [pk for pk, version in now.items() if self.seen.get(pk, ("",))[0] != version]
        fresh = dict(read(stale)) if stale else {}
        found: dict[int, tuple[str, T]] = {}
        for pk, version in now.items():
            if pk in fresh:
                found[pk] = (version, fresh[pk])
            elif pk in self.seen and self.seen[pk][0] == version:
                found[pk] = self.seen[pk]
        self.seen = found
        return found


@dataclass(slots=True)
class Made(Generic[T]):
    """Planner's words by id, each with all that it was made of."""

    known: dict[int, tuple[Any, T]] = field(default_factory=dict)
    used: dict[int, tuple[Any, T]] = field(default_factory=dict)

    def of(self, pk: int, key: Any, make: Callable[[], T]) -> T:
        """The same object as before where it would be made of the same; else a new one."""
        before = self.known.get(pk)
        now = before if before is not None and before[0] == key else (key, make())
        self.used[pk] = now
        return now[1]

    def turn(self) -> None:
        """The look is over: forget what it did not use."""
        self.known, self.used = self.used, {}
