"""What the books hold of one node, in plain SQL: the gate asks it a hundred times a second."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from pool.lifecycle.cards import CardState
from pool.lifecycle.found import FoundState
from pool.models.nodes import Node

_BARE = """
SELECT NOT EXISTS (SELECT FROM pool_slice s JOIN pool_card c ON c.id = s.card_id
                   WHERE c.node_id = %(node)s AND upper_inf(s.lived))
   AND NOT EXISTS (SELECT FROM pool_card WHERE node_id = %(node)s AND state = %(contested)s)
   AND NOT EXISTS (SELECT FROM pool_foundwork WHERE node_id = %(node)s AND state = ANY(%(there)s))
"""
_CARDS = """
SELECT c.uuid, c.state, c.errors_seen, c."foreign", p.foreign_work
  FROM pool_card c LEFT JOIN pool_partition p ON p.id = c.partition_id
 WHERE c.node_id = %s AND c.uuid = ANY(%s)
"""
_KEYS = "SELECT uuid, id FROM pool_card WHERE node_id = %s"


def is_bare(*, node: Node) -> bool:
    """Nothing lies on the node that a report without slices and work could move."""
    words: dict[str, Any] = {
        "node": node.pk,
        "contested": CardState.CONTESTED,
        "there": [FoundState.RUNNING, FoundState.STOPPING],
    }
    with connection.cursor() as cursor:
        cursor.execute(_BARE, words)
        return bool(cursor.fetchone()[0])


@dataclass(frozen=True, slots=True)
class Standing:
    """A card as the books have it: state, number of the newest error taken, strangers on it, and
    what its partition does about those.
    """

    state: str
    errors_seen: int
    foreign: list[str]
    foreign_work: str | None


def cards_stand(*, node: Node, uuids: Iterable[str]) -> dict[str, Standing]:
    """Those of the cards that are the node's, by uuid."""
    with connection.cursor() as cursor:
        cursor.execute(_CARDS, [node.pk, list(uuids)])
        return {
            uuid: Standing(state, errors, json.loads(there), does)
            for uuid, state, errors, there, does in cursor.fetchall()
        }


def card_keys(*, node: Node) -> dict[str, int]:
    """The keys of the node's cards by uuid."""
    with connection.cursor() as cursor:
        cursor.execute(_KEYS, [node.pk])
        return dict(cursor.fetchall())
