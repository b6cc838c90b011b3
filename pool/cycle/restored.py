"""After a restored backup: nothing starts before the nodes have said what runs on them."""

from datetime import timedelta

from pool.clock import now
from pool.lifecycle.nodes import NodeState
from pool.models.installation import Installation
from pool.models.nodes import Node

LONGEST = timedelta(minutes=10)
"""A node that answers and still does not come to the new epoch is waited for no longer."""

ANSWER = (NodeState.READY, NodeState.CORDONED, NodeState.DRAINING)


def unheard() -> bool:
    """Whether a node that answers has not spoken in the epoch that was just begun.

    What waits in old books may run there already. A silent node is not waited for: what it runs is
    told when it returns.
    """
    raised = Installation.objects.values_list("epoch_raised_at", flat=True).get(pk=1)
    if raised is None or now() - raised > LONGEST:
        return False
    return Node.objects.filter(state__in=ANSWER, reached=0, joined_at__lt=raised).exists()
