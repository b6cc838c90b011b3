"""After commit: tell the web processes that event N is there. Lost without harm."""

import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import redis
import structlog
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction
from redis.backoff import NoBackoff
from redis.retry import Retry

from pool.topics import bell_topic, topics, use_topics

GROUP = "events"
NODES = "nodes"
REST_S = 1.0
"""After a failed send nothing is tried for so long: a layer that hangs must not hold up writers."""

log = structlog.get_logger(__name__)


def announce(
    number: int, *, kind: str, subject: str, project_id: int | None, data: Mapping[str, Any]
) -> None:
    """Put the event's number and topics on the channel layer once the transaction has committed."""
    named = topics(kind, subject, project_id, data)
    message = {"type": "event", "number": number, "kind": str(kind), "topics": list(named)}
    transaction.on_commit(lambda: _send(GROUP, message), robust=True)


def announce_bells(uids: Iterable[str]) -> None:
    """Tell the web processes, after commit, that what these people have not read has changed.

    It is no event of the log: a bell that missed it is right again at its next picture.
    """
    topics_of = [bell_topic(uid) for uid in uids]
    if topics_of:
        message = {"type": "bell", "topics": topics_of}
        transaction.on_commit(lambda: _send(GROUP, message), robust=True)


def announce_use(node_uid: str, workload_uids: Iterable[str]) -> None:
    """Tell the web processes, after commit, that readings of a node and of this work have come.

    It is no event of the log: ten seconds later the next readings come.
    """
    message = {"type": "use", "topics": use_topics(node_uid, workload_uids)}
    transaction.on_commit(lambda: _send(GROUP, message), robust=True)


def wake_node(uid: str) -> None:
    """Ask the web processes, after commit, to wake the agent of one node."""
    transaction.on_commit(lambda: _send(NODES, {"type": "wake", "node": uid}), robust=True)


def node_told(uid: str, word: str) -> None:
    """Say a word to the agent of one node at once, through whichever process holds its socket."""
    _send(NODES, {"type": "wake", "node": uid, "word": word})


def announce_log(workload_uid: str, attempt: int, size: int, rank: int = 0) -> None:
    """Tell the web processes, after commit, that a rank's log has grown to `size` bytes."""
    message: dict[str, Any] = {"type": "log", "workload": workload_uid, "attempt": attempt}
    message |= {"size": size, "rank": rank}
    transaction.on_commit(lambda: _send(GROUP, message), robust=True)


class Speaker:
    """Publishes to the groups of the channel layer over one plain connection.

    The layer itself speaks only inside an event loop: making one for each message takes
    milliseconds of every writer. What is published is what `group_send` would publish.
    """

    def __init__(self, host: str, prefix: str) -> None:
        self._link = redis.Redis.from_url(
            host, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        )
        self._prefix = prefix
        self._rests_until = 0.0

    def send(self, group: str, message: dict[str, Any]) -> None:
        """One try, and none while it rests after a failure."""
        if time.monotonic() < self._rests_until:
            return
        body = get_channel_layer().serialize(message)
        try:
            self._link.publish(f"{self._prefix}__group__{group}", body)
        except (redis.RedisError, OSError) as away:
            self._rests_until = time.monotonic() + REST_S
            log.warning("announce.lost", group=group, reason=repr(away))


@cache
def _speaker() -> Speaker:
    config = settings.CHANNEL_LAYERS["default"]["CONFIG"]
    return Speaker(config["hosts"][0], config["prefix"])


def _send(group: str, message: dict[str, Any]) -> None:
    """Pages show the truth at their next snapshot when a message is lost."""
    _speaker().send(group, message)
