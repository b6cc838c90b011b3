"""D10: a passing error returns the card by itself; a lasting one never, until it was reset."""

import asyncio
from datetime import timedelta

import pytest

from nodeagent.drivers.simulated.driver import SimulatedDriver
from pool.clock import now
from pool.cycle.round import run_rounds
from pool.cycle.watch import watch
from pool.events import SYSTEM
from pool.models import Alert, Card, Event, Notice, Partition
from pool.services.cards import card_uncordon
from tests import rows
from tests.pool.place import seen

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(bench):
    rows.partition()
    return bench(*["A100-80GB"] * 8)


def ready():
    return Card.objects.filter(state="ready").count()


def let_pass(minutes):
    later = now() - timedelta(minutes=minutes)
    for card in Card.objects.exclude(clean_until=None):
        card.clean_until -= now() - later
        card.save()
    watch()


def restart(node):
    """The agent alone starts anew: same machine, same cards, same state folder."""
    node.driver = SimulatedDriver(node.driver.node, node.file.parent)
    asyncio.run(node.driver.open())
    node.executor.driver = node.driver
    node.hello()


def test_a_contained_error_takes_the_card_out_tells_its_owner_and_passes(node):
    into = rows.project()
    part = Partition.objects.get()
    rows.quota(limit=8_000_000, label="A100-80GB", project=into, partition=part)
    jobs = [rows.workload(into=into, need={"parts": 1, "whole": True}) for _ in range(8)]
    for _ in range(2):
        run_rounds()
        node.turn()
    assert {seen(job).state for job in jobs} == {"running"}
    node.script("cards: {6: {xids: [94]}}\n")
    node.turn()
    assert (node.card(6).state, node.card(6).state_reason) == ("cordoned", "clean_period")
    (told,) = Event.objects.filter(kind="workload.warned")
    assert told.data["number"] == 94 and told.project_id == into.pk
    (letter,) = Notice.objects.filter(about__startswith="workload:")
    hit = next(job for job in jobs if letter.about == f"workload:{job.uid}")
    assert (letter.user, letter.values["name"]) == (hit.owner, hit.name)
    assert told.subject == letter.about
    for _ in range(29):
        let_pass(1)
        node.turn()
    restart(node)
    node.turn()
    assert ready() == 7, "neither clean probes nor a restart shorten the period"
    let_pass(2)
    node.turn()
    assert ready() == 8
    (alert,) = Alert.objects.all()
    assert alert.state == "resolved"
    resolved = Event.objects.filter(kind="alert.moved", data__to="resolved")
    assert resolved.count() == 1


def test_an_administrator_may_clear_it_before_and_it_stays_cleared(node):
    node.script("cards: {6: {xids: [94]}}\n")
    node.turn()
    card_uncordon(card=node.card(6), actor=SYSTEM, reason="tested")
    for _ in range(3):
        node.turn()
    assert ready() == 8


def test_a_card_that_fell_off_the_bus_stays_out_until_the_machine_is_booted(node):
    node.script("cards: {6: {xids: [79], health: lost}}\n")
    node.turn()
    assert node.card(6).state == "cordoned"
    node.script("")
    for _ in range(3):
        let_pass(60)
        restart(node)
        node.turn()
        assert (node.card(6).state, node.card(6).state_reason) == ("cordoned", "reset_needed")
    node.script("boot: 1\n")
    node.hello()
    for _ in range(2):
        node.turn()
    assert ready() == 8


def test_an_uncorrected_memory_error_passes_too_and_a_corrected_one_takes_nothing_out(node):
    def count(corrected, uncorrected):
        words = f"ecc_corrected: {corrected}, ecc_uncorrected: {uncorrected}"
        node.script(f"cards: {{6: {{{words}}}}}\n")
        asyncio.run(node.driver.sample(0.0, ()))
        node.turn()

    for corrected in (0, 1):
        count(corrected, 0)
        assert ready() == 8
    count(1, 1)
    assert (node.card(6).state, node.card(6).state_reason) == ("cordoned", "clean_period")
    alert = Alert.objects.get(state="firing")
    assert "1 uncorrected" in alert.title and "1 uncorrected" in alert.detail["reason"]
    restart(node)
    count(1, 1)
    let_pass(31)
    node.turn()
    assert ready() == 8
