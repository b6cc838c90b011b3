"""Attempts as their nodes see them: alone on one, or as a rank of a gang."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Q

from nodeagent.protocol.desired import Launch
from pool.lifecycle.workloads import AttemptState
from pool.models.nodes import Node
from pool.models.ranks import Rank
from pool.models.workloads import Attempt
from pool.rules.gangs import GANG_TOPOLOGIES


def part_on(node: Node) -> Q:
    """Attempts of which the node runs, or ran, the whole or a rank."""
    return Q(node=node, size=1) | Q(ranks__node=node)


def wanted_on(node: Node) -> Q:
    """Open attempts of which something is still expected of the node."""
    mine = Q(ranks__node=node, ranks__clean_at=None, ranks__lost_at=None)
    return Q(state=AttemptState.OPEN) & (Q(node=node, size=1) | mine)


def unsettled_on(node: Node) -> Q:
    """What the books ended or gave up, and the node has not yet reported clean."""
    ended = Q(state=AttemptState.ENDED)
    mine = Q(ranks__node=node, ranks__clean_at=None)
    given_up = Q(ranks__lost_at__isnull=False)
    return (ended & Q(node=node, size=1, clean_at=None)) | (mine & (ended | given_up))


def launches(*, attempts: Iterable[Attempt], node: Node) -> dict[int, Launch]:
    """What this node's rank is told of its gang, by attempt; one query, none without a gang."""
    rows = list(attempts)
    gangs = [one for one in rows if one.size > 1]
    ranks: dict[int, list[Rank]] = defaultdict(list)
    if gangs:
        found = Rank.objects.filter(attempt__in=gangs).select_related("node").order_by("rank")
        for one in found:
            ranks[one.attempt_id].append(one)
    return {
        row.pk: _launch(row, ranks[row.pk], node)
        for row in rows
        if row.size > 1 or row.workload.need.get("topology") in GANG_TOPOLOGIES
    }


def _launch(attempt: Attempt, ranks: list[Rank], node: Node) -> Launch:
    waits = attempt.workload.rendezvous_seconds
    if not ranks:
        alone = int(attempt.workload.need.get("parts", 1))
        return Launch(rank=0, size=1, hosts=(address(node),), slots=(alone,), timeout_s=waits)
    return Launch(
        rank=next(one.rank for one in ranks if one.node_id == node.pk),
        size=len(ranks),
        hosts=tuple(address(one.node) for one in ranks),
        slots=tuple(one.cards for one in ranks),
        port=attempt.master_port or 0,
        timeout_s=waits,
    )


def address(node: Node) -> str:
    """Where the other nodes reach it: what its agent says, else its name."""
    return str(node.host.get("address") or node.name)
