"""Selectors: what they take, and that two that could meet are told apart from two that cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.partitions import KEYS, Traits, disjoint, matches, modes_from, selector_from
from pool.rules.problems import Problems

CARD = Traits(vendor="nvidia", label="A100-80GB", node="Node-7", card="GPU-1")


@pytest.mark.parametrize(
    ("selector", "taken"),
    [
        ({}, False),
        ({"labels": ["A100-80GB"]}, True),
        ({"labels": ["a100-80gb"]}, False),
        ({"nodes": ["NODE-7"]}, True),
        ({"vendors": ["nvidia"], "labels": ["L40S"]}, False),
        ({"vendors": ["nvidia", "amd"], "cards": ["GPU-1"]}, True),
    ],
)
def test_every_word_of_a_selector_must_match(selector, taken):
    assert matches(selector, CARD) is taken


@pytest.mark.parametrize("given_", ["x", [], {"labels": [1]}, {"colour": ["red"]}, {"nodes": []}])
def test_a_selector_that_cannot_be_read_is_refused(given_):
    with pytest.raises(Problems):
        selector_from(given_)


@pytest.mark.parametrize("given_", [None, [], "mig", ["cut"], [1]])
def test_modes_that_cannot_be_read_are_refused(given_):
    with pytest.raises(Problems):
        modes_from(given_)


few = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=2, unique=True)
selectors = st.dictionaries(st.sampled_from(KEYS), few, max_size=4)
traits = st.builds(
    Traits,
    **{name: st.sampled_from(["a", "b", "c"]) for name in ("vendor", "label", "node", "card")},
)


@given(selectors, selectors, traits)
def test_disjoint_selectors_never_take_one_card(one, other, card):
    assert disjoint(one, other) == disjoint(other, one)
    if disjoint(one, other):
        assert not (matches(one, card) and matches(other, card))
