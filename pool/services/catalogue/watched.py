"""Nodes look for the folders of the catalogues, and say what they found."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F

from nodeagent.protocol.places import Place
from pool.announce import wake_node
from pool.lifecycle.nodes import NodeState
from pool.models.nodes import Node
from pool.services.moves import locked
from pool.wake import round_wanted

MOST_PLACES = 2000
MOST_REASON = 200


def nodes_look() -> None:
    """The list has changed: every node reads its wish anew, and work may fit elsewhere."""
    alive = Node.objects.exclude(state__in=[NodeState.RETIRED, NodeState.LOST])
    alive.update(generation=F("generation") + 1)
    for uid in alive.order_by("pk").values_list("uid", flat=True):
        wake_node(uid)
    round_wanted()


def places_take(*, node: Node, places: tuple[Place, ...]) -> None:
    """Keep what a node found; only a difference is written, and then a round is wanted."""
    told = _as_words(places)
    if _words_of(node.host) == told:
        return
    with transaction.atomic():
        row = locked(Node.objects.filter(pk=node.pk))[0]
        if _words_of(row.host) != told:
            row.host = {**row.host, **told}
            row.save(update_fields=["host"])
            round_wanted()


def _as_words(places: tuple[Place, ...]) -> dict[str, Any]:
    listed = places[:MOST_PLACES]
    return {
        "mounts": sorted(one.path for one in listed if not one.why),
        "absent": {
            one.path: one.why.replace("\x00", "")[:MOST_REASON] for one in listed if one.why
        },
    }


def _words_of(host: Mapping[str, Any]) -> dict[str, Any]:
    return {"mounts": sorted(host.get("mounts", ())), "absent": dict(host.get("absent", {}))}
