"""Nested limits as one bar: a project's cards inside its organization's."""

from collections.abc import Iterable
from dataclasses import dataclass

from pool.lifecycle.roles import QuotaKind
from pool.models.quotas import Quota

WIDE = 1000


@dataclass(frozen=True, slots=True)
class Gauge:
    """What a project and its organization hold of one kind of card; None where nothing is set.

    The bar is as long as the larger limit.
    """

    project: str
    label: str
    limit: Quota | None
    above: Quota | None
    allowance: Quota | None

    @property
    def held(self) -> int:
        """What the project holds now."""
        rows = (self.limit, self.allowance)
        return max((row.held for row in rows if row is not None), default=0)

    @property
    def full(self) -> int:
        """What the whole length of the bar stands for."""
        rows = (self.limit, self.above, self.allowance)
        return max((row.limit_value for row in rows if row is not None), default=0)

    def at(self, value: int | None) -> int | None:
        """A value's place on the bar, 0 to 1000."""
        if value is None or not self.full:
            return None
        return min(WIDE, round(value * WIDE / self.full))

    @property
    def own_width(self) -> int:
        """How far the project's own holding reaches."""
        return self.at(self.held) or 0

    @property
    def above_width(self) -> int:
        """How far the organization's holding reaches, the project's included."""
        return self.at(self.above.held if self.above else 0) or 0

    @property
    def limit_at(self) -> int | None:
        """Where the project's limit stands, when it is not the end of the bar."""
        place = self.at(self.limit.limit_value if self.limit else None)
        return place if place is not None and place < WIDE else None

    @property
    def free_at(self) -> int | None:
        """Up to where nobody needs to be asked."""
        return self.at(self.allowance.limit_value if self.allowance else None)


def gauges(rows: Iterable[Quota]) -> list[Gauge]:
    """One gauge a project, partition and kind of card, most held first."""
    above: dict[tuple[int, int, str], Quota] = {}
    own: dict[tuple[int, int, str], dict[str, Quota]] = {}
    for row in rows:
        if row.project_id is not None:
            own.setdefault((row.project_id, row.partition_id, row.card_model), {})[row.kind] = row
        elif row.kind == QuotaKind.LIMIT and row.organization_id is not None:
            above[row.organization_id, row.partition_id, row.card_model] = row
    made = [_gauge(key, kinds, above) for key, kinds in own.items()]
    return sorted((one for one in made if one.full), key=lambda one: -one.held)


def _gauge(
    key: tuple[int, int, str],
    kinds: dict[str, Quota],
    above: dict[tuple[int, int, str], Quota],
) -> Gauge:
    row = next(iter(kinds.values()))
    organization = row.project.organization_id if row.project else 0
    return Gauge(
        project=str(row.project),
        label=row.card_model or str(row.partition),
        limit=kinds.get(QuotaKind.LIMIT),
        above=above.get((organization, key[1], key[2])),
        allowance=kinds.get(QuotaKind.ALLOWANCE),
    )
