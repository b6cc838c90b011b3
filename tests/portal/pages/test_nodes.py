"""The end of a node, said by a person who answers for it."""

import pytest

from pool.errors import Stale
from pool.models import Card, Node
from portal.pages import nodes


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


CANNOT = [
    ("lost", "cordon", "cordoned"),
    ("lost", "drain", "draining"),
    ("lost", "uncordon", "ready"),
    ("ready", "confirm-dead", "lost"),
    ("silent", "retire", "retired"),
    ("retired", "cordon", "cordoned"),
    ("retired", "confirm-dead", "lost"),
]


@pytest.mark.parametrize(("state", "verb", "then"), CANNOT)
def test_what_a_node_cannot_do_any_more_is_refused_on_its_page(state, verb, then, visit, world):
    admin, node = visit("platform_admin"), of_state(world, state)
    answer = admin.send(f"/nodes/{node.uid}/{verb}/", {"reason": "fan"})
    assert answer.status_code == 409
    said = f"A node that is {state} cannot become {then}."
    assert f'role="alert">{said}</div>' in answer.content.decode()
    node.refresh_from_db()
    assert node.state == state


@pytest.mark.parametrize(
    ("state", "verb", "field"),
    [
        ("ready", "cordon", "service-reason"),
        ("ready", "drain", "service-reason"),
        ("silent", "confirm-dead", "end-reason"),
        ("lost", "retire", "end-reason"),
    ],
)
def test_a_refusal_stands_beside_its_field_and_keeps_what_was_typed(
    state, verb, field, visit, world, monkeypatch
):
    admin, node = visit("platform_admin"), of_state(world, state)

    def refuse(**given):
        raise Stale

    monkeypatch.setitem(nodes.ACTS, verb, refuse)
    answer = admin.send(f"/nodes/{node.uid}/{verb}/", {"reason": "its <fan>"})
    page = answer.content.decode()
    assert answer.status_code == Stale.status
    assert 'class="form-control is-invalid"' in page and f'id="{field}"' in page
    assert f'<div class="invalid-feedback">{Stale()}</div>' in page
    assert 'value="its &lt;fan&gt;"' in page


def test_retiring_a_node_once_more_changes_nothing(visit, world):
    node = of_state(world, "retired")
    again = visit("platform_admin").send(f"/nodes/{node.uid}/retire/", {"reason": "Scrapped."})
    assert again.status_code == 303
    node.refresh_from_db()
    assert node.state == "retired"


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
