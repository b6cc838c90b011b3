"""Numbers with units, in both languages; unknown is never 0."""

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from portal.templatetags import needs, units
from portal.templatetags import waits as waits_in


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3661, "1 h 1 min"),
        (86400, "1 d"),
        (90000, "1 d 1 h"),
        (86460, "1 d"),
        (-5, "0 s"),
    ],
)
def test_a_duration_is_told_in_two_units(seconds, text):
    assert units.duration(seconds) == text


@pytest.mark.parametrize(
    "filter_",
    [units.mib, units.gib, units.percent, units.cards, units.cores, units.duration, units.number],
)
def test_unknown_is_said_and_never_shown_as_nothing(filter_):
    assert "unknown" in filter_(None)
    assert "0" in filter_(0)


def test_money_keeps_parts_of_a_cent_where_there_is_little():
    assert units.money(1_900_000, "EUR") == "€1.90"
    assert units.money(1_234, "EUR") == "€0.0012"
    assert units.money(0, "EUR") == "€0.00"
    assert units.money(-2_500_000, "EUR") == "-€2.50"
    assert "unknown" in units.money(None, "EUR")
    with translation.override("zh-hans"):
        assert units.money(1_900_000, "CNY") == "¥1.90"


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.integers(0, 10**7))
def test_a_bar_never_leaves_its_box(value, limit, more):
    drawn = str(units.bar(value, limit, more))
    widths = [int(part.split('"')[0]) for part in drawn.split(' width="')[1:]]
    assert 0 <= widths[0] + widths[1] <= 1000
    assert ("gp-bar-over" in drawn) is (value + more > limit)


@pytest.mark.parametrize(
    ("need", "text"),
    [
        ({"parts": 1, "memory_gb": 20, "compute_milli": 300}, "20 GB + 30 %"),
        ({"parts": 2, "profile": "1g.10gb"}, "2 × 1g.10gb"),
        ({"parts": 1, "whole": True}, "1 whole card"),
        ({"parts": 8, "whole": True, "labels": ["H100-80GB"]}, "8 whole cards of H100-80GB"),
        ({"parts": 1, "share_milli": 250}, "0.25 of a card"),
        ({"memory_gb": 4, "encoder_units": 1}, "4 GB + 1 video encoder"),
        ({"whole": True, "decoder_units": 2}, "1 whole card + 2 video decoders"),
        ({"parts": 0}, "CPU only"),
        ({}, "any part of a card"),
    ],
)
def test_a_need_is_one_plain_phrase(need, text):
    assert needs.need_words(need) == text


def test_a_reason_tells_the_exact_shortage():
    waits = {"reason": "memory", "shortage": {"unit": "memory_mib", "needed": 40, "free": 8}}
    assert waits_in.why_words(waits) == (
        "no card has enough free memory (needs 40 MiB, the best place has 8 MiB)"
    )
    full = {"reason": "quota", "shortage": {"unit": "card_micro", "needed": 280000, "free": 130000}}
    assert waits_in.why_words(full) == (
        "an allowance or a limit it counts against is full"
        " (needs 0.28 cards, 0.13 cards left of it)"
    )
    assert waits_in.why_words({"reason": "carving"}) == "its card is being cut for it"
    assert waits_in.why_words(None) == "it was just put in the queue"
    assert waits_in.why_words({"reason": "held_back", "detail": "on hold"}).endswith("on hold")
