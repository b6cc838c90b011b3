"""Who knocks: a node by its credential, of which the books keep only the hash."""

from functools import cache

from django.db.models import Subquery
from django.http import HttpRequest

from pool.errors import NodeRefused, PoolError
from pool.lifecycle.nodes import NodeState
from pool.models import Installation, Node
from portal.access.rates import Rate
from portal.access.tokens import token_hash

WRONG = Rate(limit=60, seconds=60)
KNOCKS = Rate(limit=6000, seconds=60)


class TooOften(PoolError):
    """Too many knocks; detail: seconds to wait."""

    code = "throttled"
    status = 429
    text = "Too many calls; wait %(seconds)s s."


def credential(header: str) -> str:
    """The credential in an Authorization header; empty when there is none."""
    scheme, _, value = header.partition(" ")
    return value.strip() if scheme.lower() == "bearer" else ""


@cache
def _statement() -> str:
    """The question as SQL, put together once: it is asked by every knock of every node."""
    epoch = Subquery(Installation.objects.filter(pk=1).values("epoch"))
    known = (
        Node.objects.annotate(epoch=epoch)
        .defer("host", "labels")
        .filter(credential_hash="-")
        .exclude(state=NodeState.RETIRED)
    )
    return str(known.query.sql_with_params()[0])


def node_of(plain: str) -> Node | None:
    """The node that was given this credential, with the installation's `epoch`; one query."""
    if not plain:
        return None
    values = (1, token_hash(plain), NodeState.RETIRED)
    return next(iter(Node.objects.raw(_statement(), values)), None)


def knocking(request: HttpRequest) -> Node:
    """The node behind a request.

    Raises:
        NodeRefused: no credential, an unknown one, or one that was taken back.
        TooOften: wrong ones keep coming from that address, or the node calls far too often.
    """
    node = node_of(credential(request.headers.get("Authorization", "")))
    if node is None:
        refuse_often(request)
        raise NodeRefused(why="the credential is not valid")
    wait = KNOCKS.knock(node.uid)
    if wait:
        raise TooOften(seconds=round(wait, 1))
    return node


def refuse_often(request: HttpRequest) -> None:
    """Count one failed knock from this address.

    Raises:
        TooOften: over 60 in a minute. A right credential from there is never refused for it.
    """
    wait = WRONG.knock(request.META.get("REMOTE_ADDR", ""))
    if wait:
        raise TooOften(seconds=round(wait, 1))
