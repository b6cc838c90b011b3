"""Short-lived marks in Valkey by which background processes say that they live.

A mark is a hint for `/healthz`, never a fact for a decision: it may be lost at any time.
"""

import logging
from typing import Any

import redis
from celery import signals
from django.conf import settings

log = logging.getLogger(__name__)
PREFIX = "pulse:"
SECONDS = 15
BEAT = "beat"


def mark(*names: str) -> None:
    """These live now. Without Valkey the mark is missing, which is the truth then, and no error."""
    try:
        link = _link()
        for name in names:
            link.set(_key(name), 1, ex=SECONDS)
        link.close()
    except (redis.RedisError, OSError) as bad:
        log.debug("no pulse: %s", bad)


def alive(names: list[str]) -> dict[str, bool]:
    """Which of `names` left a mark within the last 15 seconds.

    Raises:
        redis.RedisError: Valkey does not answer.
    """
    link = _link()
    try:
        found = link.mget([_key(name) for name in names])
    finally:
        link.close()
    return {name: value is not None for name, value in zip(names, found, strict=True)}


def _link() -> redis.Redis:
    where = settings.CACHES["fast"]["LOCATION"]
    return redis.Redis.from_url(where, socket_timeout=1, socket_connect_timeout=1)


def _key(name: str) -> str:
    return f"{settings.CELERY_BROKER_TRANSPORT_OPTIONS['global_keyprefix']}{PREFIX}{name}"


@signals.heartbeat_sent.connect
def worker_lives(sender: Any, **kwargs: Any) -> None:
    """A worker's consumer beats every two seconds while it holds its broker connection."""
    queues = sender.eventer.app.amqp.queues.consume_from
    mark(*(f"queue:{name}" for name in queues))


@signals.beat_init.connect
def beat_lives(sender: Any, **kwargs: Any) -> None:
    """From here on each task that this process sends is a sign of beat."""
    signals.after_task_publish.connect(_beat_sent, weak=False)


def _beat_sent(**kwargs: Any) -> None:
    mark(BEAT)
