"""What nodes tell of cleaning between two tenants: why it is not over, and what they removed."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from nodeagent.protocol.report import FoundWork
from pool.events import Actor
from pool.models.nodes import Node
from pool.models.slices import Slice
from pool.models.workloads import Attempt
from pool.services.alerts import alert_raise

MOST_WORDS = 400
MOST_REMOVED = 60


def cleaning_news(*, attempt: Attempt, found: FoundWork) -> dict[str, Any]:
    """Columns of the attempt as far as a report says something new. Ranks of a gang share the row,
    each with its number before its words. What was removed once stays told: an agent that began
    anew between two tries has forgotten it.
    """
    mark = f"rank {found.rank}: " if attempt.size > 1 else ""
    said = _plain(found.unclean, MOST_WORDS - len(mark))
    values: dict[str, Any] = {}
    if said:
        values["unclean"] = mark + said
    elif attempt.unclean.startswith(mark):
        values["unclean"] = ""
    new = [mark + _plain(word, 160) for word in found.removed]
    kept = attempt.removed
    values["removed"] = [*kept, *(word for word in new if word not in kept)][:MOST_REMOVED]
    return _changed(attempt, values)


def _changed(attempt: Attempt, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if getattr(attempt, name) != value}


def _plain(word: str, most: int) -> str:
    return word.replace("\x00", "")[:most]


def unclean_told(*, attempt: Attempt, node: Node, reason: str, actor: Actor) -> None:
    """The slices that the attempt still holds there wait for its cleaning: people are told why.

    The alert ends by itself when the slice is given back or is gone.
    """
    held = Slice.objects.filter(
        holds__placement__attempt=attempt, holds__held__upper_inf=True, card__node=node
    )
    for row in held.order_by("pk"):
        Slice.objects.filter(pk=row.pk).update(state_reason=_plain(reason, 200))
        alert_raise(
            key=f"unclean:{row.uid}",
            subject=f"slice:{row.uid}",
            title=_("%(node)s cannot clean a slice after its work") % {"node": node.name},
            detail={"reason": _plain(reason, MOST_WORDS), "attempt": attempt.uid},
            actor=actor,
        )
