"""What partitions really offer, and what a need becomes on each of their cards."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from nodeagent.protocol.inventory import Card as CardFacts
from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Mode
from pool.carving.recommend import Asker, Offer, Option, recommend
from pool.carving.sizes import Ask, CardSize
from pool.lifecycle.cards import CardState
from pool.models.cards import Card
from pool.models.partitions import Partition

ASK_FIELDS = (
    "memory_gb",
    "memory_mib",
    "compute_milli",
    "share_milli",
    "profile",
    "min_size_gb",
)


@dataclass(frozen=True, slots=True)
class PlacedOption:
    """An option with the partition in which it would run."""

    partition: Partition
    option: Option
    cards: int


def card_facts(card: Card) -> CardFacts:
    """What the card said of itself, typed."""
    return msgspec.convert(card.facts, CardFacts)


def geometry_of(facts: CardFacts, mode: Mode) -> Geometry | None:
    """The card's geometry in a mode, where it has one."""
    return next((one for one in facts.geometries if one.mode == mode), None)


def ask_of(need: Mapping[str, Any]) -> Ask:
    """The part of a need that says how big one part is; a whole card asks for nothing smaller."""
    given = {name: need[name] for name in ASK_FIELDS if need.get(name)}
    return Ask(**given)


def options_for(
    *, need: Mapping[str, Any], partitions: Iterable[Partition], shares_trust: bool = True
) -> list[PlacedOption]:
    """Every way the partitions' cards could meet the need, best first, refused ones with why."""
    by_id = {one.pk: one for one in partitions}
    seen: dict[tuple[int, str], tuple[Card, int]] = {}
    cards = Card.objects.filter(partition__in=by_id).exclude(state=CardState.RETIRED)
    for card in cards.order_by("pk"):
        key = (card.partition_id or 0, card.label)
        seen[key] = (seen.get(key, (card, 0))[0], seen.get(key, (card, 0))[1] + 1)
    asker = Asker(shares_trust=shares_trust, parts=int(need.get("parts", 1) or 1))
    found = []
    for (partition, _), (card, count) in seen.items():
        if not _wanted(card, need):
            continue
        chosen = by_id[partition]
        offers = tuple(_offers(card, chosen, need))
        tolerance = chosen.tolerance_points * 10
        options = recommend(ask_of(need), offers, asker, tolerance)
        found += [PlacedOption(chosen, option, count) for option in options]
    return sorted(found, key=_rank)


def _rank(one: PlacedOption) -> tuple[bool, float, int, int]:
    option = one.option
    return (not option.usable, option.waste_percent, option.card_micro, one.partition.rank)


def _wanted(card: Card, need: Mapping[str, Any]) -> bool:
    labels, vendors = need.get("labels") or (), need.get("vendors") or ()
    return (not labels or card.label in labels) and (not vendors or card.vendor in vendors)


def _offers(card: Card, partition: Partition, need: Mapping[str, Any]) -> Iterable[Offer]:
    facts = card_facts(card)
    size = CardSize(nominal_gb=card.nominal_gb, memory_mib=card.memory_mib)
    wanted = [Mode.WHOLE] if need.get("whole") else [Mode(m) for m in need.get("modes") or ()]
    for mode in facts.modes:
        if mode.value in partition.modes and (not wanted or mode in wanted):
            geometry = geometry_of(facts, mode)
            isolation = geometry.isolation if geometry else MODE_ISOLATION[mode]
            yield Offer(
                label=card.label, size=size, mode=mode, isolation=isolation, geometry=geometry
            )
