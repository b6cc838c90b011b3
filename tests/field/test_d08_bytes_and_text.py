"""D08: a library that answers in bytes, in text, or in both gives the same cards."""

import json

import msgspec
import pytest

from nodeagent.protocol.inventory import Card as CardFacts
from pool.models import Card, Event
from pool.services.nodes import node_hello
from tests import rows
from tests.nodeagent.drivers.test_every_card import ACTS

pytestmark = pytest.mark.django_db

TEXTS = (
    *("nvmlDeviceGetName", "nvmlDeviceGetUUID", "nvmlDeviceGetSerial"),
    *("nvmlSystemGetDriverVersion", "nvmlDeviceGetPciInfo"),
)
AS_BYTES = """
import types
import pynvml
def wrapped(name):
    call = getattr(pynvml, name)
    def answer(*given):
        said = call(*given)
        if hasattr(said, "busId"):
            return types.SimpleNamespace(busId=said.busId.encode())
        return said.encode() if isinstance(said, str) else said
    setattr(pynvml, name, answer)
for name in {names!r}:
    wrapped(name)
"""


def test_the_rows_are_the_same_whatever_the_library_answers_in(machine, tmp_path):
    world = machine("A100-80GB", "A100-80GB", "A30")
    rows.partition()
    node = rows.node(cards=0)
    given = json.dumps([str(tmp_path), [["inventory"], ["health"]], False])
    seen = []
    for names in (TEXTS, (), TEXTS[::2], TEXTS[1::2]):
        cards, health = world.run(AS_BYTES.format(names=names) + ACTS, given)
        assert {one["health"] for one in health} == {"ok"}
        facts = [msgspec.convert(card, CardFacts) for card in cards]
        node_hello(node=node, hello=rows.hello(node.name, facts))
        found = Card.objects.order_by("pk")
        seen.append(list(found.values_list("pk", "uuid", "model", "label", "index", "facts")))
    assert all(row == seen[0] for row in seen)
    assert len(seen[0]) == 3 and "b'" not in json.dumps(seen[0])
    told = [(row[-1]["serial"], row[-1]["pci"]) for row in seen[0]]
    assert told == [(f"132052200{n:04}", f"00000000:{n + 16:02X}:00.0") for n in range(3)]
    assert Event.objects.filter(kind="card.found").count() == 3
    assert not Event.objects.filter(kind="card.moved").exists()
