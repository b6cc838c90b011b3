"""The ranks of a placement on several nodes: which node is which, and how many cards it brings."""

from collections import Counter
from collections.abc import Iterable, Mapping

from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.ranks import Rank
from pool.models.workloads import Attempt
from pool.scheduling.model import Placed


def in_rank_order(nodes: Iterable[Node]) -> list[Node]:
    """Rack by rack, then by name, so that neighbours in rank are near; the first is the master."""
    return sorted(nodes, key=lambda node: (str(node.labels.get("rack", "")), node.name))


def ranks_open(
    *, attempt: Attempt, placed: Placed, cards: Mapping[int, Card], nodes: list[Node]
) -> None:
    """Write a rank for each of several nodes; an attempt on one node has none."""
    if len(nodes) < 2:
        return
    parts = Counter(cards[part.card].node_id for part in placed.parts)
    Rank.objects.bulk_create(
        Rank(attempt=attempt, rank=number, node=node, cards=parts[node.pk])
        for number, node in enumerate(nodes)
    )
