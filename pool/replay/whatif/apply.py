"""A scenario put into effect: other cards, limits, classes, needs and rules; the rest as it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pool.carving.sizes import MICRO
from pool.replay.whatif.fleet import with_cards
from pool.replay.whatif.settle import emptied
from pool.replay.whatif.trace import Kind, Trace, World
from pool.scheduling.model import (
    Need,
    PartitionState,
    Policy,
    PriorityClass,
    Quota,
    QuotaKind,
    Snapshot,
    Unit,
)

SIZE = (
    *("parts", "nodes", "whole", "memory_gb", "memory_mib", "compute_milli", "share_milli"),
    *("proportional", "profile", "min_size_gb", "modes", "labels", "vendors", "topology"),
)
"""What another need changes of recorded work; its CPU, memory of the node and data stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCount:
    """So many cards of one model in one partition, instead of those that are there."""

    partition: str
    model: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamLimit:
    """What a team may hold (or is guaranteed), in cards; None takes the limit away.

    An empty partition or model counts all of them.
    """

    team: str
    cards: float | None
    partition: str = ""
    model: str = ""
    guarantee: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherClass:
    """Another class for a team's work, a template's, or where both are named both."""

    priority: PriorityClass
    team: str = ""
    template: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """One partition's switches (all, where it has no name); None leaves them."""

    partition: str = ""
    policy: Policy | None = None
    preemption: bool | None = None
    lending: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What is changed. `needs` are by template; `numbers` are rules by their names."""

    cards: tuple[CardCount, ...] = ()
    limits: tuple[TeamLimit, ...] = ()
    classes: tuple[OtherClass, ...] = ()
    needs: Mapping[str, Need] = field(default_factory=dict)
    switches: tuple[Switches, ...] = ()
    numbers: Mapping[str, int | bool] = field(default_factory=dict)


def applied(trace: Trace, world: World, scenario: Scenario) -> tuple[Trace, Snapshot]:
    """The work and the pool as the scenario would have them."""
    snapshot = replace(world.snapshot, quotas=emptied(world.snapshot.quotas))
    for one in scenario.cards:
        snapshot = with_cards(snapshot, world, one.partition, one.model, one.count)
    ids = {name: key for key, name in world.names.items()}
    numbers: dict[str, Any] = dict(scenario.numbers)
    snapshot = replace(
        snapshot,
        quotas=_quotas(snapshot.quotas, scenario.limits, trace.kinds, ids),
        partitions=_switched(snapshot.partitions, scenario.switches, ids),
        rules=replace(snapshot.rules, **numbers),
    )
    kinds = tuple(_kind(one, scenario.needs) for one in trace.kinds)
    works = tuple(
        replace(work, priority=_class(trace.kinds[work.kind], work.priority, scenario.classes))
        for work in trace.works
    )
    return replace(trace, kinds=kinds, works=works), snapshot


def _quotas(
    rows: Sequence[Quota],
    limits: Sequence[TeamLimit],
    kinds: Sequence[Kind],
    ids: Mapping[str, int],
) -> tuple[Quota, ...]:
    """A new limit takes the place of the team's own of the same partition and model."""
    tenants = {kind.team: kind.tenants[:2] for kind in kinds}
    found = {(row.tenant, row.kind, row.unit, row.partition, row.label): row for row in rows}
    for number, one in enumerate(limits, 1):
        if one.team not in tenants:
            continue
        kind = QuotaKind.ENTITLEMENT if one.guarantee else QuotaKind.LIMIT
        partition = ids.get(one.partition) if one.partition else None
        *outer, tenant = tenants[one.team]
        key = (tenant, kind, Unit.CARD_MICRO, partition, one.model or None)
        found.pop(key, None)
        if one.cards is not None:
            found[key] = Quota(
                id=-number,
                tenant=tenant,
                within=tuple(reversed(outer)),
                kind=kind,
                unit=Unit.CARD_MICRO,
                limit=round(one.cards * MICRO),
                held=0,
                partition=partition,
                label=one.model or None,
            )
    return tuple(found.values())


def _switched(
    rows: Sequence[PartitionState], switches: Sequence[Switches], ids: Mapping[str, int]
) -> tuple[PartitionState, ...]:
    found = {row.id: row for row in rows}
    for one in switches:
        said: dict[str, Any] = {
            name: value
            for name in ("policy", "preemption", "lending")
            if (value := getattr(one, name)) is not None
        }
        mine = [ids[one.partition]] if one.partition else list(found)
        found.update((key, replace(found[key], **said)) for key in mine if key in found)
    return tuple(found.values())


def _kind(kind: Kind, needs: Mapping[str, Need]) -> Kind:
    other = needs.get(kind.template)
    if other is None or not kind.template:
        return kind
    size: dict[str, Any] = {name: getattr(other, name) for name in SIZE}
    return replace(kind, need=replace(kind.need, **size))


def _class(kind: Kind, now: PriorityClass, classes: Sequence[OtherClass]) -> PriorityClass:
    """The last line that fits counts."""
    for one in classes:
        if one.team in ("", kind.team) and one.template in ("", kind.template):
            now = one.priority
    return now
