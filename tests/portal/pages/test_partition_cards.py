"""Which cards a partition takes: shown while it is written, refused where it could not be."""

import pytest

from pool.models import Card, Hold, Partition
from tests import rows


def test_the_reach_of_a_selector_is_shown_before_it_is_saved(visit, world):
    Partition.objects.update(selector={"labels": ["A100-80GB"]})
    rows.node(cards=2, label="H100-80GB", name="node-h")
    admin = visit("platform_admin")
    shown = admin.send("/partitions/reach/", {"labels": "H100-80GB"}, htmx=True).content.decode()
    assert "2 cards" in shown and "node-h" in shown and "refused" not in shown
    shown = admin.send("/partitions/reach/", {"labels": "A100-80GB"}, htmx=True).content.decode()
    assert "could take the same card: saving is refused" in shown
    assert admin.send("/partitions/reach/", {}, htmx=True).status_code == 200
    words = {"name": "Hopper", "slug": "hopper", "labels": "H100-80GB", "modes": ["whole"]}
    assert admin.send("/partitions/new/", words).status_code == 422
    assert admin.send("/partitions/new/", words | {"reason": "new cards"}).status_code == 303
    row = Partition.objects.get(slug="hopper")
    assert Card.objects.filter(partition=row).count() == 2


@pytest.mark.handmade_books
def test_overlapping_selectors_and_cards_in_use_are_refused_at_the_field(visit, world):
    rows.node(cards=2, label="H100-80GB", name="node-h")
    admin = visit("platform_admin")
    words = {"name": "B", "slug": "b", "labels": "A100-80GB", "modes": ["whole"], "reason": "x"}
    answer = admin.send("/partitions/new/", words)
    assert answer.status_code == 422
    assert "could take the same card" in answer.content.decode()
    path = f"/partitions/{world.partition.uid}/cards/"
    assert "node-a" in admin.open(path).content.decode()
    Hold.objects.filter(pk=world.own.hold.pk).update(held=(world.own.hold.held.lower, None))
    answer = admin.send(path, {"nodes": "node-h", "reason": "moved"})
    assert answer.status_code == 422
    assert "A card that is in use would change its partition" in answer.content.decode()
    reach = {"nodes": "node-h", "partition": world.partition.slug}
    assert "1 card in use" in admin.send("/partitions/reach/", reach, htmx=True).content.decode()


@pytest.mark.parametrize("role", ["org_admin", "lead", "member", "viewer", "billing_reader"])
def test_only_the_platform_says_which_cards_a_partition_takes(visit, world, role):
    person = visit(role)
    path = f"/partitions/{world.partition.uid}/cards/"
    assert person.open("/partitions/new/").status_code == 403
    assert person.open(path).status_code == 403
    assert person.send(path, {"labels": "x"}).status_code == 403
    assert person.send("/partitions/reach/", {"labels": "x"}).status_code == 403
