"""Pure: which topics of the live pages an event touches."""

from collections.abc import Iterable, Mapping
from typing import Any

POOL = "pool"
QUEUE = "queue"
BELL = "bell"
USE, LOAD = "use", "load"
"""How busy all cards are, or with `:<uid>` those of a node; how busy a workload keeps its own."""


def topics(
    kind: str, subject: str, project_id: int | None, data: Mapping[str, Any]
) -> tuple[str, ...]:
    """Topics of one event, without repeats, in a fixed order.

    A topic is `pool`, `queue`, `project:<pk>`, or `<noun>:<uid>` of the subject and of what
    the event's data name under `workload`, `node` and `request`; an `array` is a workload.
    """
    found: dict[str, None] = {subject: None}
    for noun in ("workload", "node", "request"):
        if data.get(noun):
            found[f"{noun}:{data[noun]}"] = None
    if data.get("array"):
        found[f"workload:{data['array']}"] = None
    if project_id is not None:
        found[f"project:{project_id}"] = None
    head = kind.split(".", 1)[0]
    if head in {"node", "card", "slice", "placement"}:
        found[POOL] = None
    if head in {"workload", "placement", "slice"}:
        found[QUEUE] = None
    return tuple(found)


def bell_topic(uid: str) -> str:
    """The topic of one person's unread notices, by the person's uid."""
    return f"{BELL}:{uid}"


def use_topics(node_uid: str, workload_uids: Iterable[str]) -> list[str]:
    """The topics that new readings of a node touch."""
    return [USE, f"{USE}:{node_uid}", *(f"{LOAD}:{uid}" for uid in workload_uids)]
