"""Packing: arrivals that never leave, placed one by one by the live planner's own offer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nodeagent.protocol.vocabulary import Mode, Vendor
from pool.scheduling.board import build
from pool.scheduling.model import (
    CardState,
    Demand,
    Need,
    NodeState,
    PartitionState,
    Placed,
    Snapshot,
    Waiting,
)
from pool.scheduling.offer import offer
from pool.scheduling.take import take

CARD_MIB = 100_000
"""Every recorded card counts this much memory: the records speak of shares only."""

PARTITION = 1


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One recorded node. Cores in thousandths, memory in MiB."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """One recorded task: whole cards when `gpu_milli` is 1000, else a share of one card."""

    number: int
    cpu_milli: int
    memory_mib: int
    gpus: int
    gpu_milli: int
    models: frozenset[str]


@dataclass(frozen=True, slots=True)
class Answer:
    """Where one task went: node name and card numbers; an empty name when it fits nowhere."""

    number: int
    node: str
    gpus: tuple[int, ...]


def need_of(arrival: Arrival) -> Need:
    """The recorded task as a need of the live planner."""
    share = 0 < arrival.gpu_milli < 1000 and arrival.gpus == 1
    return Need(
        parts=arrival.gpus,
        whole=arrival.gpus > 0 and not share,
        share_milli=arrival.gpu_milli if share else None,
        modes=(Mode.MPS,) if share else (),
        labels=arrival.models,
        cpu_milli=arrival.cpu_milli,
        host_memory_mib=arrival.memory_mib,
    )


def world(nodes: Sequence[NodeRow], arrivals: Iterable[Arrival]) -> Snapshot:
    """The recorded pool, empty, with the recorded mix of tasks as its recent demand."""
    states: list[NodeState] = []
    cards: list[CardState] = []
    for i, row in enumerate(nodes):
        states.append(
            NodeState(
                id=i,
                name=row.name,
                cpu_milli=row.cpu_milli,
                memory_mib=row.memory_mib,
                disk_mib=0,
                cpu_free_milli=row.cpu_milli,
                memory_free_mib=row.memory_mib,
                disk_free_mib=0,
            )
        )
        cards += [_card(i, row, k, len(cards) + k) for k in range(row.gpus)]
    mix = Counter(need_of(arrival) for arrival in arrivals)
    return Snapshot(
        now_s=0.0,
        nodes=tuple(states),
        cards=tuple(cards),
        partitions=(PartitionState(id=PARTITION, name="recorded"),),
        demand=tuple(Demand(need=need, weight=float(n)) for need, n in mix.items()),
    )


def _card(node: int, row: NodeRow, index: int, number: int) -> CardState:
    return CardState(
        id=number,
        uuid=f"{row.name}/{index}",
        node=node,
        partition=PARTITION,
        label=row.model,
        vendor=Vendor.OTHER,
        memory_mib=CARD_MIB,
        nominal_gb=100,
        modes=frozenset({Mode.WHOLE, Mode.MPS}),
        index=index,
    )


def replay(nodes: Sequence[NodeRow], arrivals: Sequence[Arrival]) -> Iterator[Answer]:
    """Place each arrival in turn; refused only when it fits nowhere."""
    snapshot = world(nodes, arrivals)
    board = build(snapshot)
    where = {card.id: (nodes[card.node].name, card.index) for card in snapshot.cards}
    for arrival in arrivals:
        work = Waiting(
            id=arrival.number,
            uid=str(arrival.number),
            tenants=("recorded",),
            trust="recorded",
            need=need_of(arrival),
            partitions=(PARTITION,),
            submitted_s=0.0,
        )
        placed = offer(board, work)
        if placed is None:
            yield Answer(arrival.number, "", ())
            continue
        take(board, work, placed)
        yield _answer(arrival, nodes, placed, where)


def _answer(
    arrival: Arrival,
    nodes: Sequence[NodeRow],
    placed: Placed,
    where: dict[int, tuple[str, int]],
) -> Answer:
    gpus = tuple(sorted(where[part.card][1] for part in placed.parts))
    return Answer(arrival.number, nodes[placed.hosts[0].node].name, gpus)
