"""Every word has a translation, every state and reason a word, every icon a drawing."""

import json
import re

import pytest
from django.core.management import call_command

from nodeagent.protocol.inventory import Ability
from nodeagent.protocol.vocabulary import ExitReason, Isolation, Mode
from pool.lifecycle import cards, leases, nodes, requests, slices, workloads
from pool.lifecycle.events import EventKind
from pool.lifecycle.roles import Priority, QuotaKind, QuotaUnit
from pool.scheduling.outcome import Reason
from pool.scheduling.suggest import Change
from portal.templatetags import needs, state_badges, subjects, units, waits
from tests.architecture.house import ROOT


def test_every_message_is_translated_and_the_catalogue_is_not_behind():
    call_command("messages", "--check")


@pytest.mark.parametrize(
    ("noun", "states"),
    [
        ("workload", workloads.WorkloadState),
        ("request", requests.RequestState),
        ("lease", leases.LeaseState),
        ("node", nodes.NodeState),
        ("card", cards.CardState),
        ("slice", slices.SliceState),
    ],
)
def test_every_state_has_a_word_and_a_colour(noun, states):
    assert set(state_badges.TABLES[noun]) == {str(state) for state in states}


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (needs.MODES, Mode),
        (needs.ISOLATION, Isolation),
        (needs.EXIT, ExitReason),
        (waits.REASONS, Reason),
        (waits.GROUPS, Reason),
        (waits.FILTERS, Reason),
        (waits.COSTS, Change),
        (needs.PRIORITY, Priority),
        (units.UNITS, QuotaUnit),
        (units.KINDS, QuotaKind),
    ],
)
def test_every_word_of_the_house_can_be_said(table, words):
    assert {str(word) for word in words} <= set(table)


def test_every_icon_that_is_named_is_drawn():
    drawn = set(json.loads((ROOT / "package.json").read_text())["vendor"]["icons"])
    named = {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r'{% icon "([a-z0-9-]+)"', path.read_text())
    }
    named |= set(
        re.findall(
            r'link\(\s*"[a-z-]+", "([a-z0-9-]+)"', (ROOT / "portal/pages/shell.py").read_text()
        )
    )
    assert named <= drawn, named - drawn
    assert len(named) > 20


def test_who_holds_a_slice_to_its_share_is_said_in_words():
    one = Ability(mode=Mode.TIMESLICE, memory="sampling", compute="none")
    told = "memory by measuring, and stopping what is over, compute by no one"
    assert needs.ability_words(one) == f"shared in turns: {told}"


def test_events_whose_name_does_not_say_it_have_a_sentence():
    assert set(subjects.PLAIN) <= {kind.value for kind in EventKind}
    assert subjects.kind_words("card.erred") == "the card reported an error"
    assert subjects.kind_words("card.moved") == ""
