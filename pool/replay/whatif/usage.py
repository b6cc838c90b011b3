"""What each tenant has used lately in a replay, decayed as the books decay it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from pool.scheduling.model import TenantShare
from pool.scheduling.order import weighed

COUNTED_EVERY_S = 3600.0
"""The books count it anew once an hour; in between everybody reads the old numbers."""


@dataclass(slots=True)
class Usage:
    """Card-seconds of each tenant: a second counts by its age, half after `half_life_s`.

    `weights` are those of tenants with guarantees; they are told before they have used anything.
    """

    half_life_s: float
    weights: Mapping[str, float] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)
    parents: dict[str, str | None] = field(default_factory=dict)
    at_s: float | None = None
    counted_s: float = -math.inf
    told: tuple[TenantShare, ...] = ()

    def change(self, tenants: tuple[str, ...], cards: float, now_s: float) -> None:
        """From now on the organization and the project hold so many cards more (or less)."""
        self._on(now_s)
        outer = None
        for tenant in tenants[:2]:
            self.rates[tenant] = self.rates.get(tenant, 0.0) + cards
            self.parents[tenant] = outer
            outer = tenant

    def shares(self, now_s: float) -> tuple[TenantShare, ...]:
        """As the planner reads them: counted in the last full hour."""
        if now_s >= self.counted_s + COUNTED_EVERY_S:
            self._on(now_s)
            self.counted_s = now_s // COUNTED_EVERY_S * COUNTED_EVERY_S
            told = (
                TenantShare(
                    tenant=t, parent=self.parents.get(t), usage=round(self.sums.get(t, 0.0), 3)
                )
                for t in sorted(self.sums.keys() | self.weights.keys())
            )
            self.told = weighed(told, self.weights)
        return self.told

    def _on(self, now_s: float) -> None:
        """Let the time pass: what was counts less, what is held counts up."""
        passed = 0.0 if self.at_s is None else now_s - self.at_s
        fades = 0.5 ** (passed / self.half_life_s)
        grows = self.half_life_s / math.log(2) * (1.0 - fades)
        for tenant, rate in self.rates.items():
            self.sums[tenant] = self.sums.get(tenant, 0.0) * fades + rate * grows
        self.at_s = now_s
