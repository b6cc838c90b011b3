"""Plain named weights that a door passes with a request: what the pool has no word for."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from billing.services.quotes import quote
from pool.models import Partition, Project, Request, TemplateVersion
from pool.rules.needs import Need, changed, from_mapping, merged
from pool.rules.problems import Problems
from pool.selectors.offers import options_for
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
    wrong or nothing holds it: the service refuses that, and an unknown weight needs its step.
    """
    try:
        need = merged(from_mapping(version.need), overrides)
    except Problems:
        return {}
    chosen = list(partitions) or list(partitions_of(project=project))
    time = seconds or version.default_seconds
    if not isinstance(time, int) or not isinstance(copies, int) or time < 1 or copies < 1:
        return {}
    places = _places(need, chosen, project, version)
    costs = [_cost(one, project, version, need, seconds=time) for one in places]
    return {"cost": math.ceil(max(costs) * copies)} if costs else {}


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


Place = tuple[Partition, str, str, int]
"""Where it may run: partition, kind of card, its mode, and one part in millionths of a card."""


def _places(
    need: Need, chosen: list[Partition], project: Project, version: TemplateVersion
) -> list[Place]:
    """All ways to meet the need; work without a card may run wherever there are cards."""
    if need.parts == 0:
        return [(one, "", "", 0) for one in chosen]
    options = options_for(
        need=need,
        partitions=chosen,
        trust=project.trust_group_id,
        version=version,
        unlimited_modes=version.unlimited_modes,
    )
    holding = (one for one in options if one.holds(need))
    return [
        (one.partition, one.option.label, one.option.mode, one.option.card_micro) for one in holding
    ]


def _cost(
    place: Place, project: Project, version: TemplateVersion, need: Need, *, seconds: int
) -> float:
    partition, label, mode, micro = place
    said = quote(
        project=project,
        partition=partition,
        card_model=label,
        mode=mode,
        equivalents_micro=micro,
        seconds=seconds,
        cpu_milli=need.cpu_milli or 0,
        ram_mib=need.ram_mib or 0,
        price_class=version.price_class,
        parts=need.parts,
    )
    return float(said.weights.get("cost", 0))
