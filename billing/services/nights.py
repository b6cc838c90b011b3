"""What it costs to leave a notebook alone for a night."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from billing.services.quotes import quote
from pool.clock import now
from pool.models.placements import Hold
from pool.models.workloads import Workload


@dataclass(frozen=True, slots=True)
class NightPrice:
    """Amounts in 10⁻⁶ of the currency; None when no price is set for what it holds."""

    currency: str
    per_hour_micro: int | None
    total_micro: int | None
    seconds: int
    weights: Mapping[str, int] = field(default_factory=dict)


def night_price(*, workload: Workload, until: datetime) -> NightPrice:
    """What it holds now, held on until then."""
    seconds = max(int((until - now()).total_seconds()), 0)
    holds = Hold.objects.filter(placement__attempt__workload=workload, held__upper_inf=True)
    rows = list(holds.select_related("slice", "card", "placement__partition"))
    cut = next((one for one in rows if one.slice is not None and one.card is not None), None)
    currency = workload.project.organization.currency
    place = cut.placement.partition if cut is not None else None
    if cut is None or cut.card is None or place is None:
        return NightPrice(currency, None, None, seconds)
    found = quote(
        project=workload.project,
        partition=place,
        card_model=cut.card.label,
        mode=cut.mode,
        equivalents_micro=sum(one.equivalents_micro for one in rows),
        seconds=seconds,
        cpu_milli=sum(one.cpu_milli for one in rows),
        ram_mib=sum(one.ram_mib for one in rows),
        price_class=workload.template_version.price_class,
    )
    return NightPrice(
        found.currency, found.per_hour_micro, found.total_micro, seconds, found.weights
    )
