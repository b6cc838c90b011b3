"""Cards over REST: what a node can enforce travels with them, and nothing else of its inventory;
an admin takes one out of service and back, everybody reads the hours of its week."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from nodeagent.protocol.inventory import Ability
from nodeagent.protocol.vocabulary import Mode
from pool.clock import now
from pool.models import Card, Event
from pool.services.nodes import node_hello
from pool.services.telemetry.rollups import rollups_due, rollups_touched
from tests import rows
from tests.pool.services.telemetry.test_rollups import reads
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


def test_an_admin_takes_one_card_out_of_service_with_a_reason_and_back(world):
    card, admin = world.own.hold.card, world.by("platform_admin")
    out = admin.post(f"cards/{card.uid}/cordon", {"reason": "a fan rattles"})
    assert out.status_code == 200, out.content
    assert (out.json()["state"], out.json()["state_reason"]) == ("cordoned", "a fan rattles")
    assert world.node.cards.exclude(pk=card.pk).filter(state="cordoned").count() == 0
    (told,) = Event.objects.filter(kind="card.moved", subject=f"card:{card.uid}")
    assert told.actor_id == admin.user.uid
    back = admin.post(f"cards/{card.uid}/uncordon", {})
    assert (back.status_code, back.json()["state"]) == (200, "ready")
    assert world.by("lead").post(f"cards/{card.uid}/cordon", {"reason": "x"}).status_code == 403
    assert Card.objects.get(pk=card.pk).state == "ready"


def test_a_very_long_reason_is_cut_and_breaks_nothing(world):
    card = world.own.hold.card
    said = world.by("platform_admin").post(f"cards/{card.uid}/cordon", {"reason": "x" * 4000})
    assert (said.status_code, len(said.json()["state_reason"])) == (200, 200)


def test_the_hours_of_a_week_are_told_in_the_callers_zone_and_unknown_is_null(world):
    card, member = world.own.hold.card, world.by("member")
    type(member.user).objects.filter(pk=member.user.pk).update(zone="Asia/Shanghai")
    at = (now() - timedelta(days=2)).replace(hour=4, minute=0, second=0, microsecond=0)
    reads(at, seconds=3600, card=card.pk, util_mean=40)
    rollups_touched(moments=[at])
    rollups_due(most=100)
    told = member.get(f"cards/{card.uid}/week").json()
    assert (told["zone"], told["days"], len(told["hours"])) == ("Asia/Shanghai", 28, 168)
    known = [one for one in told["hours"] if one["util"] is not None]
    assert [(one["weekday"], one["hour"], one["util"]) for one in known] == [(at.weekday(), 12, 40)]
