"""The end of a node, said by a person who answers for it."""

import pytest

from pool.models import Card, Node


def of_state(world, state) -> Node:
    Node.objects.filter(pk=world.node.pk).update(state=state)
    return Node.objects.get(pk=world.node.pk)


def test_a_silent_node_is_declared_dead_and_a_lost_one_retired_with_a_reason(visit, world):
    admin = visit("platform_admin")
    node = of_state(world, "silent")
    assert b"It does not answer" in admin.open(f"/nodes/{node.uid}/").content
    answer = admin.send(f"/nodes/{node.uid}/confirm-dead/", {"reason": "It burnt."})
    assert answer.status_code == 303
    node.refresh_from_db()
    assert (node.state, node.state_reason) == ("lost", "It burnt.")
    assert b"It will not come back" in admin.open(f"/nodes/{node.uid}/").content
    assert admin.send(f"/nodes/{node.uid}/retire/", {"reason": "Scrapped."}).status_code == 303
    node.refresh_from_db()
    assert node.state == "retired"


def test_without_a_reason_nothing_ends(visit, world):
    node = of_state(world, "silent")
    answer = visit("platform_admin").send(f"/nodes/{node.uid}/confirm-dead/", {"reason": "  "})
    assert answer.status_code == 422
    assert b"Say how you know." in answer.content
    node.refresh_from_db()
    assert node.state == "silent"


def test_a_node_that_answers_cannot_be_declared_dead(visit, world):
    admin, node = visit("platform_admin"), of_state(world, "ready")
    assert b"end-reason" not in admin.open(f"/nodes/{node.uid}/").content
    answer = admin.send(f"/nodes/{node.uid}/confirm-dead/", {"reason": "I think so."})
    assert answer.status_code == 409
    assert admin.send(f"/nodes/{node.uid}/explode/", {"reason": "x"}).status_code == 404
    node.refresh_from_db()
    assert node.state == "ready"


@pytest.mark.parametrize("role", ["org_admin", "lead", "member", "viewer"])
def test_only_the_platform_ends_nodes(role, visit, world):
    visitor, node = visit(role), of_state(world, "silent")
    assert b"end-reason" not in visitor.open(f"/nodes/{node.uid}/").content
    sent = visitor.send(f"/nodes/{node.uid}/confirm-dead/", {"reason": "mine"})
    assert sent.status_code == 403
    node.refresh_from_db()
    assert node.state == "silent"


def test_the_panel_of_a_card_says_who_keeps_its_shares(visit, world):
    card = Card.objects.first()
    url = f"/map/cards/{card.uid}/"
    assert "Shares are kept by" not in visit("member").part(url).content.decode()
    kept = {"mode": "timeslice", "memory": "sampling", "compute": "none", "licence": "seat"}
    Card.objects.filter(pk=card.pk).update(facts=card.facts | {"abilities": [kept]})
    text = visit("member").part(url).content.decode()
    assert "Shares are kept by" in text and "needs a licence: seat" in text
    assert "memory by measuring, and stopping what is over, compute by no one" in text
