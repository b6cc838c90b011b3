"""D34: each name is another node, or refused with a reason; all accepted count and filter."""

from urllib.parse import quote

import pytest
from django.db import IntegrityError, transaction

from pool.errors import Invalid
from pool.models import Hold, Node
from pool.services.nodes import name_fold, node_hello, node_name
from tests import rows
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]
NAMES = (
    "a100-node074",
    "a100node074",
    "node074",
    "gpu.rack-1.example",
    "n074-",
    "n" * 253,
    "knoten-müller",
    "计算节点-七",
)


@pytest.fixture
def world():
    return World()


def joined(name):
    """A node of that name with two cards, whose UUIDs are short as those of real ones."""
    plain = node_name(name)
    row = Node.objects.create(name=plain, name_folded=name_fold(plain), credential_hash=plain[:64])
    cards = [rows.card_facts(f"GPU-{row.pk}-{n}", index=n) for n in range(2)]
    node_hello(node=row, hello=rows.hello(plain, cards))
    return row


def test_each_name_is_a_node_of_its_own_with_its_cards_and_a_filter(world):
    made = {name: joined(name) for name in NAMES}
    assert len({one.uid for one in made.values()}) == len(NAMES)
    root = world.by("platform_admin")
    listed = {row["name"]: row for row in root.get("nodes?page_size=200").json()["results"]}
    for name, row in made.items():
        assert listed[name]["uid"] == row.uid
        for query in (f"node={row.uid}", f"node_name={quote(name)}"):
            cards = root.get(f"cards?{query}&page_size=200")
            assert cards.status_code == 200, (name, cards.content)
            assert len(cards.json()["results"]) == 2, name


def test_two_names_that_differ_in_case_or_form_alone_are_one_and_the_second_is_refused():
    rows.node(name=node_name("node074"))
    rows.node(name=node_name("knoten-müller"))
    for twin in ("NODE074", "Node074", "knoten-mu\u0308ller", "ＮＯＤＥ074"):
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.node(name=node_name(twin))
    assert Node.objects.filter(name_folded="node074").count() == 1


@pytest.mark.parametrize("name", ["", " ", "n" * 254, "a/b", "a\\b", "a b", "a\x00b", "a\nb"])
def test_a_name_that_could_mislead_is_refused_with_a_reason(name):
    with pytest.raises(Invalid) as refused:
        node_name(name)
    assert refused.value.detail["name"][0]


def test_what_ran_on_a_node_with_a_hyphen_is_counted_as_on_any_other(world):
    Node.objects.filter(pk=world.node.pk).update(name="a100-node074", name_folded="a100-node074")
    member = world.by("member")
    held = Hold.objects.filter(node__name="a100-node074", mode="whole")
    assert held.count() == 2
    used = member.get("usage?page_size=200").json()["results"]
    assert used
    page = member.get(f"placements/{world.own.placement.uid}")
    assert page.status_code == 200
    assert "a100-node074" in page.content.decode()
