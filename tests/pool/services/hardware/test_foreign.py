"""Work of people outside the pool: each partition chooses what becomes of its cards."""

import pytest

from nodeagent.protocol.report import CardHealth
from pool.cycle.round import run_rounds
from pool.events import SYSTEM
from pool.models import Alert, Card, Event, Node, Partition
from pool.rules.partitions import health_counted
from pool.services.cards import cards_health
from pool.services.nodes import node_retire
from pool.services.partitions import partition_change
from tests.pool.place import seen, settled

pytestmark = pytest.mark.django_db
ADA = "python (4711) of ada"


@pytest.fixture
def place():
    return settled()


def choose(does):
    partition_change(partition=Partition.objects.get(), actor=SYSTEM, foreign_work=does)


def say(*foreign, health=""):
    """Every card of the node tells of the same strangers."""
    word = health or ("contested" if foreign else "ok")
    cards = Card.objects.select_related("node")
    told = [CardHealth(uuid=one.uuid, health=word, foreign=foreign) for one in cards]
    return cards_health(node=cards[0].node, told=told, actor=SYSTEM)


def card():
    return Card.objects.order_by("pk")[0]


def alert(*about):
    """The open alert of the first card: of its health, or of strangers alone."""
    keys = [f"{one}:{card().uid}" for one in about or ("card", "foreign")]
    return Alert.objects.exclude(state="resolved").filter(key__in=keys).first()


@pytest.mark.parametrize(
    ("does", "state", "told"),
    [("block", "contested", True), ("alert", "ready", True), ("tolerate", "ready", False)],
)
def test_a_partition_says_what_foreign_work_does_to_its_cards(place, does, state, told):
    choose(does)
    assert say(ADA)
    assert (card().state, card().foreign) == (state, [ADA])
    assert bool(alert()) == told
    if told:
        assert ADA in str(alert().detail) + card().state_reason
    work = place.submit()
    run_rounds()
    assert seen(work).state == ("queued" if state == "contested" else "placed")
    count = Event.objects.count()
    assert not say(ADA), "the same again changes nothing"
    assert Event.objects.count() == count
    assert say()
    assert (card().state, card().foreign, alert()) == ("ready", [], None)


@pytest.mark.parametrize("first", ["block", "alert", "tolerate"])
@pytest.mark.parametrize("then", ["block", "alert", "tolerate"])
def test_another_choice_counts_at_once_for_cards_that_are_used(place, first, then):
    choose(first)
    say(ADA)
    choose(then)
    assert card().state == ("contested" if then == "block" else "ready")
    assert bool(alert()) == (then != "tolerate")
    assert bool(alert("card")) == (then == "block"), "one alert at a time"
    assert not say(ADA), "the node's next word finds all as it should be"


def test_a_card_that_was_silent_keeps_its_alert_of_strangers(place):
    choose("alert")
    say(ADA)
    say(ADA, health="silent")
    assert card().state == "silent"
    say(ADA)
    assert (card().state, bool(alert())) == ("ready", True)
    say(ADA, health="silent")
    say()
    assert (card().state, alert()) == ("ready", None)


def test_a_card_that_fails_under_strangers_has_a_second_alert_of_its_own(place):
    """Whoever has taken note of the strangers, or silenced them, still hears of the failure."""
    choose("alert")
    say(ADA)
    assert (bool(alert("card")), bool(alert("foreign"))) == (False, True)
    Alert.objects.update(state="acknowledged")
    say(ADA, health="lost")
    assert card().state == "lost" and alert("card").state == "firing"
    assert "lost" in alert("card").title
    say(ADA)
    assert (bool(alert("card")), bool(alert("foreign"))) == (False, True)
    say()
    assert alert() is None


def test_tolerance_reaches_cards_that_are_out_for_another_reason(place):
    choose("alert")
    say(ADA)
    say(ADA, health="lost")
    choose("tolerate")
    assert (card().state, alert("foreign"), bool(alert("card"))) == ("lost", None, True)


def test_nobody_is_told_of_strangers_on_a_node_that_is_given_up(place):
    choose("alert")
    say(ADA)
    Node.objects.update(state="lost")
    node_retire(node=Node.objects.get(), actor=SYSTEM)
    assert (card().state, alert()) == ("retired", None)


@pytest.mark.parametrize("does", ["alert", "tolerate"])
def test_places_that_slices_nobody_planned_take_stay_shut_whatever_is_chosen(place, does):
    say(ADA)
    Card.objects.update(state="contested", state_reason="slices nobody planned")
    choose(does)
    assert (card().state, card().state_reason) == ("contested", "slices nobody planned")
    work = place.submit()
    run_rounds()
    assert seen(work).state == "queued"


def test_more_strangers_than_are_kept_are_no_news_when_told_again(
    place, django_assert_max_num_queries
):
    names = [f"p{n}\x00{'x' * 200}" for n in range(100)]
    choose("tolerate")
    say(*names)
    with django_assert_max_num_queries(3):
        assert not say(*names)


def test_tolerance_forgives_nothing_but_foreign_work(place):
    choose("tolerate")
    for health, state in (("silent", "silent"), ("lost", "lost"), ("reset_needed", "cordoned")):
        say(ADA, health=health)
        assert card().state == state
        say(health="ok")


def test_a_persons_cordon_is_not_lifted_by_a_choice(place):
    say(ADA)
    Card.objects.update(state="cordoned", state_reason="by hand")
    choose("tolerate")
    assert card().state == "cordoned"


def test_a_card_in_no_partition_is_blocked(place):
    assert health_counted("contested", None) == "contested"
    Card.objects.update(partition=None)
    say(ADA)
    assert card().state == "contested"


def test_slices_that_nobody_planned_are_no_foreign_work(place):
    choose("tolerate")
    Card.objects.update(state="contested", state_reason="slices nobody planned")
    say(ADA)
    assert card().state == "contested"


def test_names_of_strangers_are_kept_within_bounds(place):
    say(*(f"p{n}\x00{'x' * 200}" for n in range(100)))
    assert len(card().foreign) == 40 and all(len(one) <= 160 for one in card().foreign)
    assert not any("\x00" in one for one in card().foreign)
