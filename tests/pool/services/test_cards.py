"""What nodes and people say of a card's health."""

import pytest

from nodeagent.protocol.report import CardHealth
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Alert, Card, Event
from pool.services.cards import card_cordon, card_uncordon, cards_health
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def card():
    rows.partition()
    return Card.objects.get(node=rows.node())


def say(card, health, **words):
    cards_health(
        node=card.node,
        told=[CardHealth(uuid=card.uuid, health=health, **words)],
        actor=SYSTEM,
    )
    card.refresh_from_db()
    return card.state


def test_a_card_follows_what_its_node_says_and_repeats_leave_no_trace(card):
    for health, state in (
        ("partial", "partial"),
        ("silent", "silent"),
        ("contested", "contested"),
        ("lost", "lost"),
        ("ok", "ready"),
    ):
        for _ in range(2):
            assert say(card, health) == state
    assert Event.objects.filter(kind="card.moved").count() == 5


def test_an_ill_card_is_one_alert_until_it_is_well(card):
    for health in ("lost", "contested", "lost"):
        say(card, health)
    (told,) = Alert.objects.all()
    assert (told.key, told.state) == (f"card:{card.uid}", "firing")
    say(card, "ok")
    told.refresh_from_db()
    assert told.state == "resolved"


def test_foreign_work_is_named(card):
    say(card, "contested", foreign=("python of ada",))
    assert Event.objects.get(kind="card.moved").data["foreign"] == ["python of ada"]


def test_a_card_that_needs_a_reset_stays_out_until_its_node_says_that_it_is_well(card):
    for _ in range(2):
        assert say(card, "reset_needed") == "cordoned"
        watch()
    assert (card.clean_until, card.state_reason) == (None, "reset_needed")
    assert say(card, "lost") == "cordoned"
    assert say(card, "ok") == "ready"


def test_a_persons_cordon_stays_until_a_person_lifts_it(card):
    say(card, "reset_needed")
    for _ in range(2):
        card_cordon(card=card, actor=SYSTEM, reason="under repair")
    watch()
    assert say(card, "ok") == "cordoned"
    assert card.clean_until is None
    for _ in range(2):
        card_uncordon(card=card, actor=SYSTEM)
    card.refresh_from_db()
    assert card.state == "ready"


def test_cards_of_other_nodes_are_not_this_nodes_to_judge(card):
    other = rows.node()
    cards_health(node=other, told=[CardHealth(uuid=card.uuid, health="lost")], actor=SYSTEM)
    card.refresh_from_db()
    assert card.state == "ready"
