"""What was agreed with whom: contracts and discounts, read once for many rows."""

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Self
from zoneinfo import ZoneInfo

from billing.models.contracts import Contract, Discount
from billing.models.usage import Usage
from billing.rating.terms import Basis, Cut, Terms
from billing.selectors.hours import HourRow

DEFAULT = Contract(since=date(1970, 1, 1))
"""What counts where nothing was written down: the model's own defaults."""


@dataclass(slots=True)
class Agreed:
    """All contracts, newest first, and all discounts."""

    contracts: list[Contract]
    discounts: list[Discount]
    _terms: dict[int, Terms] = field(default_factory=dict)

    @classmethod
    def now(cls) -> Self:
        """As it stands, in two queries."""
        return cls(list(Contract.objects.order_by("-since")), list(Discount.objects.all()))

    def contract(self, organization: int | None, day: date) -> Contract:
        """The organization's own words of that day, else everybody's, else the default."""
        for whose in (organization, None):
            for one in self.contracts:
                if one.organization_id == whose and one.since <= day:
                    return one
        return DEFAULT

    def terms(self, contract: Contract) -> Terms:
        """The same as the pure rooms take it."""
        found = self._terms.get(id(contract))
        if found is None:
            found = Terms(Basis(contract.basis), contract.floor_milli, contract.tax_milli)
            self._terms[id(contract)] = found
        return found

    def cuts(self, row: Usage | HourRow, zone: str) -> tuple[tuple[Cut, int], ...]:
        """The discounts of one row: of each kind the one for the most exact place."""
        best: dict[str, tuple[int, int, int]] = {}
        for one in self.discounts:
            if _fits(one, row, zone):
                exact = sum(
                    2**n
                    for n, named in enumerate(
                        (one.partition_id, one.organization_id, one.project_id)
                    )
                    if named is not None
                )
                told = (exact, one.milli, one.pk)
                best[one.kind] = max(best.get(one.kind, told), told)
        return tuple((Cut(kind), milli) for kind, (_exact, milli, _pk) in sorted(best.items()))


def _fits(one: Discount, row: Usage | HourRow, zone: str) -> bool:
    places = (
        (one.organization_id, row.organization_id),
        (one.project_id, row.project_id),
        (one.partition_id, row.partition_id),
    )
    if any(named is not None and named != is_at for named, is_at in places):
        return False
    if row.starts_at not in one.valid:
        return False
    if one.kind == Cut.PREEMPTIBLE:
        return row.preemptible
    return one.kind != Cut.OFF_PEAK or off_peak(one, row.starts_at, zone)


def off_peak(one: Discount, at: datetime, zone: str) -> bool:
    """Whether the hour in which the moment lies is off peak there; through midnight if so said."""
    local = at.astimezone(ZoneInfo(zone))
    begin, end = one.from_hour, one.to_hour
    if begin <= end:
        inside, day = begin <= local.hour < end, local.weekday()
    else:
        inside = local.hour >= begin or local.hour < end
        day = local.weekday() if local.hour >= begin else (local.weekday() - 1) % 7
    return inside and (not one.days or day in one.days)
