"""Contracts, discounts, costs and the price that really counts, over REST."""

import pytest

from billing.models import Contract, Discount
from pool.models import Event

pytestmark = pytest.mark.django_db


@pytest.fixture
def bare(world):
    """Nothing was agreed yet, and the price counts since long ago."""
    Discount.objects.all().delete()
    Contract.objects.all().delete()
    type(world.price).objects.update(valid=("2020-01-01T00:00:00Z", None))
    return world


def asked(world, **more):
    body = {"project": "vision", "partition": "a100", "card_model": "A100-80GB"}
    answer = world.by("member").post("prices/effective", body | more)
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_price_that_counts_leads_from_the_list_step_by_step_to_the_charge(bare):
    assert asked(bare) == {
        "currency": "EUR",
        "list_micro": 1_900_000,
        "charge_micro": 1_900_000,
        "steps": [],
    }
    admin = bare.admin
    terms = {"since": "2026-02-01", "basis": "max", "floor_milli": 500, "tax_milli": 190}
    assert admin.post("contracts", terms).status_code == 201
    cut = {"kind": "preemptible", "milli": 200, "starts_at": "2026-02-01T00:00:00Z"}
    made = admin.post("discounts", cut)
    assert made.status_code == 201, made.content
    told = asked(bare, preemptible=True, used_milli=100, at="2026-03-01T00:00:00Z")
    assert told["steps"] == [
        {"account": "basis", "amount_micro": -950_000},
        {"account": "preemptible", "amount_micro": -190_000},
        {"account": "tax", "amount_micro": 144_400},
    ]
    assert told["charge_micro"] == 1_900_000 + sum(one["amount_micro"] for one in told["steps"])
    uid = made.json()["uid"]
    assert admin.post(f"discounts/{uid}/end", {"at": "2026-02-15T00:00:00Z"}).status_code == 204
    later = asked(bare, preemptible=True, used_milli=100, at="2026-03-01T00:00:00Z")
    assert [one["account"] for one in later["steps"]] == ["basis", "tax"]
    kinds = set(Event.objects.values_list("kind", flat=True))
    assert {"contract.changed", "discount.changed"} <= kinds


def test_what_cannot_be_agreed_is_refused_with_the_field(bare):
    admin = bare.admin
    for noun, body, field in (
        ("contracts", {"since": "2026-02-01", "basis": "guess"}, "basis"),
        ("contracts", {"since": "2026-02-01", "organization": "nobody"}, "organization"),
        ("discounts", {"kind": "agreement", "milli": 0, "starts_at": "2026-02-01"}, "milli"),
        (
            "discounts",
            {"kind": "off_peak", "milli": 5, "starts_at": "2026-02-01T00:00:00Z"},
            "to_hour",
        ),
        ("overheads", {"first": "2026-02-01", "kind": "gold", "label": "x"}, "kind"),
    ):
        answer = admin.post(noun, body)
        assert answer.status_code in (400, 422), (noun, answer.content)
        assert field in str(answer.json()["detail"]), answer.json()


def test_a_cost_replaces_the_one_of_the_same_name(bare):
    body = {
        "first": "2026-02-10",
        "kind": "licences",
        "label": "vGPU",
        "currency": "EUR",
        "amount_micro": 5,
    }
    first = bare.admin.post("overheads", body).json()
    second = bare.admin.post("overheads", body | {"amount_micro": 7}).json()
    assert (first["first"], second["amount_micro"]) == ("2026-02-01", 7)
    shown = bare.admin.get("overheads").json()["results"]
    assert [one["amount_micro"] for one in shown if one["label"] == "vGPU"] == [7]


def test_where_use_is_shown_without_money_the_price_is_not_told_either(bare):
    terms = {"since": "2026-02-01", "organization": "vision-org", "showback": True}
    assert bare.admin.post("contracts", terms).status_code == 201
    told = asked(bare)
    assert (told["list_micro"], told["charge_micro"], told["steps"]) == (None, None, [])
    body = {"project": "vision", "partition": "a100", "card_model": "A100-80GB"}
    shown = bare.by("org_admin").post("prices/effective", body).json()
    assert shown["charge_micro"] == 1_900_000


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_price_at_a_time_that_no_calendar_holds_is_refused(bare, at):
    for zone in ("America/New_York", "Asia/Tokyo"):
        type(bare.own.organization).objects.filter(pk=bare.own.organization.pk).update(zone=zone)
        body = {"project": "vision", "partition": "a100", "card_model": "A100-80GB", "at": at}
        answer = bare.by("member").post("prices/effective", body)
        assert answer.status_code == 400, answer.content
