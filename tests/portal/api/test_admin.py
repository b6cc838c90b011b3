"""Nodes, join tokens and prices in the hands of a platform admin."""

from datetime import timedelta

import pytest

from billing.models.prices import Price
from pool.clock import now
from pool.models import JoinToken, Node, Sample
from portal.access.tokens import token_hash


def test_a_node_is_taken_out_of_service_and_back(world):
    path = f"nodes/{world.node.uid}"
    cordoned = world.admin.post(f"{path}/cordon", {"reason": "fan"}).json()
    assert (cordoned["state"], cordoned["state_reason"]) == ("cordoned", "fan")
    assert world.admin.post(f"{path}/uncordon").json()["state"] == "ready"
    assert world.admin.post(f"{path}/drain", {"reason": "move"}).status_code == 202
    answer = world.admin.post(f"{path}/revoke-credential", {"reason": "stolen"})
    assert answer.status_code == 200
    assert Node.objects.get().credential_hash == ""


def test_a_join_token_is_told_once_and_stored_as_a_hash(world):
    told = world.admin.post("join-tokens", {"node": "n7", "seconds": 600})
    assert told.status_code == 201, told.content
    plain = told.json()["token"]
    row = JoinToken.objects.get(uid=told.json()["uid"])
    assert row.token_hash == token_hash(plain)
    listed = world.admin.get("join-tokens")
    assert plain not in listed.content.decode()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"node": "a b"}, "name"),
        ({"node": "n" * 254}, "node"),
        ({"node": "a\x00"}, "node"),
        ({"seconds": 1}, "seconds"),
        ({"seconds": 10**9}, "seconds"),
    ],
)
def test_a_join_token_for_a_name_no_node_can_have_is_refused(world, given, field):
    answer = world.admin.post("join-tokens", given)
    assert (answer.status_code, list(answer.json()["detail"])) == (400, [field])


def test_a_price_counts_from_now_and_ends_the_one_before(world):
    given = {"partition": "a100", "rate_micro": 2_000_000, "currency": "EUR"}
    answer = world.admin.post("prices", given)
    assert answer.status_code == 201, answer.content
    assert answer.json()["ends_at"] is None
    assert Price.objects.get(pk=world.price.pk).valid.upper is not None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"rate_micro": -1}, "rate_micro"),
        ({"rate_micro": 10**15}, "rate_micro"),
        ({"rate_micro": "1.5"}, "rate_micro"),
        ({"partition": "none"}, "partition"),
        ({"currency": "euro"}, "currency"),
        ({"unit": "hour"}, "unit"),
        ({"mode": "half"}, "mode"),
        ({"unit": "core", "card_model": "A100"}, "card_model"),
        ({"starts_at": "soon"}, "starts_at"),
    ],
)
def test_a_price_that_cannot_be_is_refused(world, given, field):
    before = Price.objects.count()
    right = {"partition": "a100", "rate_micro": 1, "currency": "EUR"}
    answer = world.admin.post("prices", right | given)
    assert (answer.status_code, list(answer.json()["detail"])) == (400, [field])
    assert Price.objects.count() == before


def test_samples_come_oldest_first_page_by_page(world):
    card = world.own.hold.card
    start = now() - timedelta(minutes=10)
    for number in range(5):
        Sample.objects.create(
            at=start + timedelta(seconds=10 * number),
            card_id=card.pk,
            seconds=10,
            sm_mean=float(number),
            fidelity="measured",
        )
    viewer = world.by("viewer")
    found, path = [], f"samples?card={card.uid}&page_size=2"
    while path:
        page = viewer.get(path.replace("http://testserver", "")).json()
        found += page["results"]
        path = page["next"]
    assert [row["sm_mean"] for row in found] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert found[0]["card"] == card.uid
    assert found[0]["util_mean"] is None


@pytest.mark.parametrize(
    "query",
    [
        "",
        "card=x",
        "card={card}&workload={work}",
        "card={card}&since=x",
        "card={card}&since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z",
        "card={card}&since=2026-01-01T00:00:00Z&until=2026-12-01T00:00:00Z",
        "card={card}&cursor=czEuMg",
        "card={card}&cursor=YTE",
    ],
)
def test_samples_without_a_sensible_question_are_400(world, query):
    named = query.format(card=world.own.hold.card.uid, work=world.own.workload.uid)
    assert world.by("viewer").get(f"samples?{named}").status_code == 400
