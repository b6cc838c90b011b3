"""Which partitions a project may use, and in which order it would like them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pool.rules.problems import Problem
from pool.rules.problems import marked as _


@dataclass(frozen=True, slots=True)
class Door:
    """Who may enter one partition: everybody, or the organizations named."""

    partition: str
    open_to_all: bool
    organizations: frozenset[int] = frozenset()

    def opens_for(self, organization: int) -> bool:
        """Whether projects of the organization may run there."""
        return self.open_to_all or organization in self.organizations


def usable(
    doors: Iterable[Door], *, organization: int, wanted: Sequence[str] = ()
) -> tuple[str, ...] | Problem:
    """The partitions a project may use, in the wanted order, or in the order of the doors.

    A partition that is closed to the organization is not told apart from one that is not there.
    """
    open_ones = [door.partition for door in doors if door.opens_for(organization)]
    strange = [name for name in wanted if name not in open_ones]
    if strange:
        return Problem(_("There is no partition %(name)s that you may use."), {"name": strange[0]})
    return tuple(dict.fromkeys(wanted)) if wanted else tuple(open_ones)
