"""The checker's books of cards and nodes while starts are gone through, one by one."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from pool.scheduling.checker.cards import CardLedger
from pool.scheduling.checker.faults import Fault
from pool.scheduling.model import (
    CardState,
    HostPart,
    NodeState,
    Placed,
    Snapshot,
    Topology,
    Waiting,
)

Faults = Iterator[Fault]

NVLINK = 100
"""The score of a pair of cards that are joined by NVLink, at the least."""


@dataclass(slots=True)
class Books:
    """What the checker keeps while it goes through a plan, start by start."""

    snapshot: Snapshot
    ledger: CardLedger
    nodes: dict[int, NodeState]
    waiting: dict[int, Waiting]
    hosts: dict[int, list[HostPart]]
    groups: dict[int, set[str]]


def opened(snapshot: Snapshot) -> Books:
    """The books before the first start."""
    return Books(
        snapshot=snapshot,
        ledger=CardLedger(snapshot),
        nodes={node.id: node for node in snapshot.nodes},
        waiting={work.id: work for work in snapshot.waiting},
        hosts=defaultdict(list),
        groups={n.id: {n.trust} if n.trust else set() for n in snapshot.nodes},
    )


def entered(books: Books, work: Waiting, placed: Placed) -> Faults:
    """Everything that is wrong with one more start where it is to be; it is in the books then."""
    yield from books.ledger.faults(work, placed)
    yield from _shape(books, work, placed)
    yield from _empty(books, work, placed)
    yield from _hosts(books, work, placed)


def closed(books: Books) -> Faults:
    """What must hold of the cards and nodes that the starts have touched, once all are in."""
    yield from books.ledger.final_faults()
    yield from _host_sums(books)


def _shape(books: Books, work: Waiting, placed: Placed) -> Faults:
    """The parts lie as the topology says."""
    if len(placed.parts) != work.need.parts:
        yield Fault("parts", work.id)
    cards = [books.ledger.cards[p.card] for p in placed.parts if p.card in books.ledger.cards]
    nodes = [card.node for card in cards]
    topology = work.need.topology
    if topology is Topology.SPREAD and len(set(nodes)) != len(nodes):
        yield Fault("not_spread", work.id)
    if topology in (Topology.NODE, Topology.LINKED) and len(set(nodes)) > 1:
        yield Fault("not_one_node", work.id)
    if topology is Topology.LINKED and not _linked(cards):
        yield Fault("not_linked", work.id)
    shares = set(Counter(nodes).values())
    if work.need.nodes and (len(set(nodes)) != work.need.nodes or len(shares) != 1):
        yield Fault("not_so_many_nodes", work.id)
    networks = {books.nodes[node].network for node in nodes}
    if topology in (Topology.NETWORK, Topology.WHOLE_NODES) and len(networks) > 1:
        yield Fault("not_one_network", work.id)
    hosts = {host.node for host in placed.hosts}
    if hosts != set(nodes) if nodes else len(hosts) != 1:
        yield Fault("hosts_elsewhere", work.id)


def _linked(cards: Sequence[CardState]) -> bool:
    """All in one domain that has a name; or, where none is named, NVLink between any two."""
    domains = {card.domain for card in cards}
    if domains != {""}:
        return len(domains) <= 1
    pairs = combinations(cards, 2)
    return all(dict(one.links).get(other.id, 0) >= NVLINK for one, other in pairs)


def _empty(books: Books, work: Waiting, placed: Placed) -> Faults:
    """Whole nodes have nothing else on them, neither what runs nor what this plan put there."""
    if work.need.topology is not Topology.WHOLE_NODES:
        return
    used = {host[0] for run in books.snapshot.running for host in run.hosts}
    used |= {node for node, hosts in books.hosts.items() if hosts}
    for host in placed.hosts:
        if host.node in used:
            yield Fault("node_not_empty", work.id)


def _hosts(books: Books, work: Waiting, placed: Placed) -> Faults:
    """Each node is open to the work, and together they give it what it needs."""
    need = work.need
    for host in placed.hosts:
        node = books.nodes.get(host.node)
        if node is None or not node.offered:
            yield Fault("node_not_offered", work.id)
            continue
        if node.id in work.avoid:
            yield Fault("node_avoided", work.id)
        able = need.runner in node.runners
        if not (able and need.storage <= node.storage and need.node_labels <= node.labels):
            yield Fault("node_lacks", work.id)
        books.hosts[node.id].append(host)
        books.groups[node.id].add(work.trust)
    cpu = sum(host.cpu_milli for host in placed.hosts)
    memory = sum(host.memory_mib for host in placed.hosts)
    disk = sum(host.disk_mib for host in placed.hosts)
    if cpu < need.cpu_milli or memory < need.host_memory_mib or disk < need.disk_mib:
        yield Fault("host_too_small", work.id)


def _host_sums(books: Books) -> Faults:
    """No node gives more than it has, nor mixes groups where it must not."""
    for number, hosts in sorted(books.hosts.items()):
        node = books.nodes[number]
        over = (
            sum(h.cpu_milli for h in hosts) > max(0, node.cpu_free_milli)
            or sum(h.memory_mib for h in hosts) > max(0, node.memory_free_mib)
            or sum(h.disk_mib for h in hosts) > max(0, node.disk_free_mib)
        )
        if over:
            yield Fault("node_overcommitted", number)
        if node.shared_by_one_group and len(books.groups[number]) > 1:
            yield Fault("node_mixes_groups", number)
