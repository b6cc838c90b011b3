"""Cards over REST: what a node can enforce travels with them, and nothing else of its inventory."""

import pytest
from msgspec.structs import replace

from nodeagent.protocol.inventory import Ability
from nodeagent.protocol.vocabulary import Mode
from pool.services.nodes import node_hello
from tests import rows
from tests.portal.callers import caller

pytestmark = pytest.mark.django_db


def test_a_card_says_who_keeps_its_slices_to_their_shares():
    rows.partition()
    node = rows.node(cards=0)
    ability = Ability(mode=Mode.MPS, memory="daemon", compute="daemon", note="a fault ends all")
    card = replace(rows.card_facts("GPU-1"), abilities=(ability,))
    node_hello(node=node, hello=rows.hello(node.name, [card]))
    (row,) = caller(rows.user()).get("cards").json()["results"]
    assert row["abilities"] == [
        {
            "mode": "mps",
            "memory": "daemon",
            "compute": "daemon",
            "note": "a fault ends all",
            "licence": "",
        }
    ]
    assert "facts" not in row
