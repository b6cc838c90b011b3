"""After commit: tell the web processes that event N is there. Lost without harm."""

from collections.abc import Mapping
from typing import Any

import structlog
from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from pool.topics import topics

GROUP = "events"
NODES = "nodes"

log = structlog.get_logger(__name__)


def announce(
    number: int, *, kind: str, subject: str, project_id: int | None, data: Mapping[str, Any]
) -> None:
    """Put the event's number and topics on the channel layer once the transaction has committed."""
    named = topics(kind, subject, project_id, data)
    message = {"type": "event", "number": number, "kind": str(kind), "topics": list(named)}
    transaction.on_commit(lambda: _send(GROUP, message), robust=True)


def wake_node(uid: str) -> None:
    """Ask the web processes, after commit, to wake the agent of one node."""
    transaction.on_commit(lambda: _send(NODES, {"type": "wake", "node": uid}), robust=True)


def announce_log(workload_uid: str, attempt: int, size: int) -> None:
    """Tell the web processes, after commit, that an attempt's log has grown to `size` bytes."""
    message = {"type": "log", "workload": workload_uid, "attempt": attempt, "size": size}
    transaction.on_commit(lambda: _send(GROUP, message), robust=True)


def _send(group: str, message: dict[str, Any]) -> None:
    """One try. The layer may be away: pages then show the truth at their next snapshot."""
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group, message)
    except (OSError, ConnectionError, TimeoutError) as away:
        log.warning("announce.lost", group=group, reason=str(away))
    except Exception as away:  # redis-py's errors have no base in common
        log.warning("announce.lost", group=group, reason=repr(away))
