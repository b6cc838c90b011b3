"""What the pool has now, for the planner: nodes, cards, slices, partitions; five queries."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

import msgspec
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection
from django.db.models import Value

from nodeagent.protocol.inventory import Geometry, Link
from nodeagent.protocol.vocabulary import Isolation, Mode, Vendor
from pool.cycle.carried.memory import Memory
from pool.cycle.carried.rows import Made
from pool.lifecycle.cards import CardState as CardBook
from pool.lifecycle.nodes import NodeState as NodeBook
from pool.lifecycle.slices import SliceState as SliceBook
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.scheduling.claims import gang_runner
from pool.scheduling.model import (
    CardState,
    Ceiling,
    CeilingScope,
    NodeState,
    PartitionState,
    Policy,
    SliceStage,
    SliceState,
)

STAGES = {
    SliceBook.PLANNED: SliceStage.COMING,
    SliceBook.CREATING: SliceStage.COMING,
    SliceBook.CLEANING: SliceStage.COMING,
    SliceBook.READY: SliceStage.READY,
    SliceBook.DELETING: SliceStage.GOING,
    SliceBook.FAILED: SliceStage.BROKEN,
    SliceBook.LOST: SliceStage.BROKEN,
}

_CARDS = """
SELECT c.id, c.uuid, c.node_id, c.partition_id, c.label, c.vendor, c.memory_mib, c.nominal_gb,
       c.modes, c.index, c.model, c.strength, c.domain, c.numa, c.offered, c.state,
       c.facts->>'architecture', c.facts->>'compute_capability', c.facts->>'driver',
       coalesce((c.facts->>'nvenc')::int, 0), coalesce((c.facts->>'graphics')::bool, false),
       (c.facts->'geometries')::text, (c.facts->'links')::text,
       coalesce((c.facts->>'nvdec')::int, 0)
FROM pool_card c WHERE c.partition_id IS NOT NULL AND c.state <> 'retired'
"""

_SOME_CARDS = _CARDS + "AND c.id = ANY(%(cards)s)"

_CARD_VERSIONS = """
SELECT c.id, c.xmin::text || ' ' || c.ctid::text
FROM pool_card c WHERE c.partition_id IS NOT NULL AND c.state <> 'retired'
"""

_NODE_VERSIONS = "SELECT n.id, n.xmin::text || ' ' || n.ctid::text FROM pool_node n"

_SLICES = """
SELECT s.id, s.card_id, s.mode, s.profile, s.memory_mib, s.compute_milli, s.state,
       lower(s.span), upper(s.span) - lower(s.span), s.isolation,
       a.workload_id, h.trust, v.work_class,
       coalesce((w.need->>'heavy_bandwidth')::bool, false) OR CASE v.bandwidth
           WHEN 'heavy' THEN true
           WHEN 'measured' THEN coalesce((
               SELECT l.heavy FROM pool_learnedbandwidth l
               WHERE l.version_id = v.id AND (l.owner_id = w.owner_id OR l.owner_id IS NULL)
               ORDER BY l.owner_id NULLS LAST LIMIT 1), false)
           ELSE false END,
       s.encoder_units, s.decoder_units
FROM pool_slice s
LEFT JOIN pool_hold h ON h.slice_id = s.id AND upper_inf(h.held)
LEFT JOIN pool_placement p ON p.id = h.placement_id
LEFT JOIN pool_attempt a ON a.id = p.attempt_id
LEFT JOIN pool_workload w ON w.id = a.workload_id
LEFT JOIN pool_templateversion v ON v.id = w.template_version_id
WHERE upper_inf(s.lived)
"""

_HOSTS = """
SELECT a.workload_id, h.node_id, h.cpu_milli, h.ram_mib, h.disk_mib, h.trust
FROM pool_hold h
JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id
WHERE h.slice_id IS NULL AND upper_inf(h.held)
"""

Row = tuple[Any, ...]


def rows_of(query: str, given: Mapping[str, Any] | None = None) -> list[Row]:
    """Every row of one query."""
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        found: list[Row] = cursor.fetchall()
    return found


def host_holds() -> list[Row]:
    """Open host shares: workload, node, CPU, RAM, disk, trust group."""
    return rows_of(_HOSTS)


@lru_cache(maxsize=512)
def _geometries(text: str) -> tuple[Geometry, ...]:
    """Cards of one kind say the same, so that each text is read once a process."""
    return msgspec.json.decode(text.encode(), type=tuple[Geometry, ...])


@lru_cache(maxsize=16_384)
def _links(text: str) -> tuple[Link, ...]:
    return msgspec.json.decode(text.encode(), type=tuple[Link, ...])


def partitions() -> tuple[tuple[PartitionState, ...], dict[int, Partition]]:
    """The partitions' switches, and their rows; one query."""
    read = Partition.objects.annotate(
        doors=ArrayAgg("organizations", distinct=True, default=Value([])),
        trusted=ArrayAgg("trust_groups", distinct=True, default=Value([])),
    )
    rows: dict[int, Partition] = {row.pk: row for row in read}
    return tuple(_partition(row) for row in read), rows


def _partition(row: Any) -> PartitionState:
    open_to = None
    if not row.open_to_all:
        open_to = frozenset(f"org:{one}" for one in row.doors if one is not None)
    trusts = frozenset(str(one) for one in row.trusted if one is not None)
    return PartitionState(
        id=row.pk,
        name=row.name,
        policy=Policy(row.policy),
        policies=tuple((name, Policy(one)) for name, one in sorted(row.class_policies.items())),
        open_to=open_to,
        trusts=trusts or None,
        preemption=row.preemption,
        lending=row.lending,
        tolerance_milli=row.tolerance_points * 10,
        ceilings=tuple(_ceilings(row.ceilings)),
        return_within_s=row.give_back_seconds,
    )


def _ceilings(given: Mapping[str, Any]) -> Iterable[Ceiling]:
    """{scope: [{"purposes": […], "compute_milli": n, "memory_milli": n}]}."""
    for scope, entries in sorted(given.items()):
        for one in entries:
            yield Ceiling(
                scope=CeilingScope(scope),
                purposes=frozenset(one.get("purposes", ())),
                compute_milli=int(one.get("compute_milli", 1000)),
                memory_milli=int(one.get("memory_milli", 1000)),
            )


def slices(
    memory: Memory | None = None,
) -> tuple[tuple[SliceState, ...], dict[int, tuple[Mode, str | None]]]:
    """Slices that are not gone; and by card the mode it is in and who is trusted on it now."""
    keep = memory.slices if memory is not None else Made[SliceState]()
    found: list[SliceState] = []
    on_card: dict[int, tuple[Mode, str | None]] = {}
    for row in rows_of(_SLICES):
        trust = None if row[11] is None else str(row[11])
        mode = Mode(row[2])
        known = on_card.get(row[1], (mode, None))[1]
        on_card[row[1]] = (mode, trust or known)
        found.append(keep.of(row[0], row, partial(_slice, row)))
    return tuple(found), on_card


def _slice(row: Row) -> SliceState:
    return SliceState(
        id=row[0],
        card=row[1],
        mode=Mode(row[2]),
        profile=row[3],
        memory_mib=row[4],
        compute_milli=row[5],
        stage=STAGES[SliceBook(row[6])],
        start=row[7],
        size=row[8],
        held_by=row[10],
        trust=None if row[11] is None else str(row[11]),
        purpose=row[12] or "",
        heavy_bandwidth=bool(row[13]),
        encoder_units=row[14],
        decoder_units=row[15],
    )


def cards(
    on_card: Mapping[int, tuple[Mode, str | None]],
    rows: Mapping[int, Partition],
    memory: Memory | None = None,
) -> tuple[CardState, ...]:
    """Every card of a partition. Its mode is that of its slices, None when it has none."""
    read = _card_rows(memory)
    by_uuid = {row[1]: pk for pk, (_, row) in read.items()}
    keep = memory.card_states if memory is not None else Made[CardState]()
    peers = memory.peers_are(by_uuid) if memory is not None else 0
    found = []
    for pk, (version, row) in read.items():
        partition, now = rows.get(row[3]), on_card.get(pk, (None, None))
        if partition is None:
            continue
        mixed = bool(partition.ceilings.get(CeilingScope.CARD_SPLIT))
        key = (version, now, tuple(partition.modes), partition.sharing, mixed, peers)
        found.append(keep.of(pk, key, partial(_card, row, now, partition, by_uuid)))
    return tuple(found)


def _card_rows(memory: Memory | None) -> Mapping[int, tuple[str, Row]]:
    """The cards' rows; of those that memory has in the same version nothing is read again."""
    if memory is None:
        return {row[0]: ("", row) for row in rows_of(_CARDS)}
    return memory.cards.renewed(
        rows_of(_CARD_VERSIONS),
        lambda ids: ((row[0], row) for row in rows_of(_SOME_CARDS, {"cards": list(ids)})),
    )


def _node_rows(memory: Memory | None) -> Mapping[int, tuple[str, Node]]:
    if memory is None:
        return {row.pk: ("", row) for row in Node.objects.all()}
    return memory.nodes.renewed(
        rows_of(_NODE_VERSIONS),
        lambda ids: ((row.pk, row) for row in Node.objects.filter(pk__in=ids)),
    )


def _card(
    row: Row,
    now: tuple[Mode | None, str | None],
    partition: Partition,
    by_uuid: Mapping[str, int],
) -> CardState:
    geometries = _geometries(row[21] or "[]")
    links = (
        (by_uuid[one.peer], one.score + 100 * one.nvlinks)
        for one in _links(row[22] or "[]")
        if one.peer in by_uuid
    )
    return CardState(
        id=row[0],
        uuid=row[1],
        node=row[2],
        partition=row[3],
        label=row[4],
        vendor=Vendor(row[5]),
        memory_mib=row[6],
        nominal_gb=row[7],
        modes=_modes(row[8], partition, geometries),
        index=row[9],
        model=row[10],
        architecture=row[16] or "",
        compute_capability=row[17] or "",
        driver=row[18] or "",
        geometries=geometries,
        mode=now[0],
        trust=now[1],
        strength=row[11] or 0,
        domain=row[12],
        numa=row[13],
        links=tuple(sorted(links)),
        nvenc=row[19],
        nvdec=row[23],
        graphics=row[20],
        offered=row[14] and row[15] in (CardBook.READY, CardBook.PARTIAL),
        mixed=bool(partition.ceilings.get(CeilingScope.CARD_SPLIT)),
    )


def _modes(
    able: Iterable[str], partition: Partition, geometries: tuple[Geometry, ...]
) -> frozenset[Mode]:
    """What the card can do and its partition offers; with sharing off only what hardware cuts."""
    offered = set(partition.modes) or set(Mode)
    hard = {one.mode for one in geometries if one.isolation is Isolation.HARDWARE}
    found = {Mode(one) for one in able if one in offered}
    if not partition.sharing:
        found &= hard | {Mode.WHOLE}
    return frozenset(found)


def nodes(
    hosts: Iterable[Row], held: tuple[CardState, ...], memory: Memory | None = None
) -> tuple[NodeState, ...]:
    """Machines with what is free of them; one with cards of several partitions serves them all."""
    used: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    trust: dict[int, str] = {}
    for _, node, cpu, ram, disk, group in hosts:
        for place, amount in enumerate((cpu, ram, disk)):
            used[node][place] += amount
        trust[node] = str(group)
    homes: dict[int, set[int]] = defaultdict(set)
    for card in held:
        homes[card.node].add(card.partition)
    keep = memory.node_states if memory is not None else Made[NodeState]()
    found = []
    for pk, (version, row) in _node_rows(memory).items():
        key = (version, tuple(used[pk]), trust.get(pk), frozenset(homes[pk]))
        make = partial(_node, row, used[pk], trust.get(pk), homes[pk])
        found.append(keep.of(pk, key, make))
    return tuple(found)


def _node(row: Node, used: list[int], trust: str | None, homes: set[int]) -> NodeState:
    return NodeState(
        id=row.pk,
        name=row.name,
        cpu_milli=row.cpu_milli,
        memory_mib=row.memory_mib,
        disk_mib=row.disk_mib,
        cpu_free_milli=row.cpu_milli - used[0],
        memory_free_mib=row.memory_mib - used[1],
        disk_free_mib=row.disk_mib - used[2],
        partition=next(iter(homes)) if len(homes) == 1 else None,
        rack=str(row.labels.get("rack", "")),
        network=str(row.labels.get("network", "")),
        arch=str(row.host.get("arch", "")),
        labels=frozenset(f"{key}={value}" for key, value in row.labels.items()),
        storage=frozenset(row.host.get("mounts", ())),
        runners=_runners(row),
        identity=row.identity,
        fence=row.fence,
        trust=trust,
        offered=row.state == NodeBook.READY and not row.observe,
    )


def _runners(row: Node) -> frozenset[str]:
    """How work can be run there; an agent that names an address runs ranks of gangs as well."""
    alone = frozenset(row.host.get("runners", ("process",)))
    return alone | {gang_runner(one) for one in alone} if row.host.get("address") else alone
