"""Whether a node's word that it runs waiting work may be believed without a person.

A node's credential can be stolen, and uids of workloads stand in logs and addresses: without this
anybody who holds both could take work out of the queue, and be told its secrets.
"""

import msgspec

from nodeagent.protocol.report import Origin
from pool.models.adoption.found import FoundWork
from pool.models.cards import Card
from pool.models.workloads import Attempt, Workload
from pool.selectors.desired import account_of


def is_plausible(*, found: FoundWork, workload: Workload) -> bool:
    """The node ran this workload before, or tells exactly what it would have been told to run, on
    cards of its own that lie where the workload may go.
    """
    if Attempt.objects.filter(workload=workload, node=found.node_id).exists():
        return True
    if found.origin is None:
        return False
    try:
        origin = msgspec.convert(found.origin, Origin)
    except msgspec.ValidationError:
        return False
    return _is_it(origin, workload) and _lies_right(found, origin, workload)


def _is_it(origin: Origin, workload: Workload) -> bool:
    said = workload.parent or workload
    return (
        str(origin.kind) == workload.kind
        and origin.project == workload.project.slug
        and origin.account == account_of(workload)
        and list(origin.command) == list(said.command)
        and origin.image == workload.image
    )


def _lies_right(found: FoundWork, origin: Origin, workload: Workload) -> bool:
    uuids = {one.card for one in origin.slices}
    if not uuids:
        return True
    cards = list(Card.objects.filter(uuid__in=uuids, node=found.node_id))
    allowed = set(workload.partitions.values_list("pk", flat=True))
    return len(cards) == len(uuids) and all(
        card.partition_id is not None and (not allowed or card.partition_id in allowed)
        for card in cards
    )
