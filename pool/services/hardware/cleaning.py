"""What nodes tell of cleaning between two tenants: why it is not over, and what they removed."""

import re
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
MOST_LINE = 120
MOST_REMOVED = 60

_LINE = re.compile(r"^rank (\d+): .*", re.MULTILINE)
"""What one rank of a gang said."""


def cleaning_news(*, attempt: Attempt, found: FoundWork) -> dict[str, Any]:
    """Columns of the attempt as far as a report says something new. Ranks of a gang share the row,
    each with its number before its words. What was removed once stays told: an agent that began
    anew between two tries has forgotten it.
    """
    mark = _mark(found.rank) if attempt.size > 1 else ""
    said = _rank_words(attempt, found) if mark else _plain(found.unclean, MOST_WORDS)
    values: dict[str, Any] = {"unclean": said}
    new = [mark + _plain(word, 160) for word in found.removed]
    kept = attempt.removed
    values["removed"] = [*kept, *(word for word in new if word not in kept)][:MOST_REMOVED]
    return _changed(attempt, values)


def _changed(attempt: Attempt, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if getattr(attempt, name) != value}


def _mark(rank: int) -> str:
    return f"rank {rank}: "


def _rank_words(attempt: Attempt, found: FoundWork) -> str:
    """Why a gang is not clean: a line for each rank that is not, as many as find room.

    Each report of a rank changes its own line alone, so that the same again changes nothing.
    """
    told = {int(line[1]): line[0] for line in _LINE.finditer(attempt.unclean)}
    told.pop(found.rank, None)
    mark = _mark(found.rank)
    if found.unclean:
        told[found.rank] = mark + " ".join(_plain(found.unclean, MOST_LINE - len(mark)).split())
    kept, left = list[str](), MOST_WORDS
    for _rank, line in sorted(told.items()):
        left -= len(line) + 1
        if left >= 0:
            kept.append(line)
    return "\n".join(kept)


def rank_unclean(attempt: Attempt, rank: int) -> str:
    """Why this rank of a gang is not clean; empty when it is."""
    lines = _LINE.finditer(attempt.unclean)
    return next((line[0] for line in lines if int(line[1]) == rank), "")


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
