"""Each error of a card is taken once, and keeps the card out as long as it asks for."""

from datetime import timedelta

import pytest

from nodeagent.protocol.report import CardError, CardHealth
from pool.clock import now
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


def error(seq, number=94, asks="clean_period"):
    return CardError(seq=seq, number=number, asks=asks, words=f"XID {number}")


def say(card, *errors, health="ok"):
    told = CardHealth(uuid=card.uuid, health=health, errors=errors)
    cards_health(node=card.node, told=[told], actor=SYSTEM)
    card.refresh_from_db()
    return card.state, card.state_reason


def let_pass(seconds):
    Card.objects.exclude(clean_until=None).update(
        clean_until=now() - timedelta(seconds=seconds - 1800)
    )
    watch()


def test_a_contained_error_takes_the_card_out_for_the_clean_period_and_once_only(card):
    assert say(card, error(1)) == ("cordoned", "clean_period")
    assert card.clean_until > now() + timedelta(minutes=29)
    let_pass(1790)
    assert say(card, error(1)) == ("cordoned", "clean_period")
    let_pass(1810)
    assert say(card, error(1))[0] == "ready"
    assert Event.objects.filter(kind="card.erred").count() == 1
    (alert,) = Alert.objects.all()
    assert alert.state == "resolved"
    assert Event.objects.filter(kind="alert.moved", data__to="resolved").count() == 1


def test_another_error_starts_the_clean_period_anew(card):
    say(card, error(1))
    let_pass(1790)
    say(card, error(1), error(2))
    let_pass(0)
    assert card.clean_until is not None and say(card)[0] == "cordoned"


def test_a_lasting_error_waits_for_the_nodes_word_that_the_card_was_reset(card):
    last = error(1, 79, "reset")
    assert say(card, last, health="reset_needed") == ("cordoned", "reset_needed")
    assert card.clean_until is None
    let_pass(7200)
    assert say(card, last, health="reset_needed")[0] == "cordoned"
    assert say(card)[0] == "ready"


def test_a_lasting_error_is_not_lightened_by_a_passing_one(card):
    say(card, error(1, 79, "reset"), health="reset_needed")
    assert say(card, error(1, 79, "reset"), error(2), health="reset_needed") == (
        "cordoned",
        "reset_needed",
    )
    assert card.clean_until is None


@pytest.mark.parametrize(("number", "asks"), [(94, "clean_period"), (79, "reset")])
def test_what_a_person_clears_stays_cleared_until_the_next_error(card, number, asks):
    health = "reset_needed" if asks == "reset" else "ok"
    say(card, error(1, number, asks), health=health)
    card_uncordon(card=card, actor=SYSTEM, reason="tested")
    for _ in range(3):
        assert say(card, error(1, number, asks), health=health)[0] == "ready"
    assert say(card, error(2, number, asks), health=health)[0] == "cordoned"


def test_a_persons_cordon_is_not_turned_into_a_clean_period(card):
    card_cordon(card=card, actor=SYSTEM, reason="under repair")
    assert say(card, error(1)) == ("cordoned", "under repair")
    watch()
    assert card.clean_until is None


def test_an_error_of_the_workload_alone_keeps_no_card_out(card):
    assert say(card, error(1, 13, "workload"))[0] == "ready"
    assert not Alert.objects.exists()


def test_an_error_without_a_rule_is_one_alert(card):
    for seq in (1, 2, 3):
        assert say(card, error(seq, 999, "warn"))[0] == "ready"
    assert Alert.objects.get().key == f"card-errors:{card.uid}"
    assert Event.objects.filter(kind="card.erred").count() == 3


def test_counted_memory_errors_are_told_and_left_to_the_rule_over_the_counters(card):
    assert say(card, error(1, 0, "warn"))[0] == "ready"
    assert Event.objects.filter(kind="card.erred").count() == 1
    assert not Alert.objects.exists()


def test_a_lost_card_comes_back_only_after_its_reset(card):
    for health in ("lost", "reset_needed"):
        assert say(card, error(1, 79, "reset"), health=health) == ("cordoned", "reset_needed")
    assert say(card)[0] == "ready"


def test_words_of_a_node_are_cut_and_cleaned_before_they_are_kept_anywhere(card):
    long = CardError(seq=1, number=999, asks="warn", words="broken\x00" + "x" * 5000)
    say(card, long)
    (told,) = Event.objects.filter(kind="card.erred")
    assert told.data["words"].startswith("brokenx") and len(told.data["words"]) == 200
    (alert,) = Alert.objects.all()
    assert "broken" in alert.title and "\x00" not in alert.title


def test_the_alert_of_a_card_names_the_error_that_keeps_it_out_not_a_warning_beside_it(card):
    loud = CardError(seq=1, number=94, asks="clean_period", words="XID 94\x00" + "x" * 5000)
    assert say(card, loud, error(2, 999, "warn"))[0] == "cordoned"
    title = Alert.objects.get(key=f"card:{card.uid}").title
    assert "XID 94x" in title and "999" not in title and "\x00" not in title
