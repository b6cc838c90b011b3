"""Plain named weights that a door passes with a request: what the pool has no word for."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from billing.services.quotes import quote
from pool.models import Partition, Project, Request, TemplateVersion
from pool.rules.needs import Need, changed, from_mapping, merged
from pool.rules.problems import Problems
from pool.selectors.offers import PlacedOption, options_for
from pool.selectors.partitions import partitions_of


def weights_for(
    *,
    project: Project,
    version: TemplateVersion,
    overrides: Mapping[str, Any],
    partitions: Iterable[Partition],
    seconds: int | None,
    copies: int = 1,
) -> dict[str, float]:
    """What all copies would cost over the whole time, in whole units of the currency, rounded up.

    Of the ways to meet the need the dearest counts, so that nobody passes a limit of the policy by
    the choice of a place. What has no price costs nothing. Nothing is weighed where the words are
    wrong: the service refuses them.
    """
    try:
        need = merged(from_mapping(version.need), overrides)
    except Problems:
        return {}
    chosen = list(partitions) or list(partitions_of(project=project))
    time = seconds or version.default_seconds
    if not isinstance(time, int) or not isinstance(copies, int) or time < 1 or copies < 1:
        return {}
    options = options_for(need=need, partitions=chosen, unlimited_modes=version.unlimited_modes)
    costs = [
        _cost(one, project=project, version=version, need=need, seconds=time)
        for one in options
        if one.holds(need)
    ]
    most = math.ceil(max(costs, default=0) * copies)
    return {"cost": most}


def weights_of_change(*, request: Request, changes: Mapping[str, Any]) -> dict[str, float]:
    """What a request weighs once so changed, by its requester or an approver.

    `changes` are words of a request as its services take them; what is not named stays.
    """
    try:
        need = changed(request.need, changes.get("need") or {})
    except Problems:
        return {}
    kept = changes.get("partitions") or ()
    return weights_for(
        project=request.project,
        version=request.template_version,
        overrides=need,
        partitions=kept or ([] if changes.get("need") else request.partitions.all()),
        seconds=changes.get("duration_seconds") or request.duration_seconds,
        copies=changes.get("copies") or request.copies,
    )


def _cost(
    one: PlacedOption, *, project: Project, version: TemplateVersion, need: Need, seconds: int
) -> float:
    said = quote(
        project=project,
        partition=one.partition,
        card_model=one.option.label,
        mode=one.option.mode,
        equivalents_micro=one.option.card_micro,
        seconds=seconds,
        cpu_milli=need.cpu_milli or 0,
        ram_mib=need.ram_mib or 0,
        price_class=version.price_class,
        parts=need.parts,
    )
    return float(said.weights.get("cost", 0))
