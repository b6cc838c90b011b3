"""How nodes come in and what their names may be."""

from datetime import timedelta

import pytest

from nodeagent.protocol.inventory import Join
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.errors import IllegalMove, Invalid, NodeRefused
from pool.events import SYSTEM
from pool.models import Alert, Card, Event, JoinToken, Node, Slice
from pool.services.alerts import alert_raise
from pool.services.moves import move
from pool.services.nodes import (
    join_token_issue,
    node_confirm_dead,
    node_cordon,
    node_credential_revoke,
    node_hello,
    node_join,
    node_retire,
    node_uncordon,
    secret_hash,
)
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db


def join(name, plain, **said):
    return node_join(join=Join(token=plain, hello=rows.hello(name, [], **said)))


def token(node=""):
    return join_token_issue(node=node, actor=SYSTEM)[1]


def test_a_token_lets_one_node_in_once_and_only_hashes_are_kept():
    plain = token()
    joined = join("n1", plain)
    node = Node.objects.get(uid=joined.node)
    assert node.credential_hash == secret_hash(joined.credential)
    assert plain not in str(list(Event.objects.values_list("data", flat=True)))
    assert joined.credential not in str(list(Event.objects.values_list("data", flat=True)))
    with pytest.raises(NodeRefused):
        join("n2", plain)


def test_a_node_that_lost_the_answer_may_ask_again_until_its_first_report():
    plain = token()
    first = join("n1", plain)
    second = join("n1", plain)
    assert first.node == second.node
    assert first.credential != second.credential
    Node.objects.update(last_report_at=now())
    with pytest.raises(NodeRefused):
        join("n1", plain)


def test_a_token_of_another_node_or_an_old_one_opens_nothing():
    with pytest.raises(NodeRefused):
        join("n2", token("n1"))
    plain = token("n1")
    JoinToken.objects.update(expires_at=now() - timedelta(seconds=1))
    with pytest.raises(NodeRefused):
        join("n1", plain)
    with pytest.raises(NodeRefused):
        join("n1", "gpj_guessed")


def test_a_token_made_out_to_a_known_node_gives_it_a_new_credential():
    first = join("n1", token("n1"))
    second = join("N1", token("n1"))
    assert second.node == first.node
    assert Node.objects.count() == 1


ACCEPTED = [
    "a100-node074",
    "a100node074",
    "node074",
    "gpu.rack-1.example",
    "n074-",
    "ü-knoten",
    "节点-七",
    "x" * 253,
]


def test_different_names_are_different_nodes():
    for name in ACCEPTED:
        join(name, token())
    assert sorted(Node.objects.values_list("name", flat=True)) == sorted(ACCEPTED)


def test_names_that_differ_only_in_case_are_one_name():
    join("node074", token())
    with pytest.raises(NodeRefused):
        join("NODE074", token())
    with pytest.raises(NodeRefused):
        join("ｎode074", token())


@pytest.mark.parametrize("name", ["", " ", "x" * 254, "a b", "a/b", "a\x00b", "a\nb", "..\\x"])
def test_names_that_nobody_could_use_are_refused(name):
    with pytest.raises(Invalid):
        join(name, token())


def test_a_revoked_credential_is_no_credential():
    joined = join("n1", token())
    node = Node.objects.get()
    node_credential_revoke(node=node, actor=SYSTEM, reason="leaked")
    node_credential_revoke(node=node, actor=SYSTEM, reason="leaked")
    assert not Node.objects.filter(credential_hash=secret_hash(joined.credential)).exists()
    assert Event.objects.filter(kind="node.credential_revoked").count() == 1


def test_a_node_is_ready_after_its_hello_and_observed_when_it_only_measures():
    assert rows.node().state == "ready"
    assert rows.node(observe=True).state == "observed"


def test_a_shuffled_hello_changes_nothing():
    rows.partition()
    node = rows.node(cards=3)
    facts = [rows.card_facts(card.uuid, index=card.index) for card in Card.objects.all()]
    before = list(Card.objects.order_by("pk").values())
    node_hello(node=node, hello=rows.hello(node.name, facts[::-1]))
    assert list(Card.objects.order_by("pk").values()) == before
    assert Event.objects.filter(kind="card.found").count() == 3


def test_a_card_that_left_is_lost_and_ready_again_when_it_is_found():
    node = rows.node(cards=2)
    facts = [rows.card_facts(card.uuid, index=card.index) for card in Card.objects.all()]
    node_hello(node=node, hello=rows.hello(node.name, facts[:1]))
    assert sorted(Card.objects.values_list("state", flat=True)) == ["lost", "ready"]
    node_hello(node=node, hello=rows.hello(node.name, facts))
    assert set(Card.objects.values_list("state", flat=True)) == {"ready"}


def test_a_card_goes_to_the_partition_whose_selector_takes_it():
    small = rows.partition(selector={"labels": ["L40S"]}, rank=1)
    rows.partition(selector={"labels": ["A100-80GB"]}, rank=2)
    node = rows.node(label="L40S")
    assert node.cards.get().partition == small


def test_a_clock_that_is_off_is_told_once_and_changes_nothing_else():
    node = rows.node()
    for _ in range(2):
        told = rows.hello(node.name, [], sent_at=now().timestamp() + 600)
        welcome = node_hello(node=node, hello=told)
        node.refresh_from_db()
    assert welcome.skew_s == pytest.approx(600, abs=5)
    assert welcome.warnings
    assert node.state == "ready"
    assert Event.objects.filter(kind="node.skewed").count() == 1


def test_cordon_and_back_may_be_repeated():
    node = rows.node()
    for _ in range(2):
        assert node_cordon(node=node, actor=SYSTEM, reason="work on it").state == "cordoned"
    for _ in range(2):
        assert node_uncordon(node=node, actor=SYSTEM).state == "ready"


def test_a_node_cannot_claim_a_card_of_another_living_node():
    owner, thief = rows.node(), rows.node()
    card = owner.cards.get()
    told = rows.hello(thief.name, [rows.card_facts(card.uuid)])
    assert node_hello(node=thief, hello=told).warnings
    card.refresh_from_db()
    assert card.node == owner
    node_hello(node=owner, hello=rows.hello(owner.name, []))
    node_hello(node=thief, hello=told)
    card.refresh_from_db()
    assert (card.node, card.state) == (thief, "ready")


def test_a_silent_node_keeps_its_cards_and_a_lost_one_does_not():
    owner, thief = rows.node(), rows.node()
    card = owner.cards.get()
    told = rows.hello(thief.name, [rows.card_facts(card.uuid)])
    move(owner, "silent", actor=SYSTEM)
    assert node_hello(node=thief, hello=told).warnings
    card.refresh_from_db()
    assert card.node == owner
    node_confirm_dead(node=owner, actor=SYSTEM, reason="burnt down")
    node_hello(node=thief, hello=told)
    card.refresh_from_db()
    assert card.node == thief


def test_only_a_silent_node_can_be_dead_and_only_a_lost_one_retired():
    node = rows.node()
    with pytest.raises(IllegalMove):
        node_confirm_dead(node=node, actor=SYSTEM, reason="I think so")
    with pytest.raises(IllegalMove):
        node_retire(node=node, actor=SYSTEM, reason="sold")
    node.refresh_from_db()
    assert (node.state, node.credential_hash != "") == ("ready", True)
    assert set(node.cards.values_list("state", flat=True)) == {"ready"}


def test_a_retired_node_leaves_nothing_behind_and_may_be_retired_again():
    rows.partition()
    node = rows.node(cards=2)
    work = rows.workload()
    run_rounds()
    Obedient(node).turn()
    node.refresh_from_db()
    move(node, "silent", actor=SYSTEM)
    alert_raise(key=f"silent:{node.uid}", subject=node.uid, title="silent", actor=SYSTEM)
    for _ in range(2):
        assert node_confirm_dead(node=node, actor=SYSTEM, reason="burnt down").state == "lost"
    for _ in range(2):
        assert node_retire(node=node, actor=SYSTEM, reason="scrapped").state == "retired"
    node.refresh_from_db()
    assert node.credential_hash == ""
    assert set(node.cards.values_list("state", flat=True)) == {"retired"}
    assert list(Slice.objects.values_list("state", flat=True)) == ["gone"]
    assert not Slice.objects.filter(lived__upper_inf=True).exists()
    assert Alert.objects.get().state == "resolved"
    work.refresh_from_db()
    assert work.state == "queued"
    with pytest.raises(NodeRefused):
        join(node.name, token(node.name))
