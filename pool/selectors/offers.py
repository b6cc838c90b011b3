"""What partitions really offer, and what a need becomes on each of their cards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db.models import Count, F, Max

from nodeagent.protocol.inventory import Card as CardFacts
from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import MODE_ISOLATION, Isolation, Mode
from pool.carving.needs import ask_of, modes_of
from pool.carving.recommend import MICRO_WHOLE, Asker, Offer, Option, recommend
from pool.carving.sizes import CardSize
from pool.lifecycle.cards import CardState
from pool.lifecycle.roles import QuotaUnit
from pool.models.cards import Card
from pool.models.partitions import Partition
from pool.rules.needs import SEVERAL, Need, isolated_enough
from pool.rules.needs import partial as need_from
from pool.rules.workloads import host_defaults

Asked = Mapping[tuple[str, str], int]
"""(card label or empty, unit) to how much: what quota rows count."""

TOGETHER = frozenset({"node", "linked"})
"""Topologies whose parts all lie on one node."""


@dataclass(frozen=True, slots=True)
class PlacedOption:
    """An option with the partition in which it would run.

    `cards` is how many cards of this kind the partition has, `on_one_node` the most that one node
    has of them, `sample` one of them; `homes` has a network domain and a number for each node.
    """

    partition: Partition
    option: Option
    cards: int
    on_one_node: int
    sample: Card
    homes: tuple[tuple[str, int], ...] = ()

    def holds(self, need: Need) -> bool:
        """Whether so many parts could ever lie there together, with nothing else running."""
        if not self.option.usable:
            return False
        cards = self.on_one_node if need.topology in TOGETHER else self.cards
        if need.topology == "spread":
            return need.parts <= (len(self.homes) or self.cards)
        if need.whole and need.topology in SEVERAL:
            return any(_lies(need, here) for here in _domains(need, self.homes))
        return need.parts <= cards * _per_card(self.option, self.sample)

    def micro(self, need: Need) -> int:
        """Card equivalents of all parts, in millionths."""
        return self.option.card_micro * need.parts


def _domains(need: Need, homes: Iterable[tuple[str, int]]) -> list[list[int]]:
    """Cards a node, by network domain; work that may lie anywhere knows none."""
    found: dict[str, list[int]] = {}
    for network, cards in homes:
        found.setdefault("" if need.topology == "anywhere" else network, []).append(cards)
    return list(found.values())


def _lies(need: Need, nodes: Sequence[int]) -> bool:
    """Whether so many cards could lie on these nodes: alike where their number is asked for."""
    if need.nodes:
        return sum(one >= need.parts // need.nodes for one in nodes) >= need.nodes
    return need.parts <= sum(nodes)


def card_facts(card: Card) -> CardFacts:
    """What the card said of itself, typed."""
    return msgspec.convert(card.facts, CardFacts)


def geometry_of(facts: CardFacts, mode: Mode) -> Geometry | None:
    """The card's geometry in a mode, where it has one."""
    return next((one for one in facts.geometries if one.mode == mode), None)


def options_for(
    *,
    need: Mapping[str, Any] | Need,
    partitions: Iterable[Partition],
    shares_trust: bool = True,
    unlimited_modes: bool = False,
) -> list[PlacedOption]:
    """Every way the partitions' cards could meet the need, best first, refused ones with why.

    Three queries, whatever the number of cards: one card stands for all of its kind.
    """
    asked = need if isinstance(need, Need) else need_from(need)
    by_id = {one.pk: one for one in partitions}
    asker = Asker(shares_trust=shares_trust, parts=asked.parts)
    found = []
    for card, homes in _kinds(by_id):
        total, most = sum(n for _, n in homes), max(n for _, n in homes)
        facts = card_facts(card)
        if not _wanted(card, facts, asked):
            continue
        chosen = by_id[card.partition_id or 0]
        modes = modes_of(asked, unlimited_modes=unlimited_modes)
        offers = tuple(_offers(card, facts, chosen, asked, modes))
        options = recommend(ask_of(asked), offers, asker, chosen.tolerance_points * 10)
        found += [PlacedOption(chosen, option, total, most, card, homes) for option in options]
    return sorted(found, key=_rank)


def _rank(one: PlacedOption) -> tuple[bool, float, int, int]:
    option = one.option
    return (not option.usable, option.waste_percent, option.card_micro, one.partition.rank)


def _kinds(
    partitions: Mapping[int, Partition],
) -> list[tuple[Card, tuple[tuple[str, int], ...]]]:
    """One card of each kind in each partition; the network of each node with how many it has."""
    rows = Card.objects.filter(partition__in=list(partitions)).exclude(state=CardState.RETIRED)
    kinds = ("partition_id", "label")
    named = rows.order_by().values(*kinds, "node", "node__labels__network")
    homes: dict[tuple[int, str], list[tuple[str, int]]] = {}
    for row in named.annotate(here=Count("pk")):
        network = str(row["node__labels__network"] or "")
        homes.setdefault((row["partition_id"], row["label"]), []).append((network, row["here"]))
    samples = rows.select_related("node").order_by(*kinds, "pk").distinct(*kinds)
    return [(one, tuple(homes[one.partition_id or 0, one.label])) for one in samples]


def _wanted(card: Card, facts: CardFacts, need: Need) -> bool:
    return (
        (not need.labels or card.label in need.labels)
        and (not need.vendors or card.vendor in need.vendors)
        and (not need.architectures or facts.architecture in need.architectures)
        and (not need.encoder or bool(facts.nvenc))
        and (not need.graphics or facts.graphics)
        and card.nominal_gb >= need.min_size_gb
    )


def _offers(
    card: Card, facts: CardFacts, partition: Partition, need: Need, modes: tuple[Mode, ...]
) -> Iterable[Offer]:
    size = CardSize(nominal_gb=card.nominal_gb, memory_mib=card.memory_mib)
    for mode in facts.modes:
        geometry = geometry_of(facts, mode)
        isolation = geometry.isolation if geometry else MODE_ISOLATION[mode]
        floor = Isolation(need.isolation) if need.isolation else None
        if mode in partition.modes and mode in modes and isolated_enough(isolation, floor):
            yield Offer(
                label=card.label, size=size, mode=mode, isolation=isolation, geometry=geometry
            )


def _per_card(option: Option, card: Card) -> int:
    """How many such parts one empty card can hold."""
    if option.mode is Mode.WHOLE:
        return 1
    geometry = geometry_of(card_facts(card), option.mode)
    named = {p.name: p.max_instances for p in geometry.profiles} if geometry else {}
    return named.get(option.profile) or max(1, MICRO_WHOLE // max(1, option.card_micro))


def biggest_host(*, partitions: Iterable[Partition]) -> int:
    """The most CPU, in thousandths of a core, that one node with cards in the partitions has."""
    rows = Card.objects.filter(partition__in=list(partitions)).exclude(state=CardState.RETIRED)
    found = rows.aggregate(most=Max(F("node__cpu_milli")))["most"]
    return int(found or 0)


def host_of(
    *,
    need: Need,
    options: Iterable[PlacedOption],
    pick: Callable[[Iterable[int]], int] = min,
) -> tuple[int, int, int]:
    """CPU, RAM and disk of all parts: what the need says, else the share of one of its nodes.

    `pick` chooses among the shares where the options differ: the least for work that asks, the
    most for what was granted.
    """
    shares = [
        host_defaults(
            host=(
                one.sample.node.cpu_milli,
                one.sample.node.memory_mib,
                one.sample.node.disk_mib,
            ),
            cards=one.on_one_node,
            micro=one.option.card_micro,
            parts=need.parts,
        )
        for one in options
    ]
    unsaid = [pick(each) for each in zip(*shares, strict=True)] or [0, 512, 1024]
    said = (need.cpu_milli, need.ram_mib, need.disk_mib)
    cpu, ram, disk = (d if s is None else s for s, d in zip(said, unsaid, strict=True))
    return cpu, ram, disk


def asked_where(
    *, need: Need, copies: int, options: Iterable[PlacedOption], partitions: Iterable[Partition]
) -> list[tuple[Partition, Asked]]:
    """The partitions that could hold it with what it asks there at the least, in their order.

    It asks of the rows of its kind of card, and of rows for all cards of the partition alike.
    """
    if need.parts == 0:
        cpu = (need.cpu_milli or 0) * copies
        return [(p, {("", QuotaUnit.CPU_MILLI): cpu}) for p in partitions]
    found: dict[int, tuple[Partition, Asked, int]] = {}
    for one in options:
        micro = one.micro(need) * copies
        if one.holds(need) and (
            one.partition.pk not in found or micro < found[one.partition.pk][2]
        ):
            unit = str(QuotaUnit.CARDS_MICRO)
            asked = {(one.option.label, unit): micro, ("", unit): micro}
            found[one.partition.pk] = (one.partition, asked, micro)
    ordered = sorted(found.values(), key=lambda item: (item[0].rank, item[0].pk))
    return [(partition, asked) for partition, asked, _ in ordered]
