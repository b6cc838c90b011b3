"""Weights of a request that changes: they grow and shrink with what is asked for."""

import math
from collections.abc import Iterable

from pool.models.partitions import Partition
from pool.models.requests import Request
from pool.rules.needs import Need
from pool.selectors.offers import options_for


def card_seconds(*, request: Request, need: Need, partitions: Iterable[Partition]) -> int:
    """The size of what is asked: the least card equivalents, times copies, times seconds.

    Work without a card is measured by its cores. Never 0, so that sizes can be divided.
    """
    options = options_for(
        need=need,
        partitions=partitions,
        trust=request.project.trust_group_id,
        version=request.template_version,
        unlimited_modes=request.template_version.unlimited_modes,
    )
    micro = min((one.micro(need) for one in options if one.holds(need)), default=0)
    return (micro or need.cpu_milli or 1) * request.copies * request.duration_seconds


def weights_grown(*, weights: dict[str, float], before: int, after: int) -> dict[str, float]:
    """Every weight times the growth, rounded up: who weighs it anew passes the new ones instead."""
    return {name: math.ceil(weight * after / before) for name, weight in weights.items()}
