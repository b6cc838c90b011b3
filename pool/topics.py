"""Pure: which topics of the live pages an event touches."""

from collections.abc import Mapping
from typing import Any

POOL = "pool"
QUEUE = "queue"
BELL = "bell"


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
