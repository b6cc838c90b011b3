"""What partitions really offer, and what a need becomes on each of their cards."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.db.models import Count, Min

from nodeagent.protocol.inventory import Card as CardFacts
from nodeagent.protocol.inventory import Geometry
from nodeagent.protocol.vocabulary import (
    MODE_ISOLATION,
    PLACED_MODES,
    Isolation,
    Mode,
    WorkloadKind,
)
from pool.carving.needs import ask_of, modes_of
from pool.carving.recommend import MICRO_WHOLE, Asker, Offer, Option, Why, recommend
from pool.carving.sizes import CardSize
from pool.lifecycle.cards import CardState
from pool.lifecycle.roles import QuotaUnit, WorkClass
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.templates import TemplateVersion
from pool.rules.needs import SEVERAL, Need, isolated_enough
from pool.rules.needs import partial as need_from
from pool.rules.workloads import host_defaults
from pool.scheduling.kinds import version as numbered

HOST = ("node__cpu_milli", "node__memory_mib", "node__disk_mib")

NEWNESS = ("facts__driver", "facts__compute_capability")
"""What cards of one label may differ in, from node to node and day to day."""

Asked = Mapping[tuple[str, str], int]
"""(card label or empty, unit) to how much: what quota rows count."""

Host = tuple[int, int, int]
"""CPU in thousandths of a core, RAM and disk in MiB."""

ATTENTION = frozenset(
    {
        WorkClass.INFERENCE,
        WorkClass.BATCH_INFERENCE,
        WorkClass.PRETRAINING,
        WorkClass.TRAINING,
        WorkClass.FINETUNING,
    }
)
"""Work that language models make: attention kernels decide how fast it is (requirement P8)."""

TOGETHER = frozenset({"node", "linked"})
"""Topologies whose parts all lie on one node."""


@dataclass(frozen=True, slots=True)
class PlacedOption:
    """An option with the partition in which it would run.

    `cards` is how many cards of this kind the partition has, `on_one_node` the most that one node
    has of them, `sample` one of them; `homes` has a network domain and a number for each node,
    `hosts` the CPU, RAM and disk of the nodes.
    """

    partition: Partition
    option: Option
    cards: int
    on_one_node: int
    sample: Card
    homes: tuple[tuple[str, int], ...] = ()
    hosts: frozenset[Host] = frozenset()

    def carries(self, need: Need) -> bool:
        """Whether some node is large enough: for all parts that must lie together, or for one."""
        parts = 1 if need.topology in TOGETHER else max(1, need.parts)
        said = (need.cpu_milli, need.ram_mib, need.disk_mib)
        return not self.hosts or any(
            all((one or 0) <= most * parts for one, most in zip(said, host, strict=True))
            for host in self.hosts
        )

    def holds(self, need: Need) -> bool:
        """Whether so many parts could ever lie there together, with nothing else running."""
        if not (self.option.usable and self.carries(need)):
            return False
        cards = self.on_one_node if need.topology in TOGETHER else self.cards
        if need.topology == "spread":
            return need.parts <= (len(self.homes) or self.cards)
        if need.whole and need.topology in SEVERAL:
            return any(_lies(need, here) for here in _domains(need, self.homes))
        return need.parts <= cards * _per_card(self.option, self.sample, need)

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
    trust: int | None,
    version: TemplateVersion | None,
    unlimited_modes: bool = False,
) -> list[PlacedOption]:
    """Every way the partitions' cards could meet the need, best first, refused ones with why.

    `trust` is the group that asks, None where nobody in particular does; `version` says what kind
    of work it is, None where it is not known yet. Both must be said: what is counted for a tenant
    has to be what that tenant can get. Four queries, whatever the number
    of cards: one card stands for all of its kind.
    """
    asked = need if isinstance(need, Need) else need_from(need)
    by_id = {one.pk: one for one in partitions}
    barred = _barred(by_id, trust)
    modes = modes_of(asked, unlimited_modes=unlimited_modes)
    found = []
    for card, kind in _kinds(by_id, asked):
        homes, hosts = tuple(kind.nodes.values()), frozenset(kind.hosts)
        total, most = sum(n for _, n in homes), max(n for _, n in homes)
        facts = card_facts(card)
        if not _wanted(card, facts, asked):
            continue
        chosen = by_id[card.partition_id or 0]
        asker = Asker(
            external=version is not None and version.kind == WorkloadKind.EXTERNAL,
            shares_trust=chosen.pk not in barred,
            attention=version is not None and version.work_class in ATTENTION,
            parts=asked.parts,
        )
        offers, shut = _offers(card, facts, chosen, asked, modes)
        options = recommend(ask_of(asked), offers, asker, chosen.tolerance_points * 10)
        options += tuple(Option(label=card.label, mode=m, why=Why.NOT_OFFERED) for m in shut)
        found += [PlacedOption(chosen, one, total, most, card, homes, hosts) for one in options]
    return sorted(found, key=_rank)


def trust_matters(*, partitions: Iterable[Partition]) -> bool:
    """Whether some of the partitions let only named trust groups share a card."""
    through = Partition.trust_groups.through
    return through.objects.filter(partition__in=list(partitions)).exists()


def _barred(partitions: Mapping[int, Partition], trust: int | None) -> frozenset[int]:
    """Partitions in which this trust group may share no card with others."""
    if trust is None:
        return frozenset()
    through = Partition.trust_groups.through
    named: dict[int, set[int]] = {}
    rows = through.objects.filter(partition__in=list(partitions))
    for partition, group in rows.values_list("partition_id", "trustgroup_id"):
        named.setdefault(partition, set()).add(group)
    return frozenset(pk for pk, groups in named.items() if trust not in groups)


def _rank(one: PlacedOption) -> tuple[bool, bool, float, int, int]:
    option = one.option
    shut = option.why is Why.NOT_OFFERED
    micro = option.card_micro
    return (not option.usable, shut, option.waste_percent, micro, one.partition.rank)


@dataclass(slots=True)
class _Kind:
    """Where cards of one label are: by node its network domain and their number; `first` is the
    key of one of them."""

    first: int = 0
    nodes: dict[int, tuple[str, int]] = field(default_factory=dict)
    hosts: set[Host] = field(default_factory=set)


def _kinds(partitions: Mapping[int, Partition], need: Need) -> list[tuple[Card, _Kind]]:
    """Each kind of card in each partition: only nodes that have the labels that are needed, and of
    their cards only those whose own driver and capability are new enough."""
    rows = Card.objects.filter(partition__in=list(partitions)).exclude(state=CardState.RETIRED)
    told = ("node", "node__labels", *HOST, *NEWNESS)
    named = rows.order_by().values("partition_id", "label", *told)
    found: dict[tuple[int, str], _Kind] = {}
    for row in named.annotate(here=Count("pk"), first=Min("pk")):
        labels = row["node__labels"]
        if not set(need.node_labels) <= {f"{key}={value}" for key, value in labels.items()}:
            continue
        if not _new_enough(row[NEWNESS[0]], row[NEWNESS[1]], need):
            continue
        kind = found.setdefault((row["partition_id"], row["label"]), _Kind())
        cards = kind.nodes.get(row["node"], ("", 0))[1] + row["here"]
        kind.nodes[row["node"]] = (str(labels.get("network") or ""), cards)
        kind.hosts.add((row[HOST[0]], row[HOST[1]], row[HOST[2]]))
        kind.first = min(kind.first or row["first"], row["first"])
    samples = rows.select_related("node").in_bulk([one.first for one in found.values()])
    ordered = [found[key] for key in sorted(found)]
    return [(samples[one.first], one) for one in ordered if one.first in samples]


def _wanted(card: Card, facts: CardFacts, need: Need) -> bool:
    return (
        (not need.labels or card.label in need.labels)
        and (not need.vendors or card.vendor in need.vendors)
        and (not need.architectures or facts.architecture in need.architectures)
        and (not need.encoder or bool(facts.nvenc))
        and (facts.nvenc or 0) >= need.encoder_units
        and (facts.nvdec or 0) >= need.decoder_units
        and (not need.graphics or facts.graphics)
        and card.nominal_gb >= need.min_size_gb
    )


def _new_enough(driver: str | None, capability: str | None, need: Need) -> bool:
    """Driver and capability, compared number by number as the planner does."""
    newest, able = need.min_driver, need.min_compute_capability
    return (not newest or numbered(driver or "") >= numbered(newest)) and (
        not able or numbered(capability or "") >= numbered(able)
    )


def _offers(
    card: Card, facts: CardFacts, partition: Partition, need: Need, modes: tuple[Mode, ...]
) -> tuple[tuple[Offer, ...], tuple[Mode, ...]]:
    """How such a card may be given; and the ways that it could, were the partition to offer them.

    With sharing off a partition offers only what the hardware cuts.
    """
    size = CardSize(nominal_gb=card.nominal_gb, memory_mib=card.memory_mib)
    floor = Isolation(need.isolation) if need.isolation else None
    offered, found, shut = set(partition.modes) or set(Mode), [], []
    for mode in facts.modes:
        geometry = geometry_of(facts, mode)
        isolation = geometry.isolation if geometry else MODE_ISOLATION[mode]
        if mode not in modes or not isolated_enough(isolation, floor):
            continue
        hard = geometry is not None and isolation is Isolation.HARDWARE
        if mode not in offered or not (partition.sharing or hard or mode is Mode.WHOLE):
            shut.append(mode)
            continue
        found.append(
            Offer(label=card.label, size=size, mode=mode, isolation=isolation, geometry=geometry)
        )
    return tuple(found), tuple(shut)


def _per_card(option: Option, card: Card, need: Need) -> int:
    """How many such parts one empty card can hold; soft shares divide its video engines as well."""
    if option.mode is Mode.WHOLE:
        return 1
    facts = card_facts(card)
    geometry = geometry_of(facts, option.mode)
    named = {p.name: p.max_instances for p in geometry.profiles} if geometry else {}
    most = named.get(option.profile) or max(1, MICRO_WHOLE // max(1, option.card_micro))
    engines = ((facts.nvenc, need.encoder_units), (facts.nvdec, need.decoder_units))
    if option.mode not in PLACED_MODES:
        most = min([most, *((has or 0) // asked for has, asked in engines if asked)])
    return most


def host_holds(*, need: Need, partitions: Iterable[Partition]) -> bool:
    """Whether one node with cards in the partitions could ever hold this work without a card."""
    rows = Node.objects.filter(
        cards__in=Card.objects.filter(partition__in=list(partitions)).exclude(
            state=CardState.RETIRED
        ),
        cpu_milli__gte=need.cpu_milli or 0,
        memory_mib__gte=need.ram_mib or 0,
        disk_mib__gte=need.disk_mib or 0,
    )
    for label in need.node_labels:
        key, _, value = label.partition("=")
        rows = rows.filter(labels__contains={key: value})
    return rows.exists()


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
