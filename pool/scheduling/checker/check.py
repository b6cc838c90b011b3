"""One plan through the checker, start by start."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pool.scheduling.checker.cards import CardLedger, Fault
from pool.scheduling.checker.leaving import leave_faults, without
from pool.scheduling.checker.room import headroom_faults
from pool.scheduling.checker.rules import rule_faults, start_faults
from pool.scheduling.model import (
    HostPart,
    NodeState,
    Placed,
    Plan,
    Snapshot,
    Topology,
    Waiting,
)

Faults = Iterator[Fault]


@dataclass(slots=True)
class Books:
    """What the checker keeps while it goes through a plan, start by start."""

    snapshot: Snapshot
    ledger: CardLedger
    nodes: dict[int, NodeState]
    waiting: dict[int, Waiting]
    hosts: dict[int, list[HostPart]]
    groups: dict[int, set[str]]


def check(snapshot: Snapshot, plan: Plan) -> tuple[Fault, ...]:
    """Everything that is wrong with the plan; empty means that it may be committed."""
    books = _opened(snapshot)
    faults = [*_answers(books, plan), *leave_faults(snapshot, plan, books.waiting)]
    faults += _winners(books, plan)
    for placed in plan.placed:
        work = books.waiting.get(placed.workload)
        if work is not None:
            faults += [*books.ledger.faults(work, placed), *_shape(books, work, placed)]
            faults += [*_empty(books, work, placed), *_hosts(books, work, placed)]
    faults += [*books.ledger.final_faults(), *_host_sums(books)]
    faults += rule_faults(snapshot, plan, books.waiting)
    faults += headroom_faults(snapshot, plan)
    return tuple(faults)


def _opened(snapshot: Snapshot) -> Books:
    """The books before the first start."""
    return Books(
        snapshot=snapshot,
        ledger=CardLedger(snapshot),
        nodes={node.id: node for node in snapshot.nodes},
        waiting={work.id: work for work in snapshot.waiting},
        hosts=defaultdict(list),
        groups={n.id: {n.trust} if n.trust else set() for n in snapshot.nodes},
    )


def _answers(books: Books, plan: Plan) -> Faults:
    """Each waiting workload is placed or explained, exactly once."""
    starts = [placed.workload for placed in plan.placed]
    for number in sorted(set(starts)):
        if starts.count(number) > 1 or number in plan.waits:
            yield Fault("answered_twice", number)
        if number not in books.waiting:
            yield Fault("unknown_workload", number)
    for number in sorted(books.waiting):
        if number not in plan.waits and number not in starts:
            yield Fault("unanswered", number)
    for number in starts:
        work = books.waiting.get(number)
        late = work is not None and work.not_before_s > books.snapshot.now_s
        if work is not None and (work.held_back or late):
            yield Fault("held_back", number)


def _winners(books: Books, plan: Plan) -> Faults:
    """Each winner's planned place is good once its own victims have left, and only then."""
    sets: dict[int, set[int]] = defaultdict(set)
    for eviction in plan.evictions:
        sets[eviction.winner].add(eviction.victim)
    for start in plan.starts:
        work = books.waiting.get(start.workload)
        if start.workload in sets and work is not None and start.placed is not None:
            for fault in _start(books, frozenset(sets[work.id]), work, start.placed):
                yield Fault("planned_" + fault.code, work.id, fault.detail)
            yield from _needless(books, frozenset(sets[work.id]), work, start.placed)


def _needless(books: Books, leaving: frozenset[int], work: Waiting, placed: Placed) -> Faults:
    """Nobody leaves whose staying would leave the place good, and who gives no limit back."""
    spent = {tenant for tenant, _ in work.spent}
    for run in books.snapshot.running:
        if run.id not in leaving or spent & set(run.tenants):
            continue
        if not any(_start(books, leaving - {run.id}, work, placed)):
            yield Fault("leaves_without_need", run.id)


def _start(books: Books, gone: frozenset[int], work: Waiting, placed: Placed) -> Faults:
    """One start alone, once these have left: hardware, shape, hosts, and the rows it counts in."""
    then = _opened(without(books.snapshot, gone))
    yield from then.ledger.faults(work, placed)
    yield from _shape(then, work, placed)
    yield from _empty(then, work, placed)
    yield from _hosts(then, work, placed)
    yield from then.ledger.final_faults()
    yield from _host_sums(then)
    yield from start_faults(then.snapshot, placed, work)


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
    if topology is Topology.LINKED and len({card.domain for card in cards}) > 1:
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
        if not (need.storage <= node.storage and need.node_labels <= node.labels):
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
