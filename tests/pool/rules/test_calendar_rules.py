"""Windows, ceilings, numbers and the choice of cards, as pure rules."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.ceilings import ceilings_from, left_free
from pool.rules.policies import (
    NUMBERS,
    class_policies_from,
    difference,
    numbers_from,
    numbers_in_force,
)
from pool.rules.problems import Problems
from pool.rules.reservations import Candidate, cards_to_keep
from pool.rules.windows import Claim, leases_longer
from pool.scheduling.model import Rules

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def claim(**given):
    words = {"lease": 1, "starts_at": NOW, "ends_at": NOW + 10 * HOUR}
    return Claim(**words | {"runs_there": False, "cards": frozenset({1, 2})} | given)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, None),
        ({"runs_there": True}, 3600),
        ({"cards": frozenset({1})}, 3600),
        ({"cards": frozenset()}, None),
        ({"runs_there": True, "starts_at": NOW + 2.5 * HOUR}, 1800),
        ({"runs_there": True, "ends_at": NOW + HOUR}, None),
        ({"runs_there": True, "ends_at": NOW + 2.5 * HOUR}, 3600),
    ],
)
def test_a_lease_ends_later_by_what_the_window_takes_of_it(given, seconds):
    longer = leases_longer(
        [claim(**given)], cards=frozenset({1}), starts_at=NOW + 2 * HOUR, ends_at=NOW + 3 * HOUR
    )
    assert longer.get(1) == seconds


@pytest.mark.parametrize(
    "given",
    [
        [],
        {"all": []},
        {"card_sum": [{"purposes": [], "compute_milli": 500}]},
        {"card_sum": [{"purposes": ["games"], "compute_milli": 500}]},
        {"card_sum": [{"purposes": ["inference"], "compute_milli": 0}]},
        {"card_sum": [{"purposes": ["inference"], "compute_milli": 1001}]},
        {"card_sum": [{"purposes": ["inference"], "compute_milli": True}]},
        {"card_sum": [{"purposes": ["inference"], "memory_milli": 500}]},
        {"card_sum": [{"purposes": ["inference"]}]},
        {"card_sum": [{"purposes": ["inference"], "compute_milli": 500, "x": 1}]},
        {"card_sum": [{"purposes": ["inference"], "compute_milli": 500}] * 21},
        {
            "card_split": [
                {"purposes": ["training"], "compute_milli": 700},
                {"purposes": ["inference"], "compute_milli": 400},
            ]
        },
        {
            "card_split": [
                {"purposes": ["training"], "compute_milli": 300},
                {"purposes": ["training"], "compute_milli": 300},
            ]
        },
    ],
)
def test_ceilings_that_could_never_be_right_are_refused(given):
    with pytest.raises(Problems):
        ceilings_from(given)


def test_ceilings_are_kept_in_one_shape_and_say_what_each_leaves_free():
    stored = ceilings_from(
        {
            "card_sum": [{"purposes": ["training", "finetuning"], "compute_milli": 800}],
            "per_workload": [
                {"purposes": ["inference"], "compute_milli": 500, "memory_milli": 250}
            ],
            "card_split": [],
        }
    )
    assert set(stored) == {"card_sum", "per_workload"}
    assert stored["card_sum"][0]["purposes"] == ["finetuning", "training"]
    total, each = left_free(stored, held=[("training", 300), ("notebook", 100)])
    assert (total.used, total.left) == (300, 500)
    assert (each.used, each.left) == (None, 500)
    total, each = left_free(stored, held=[("training", 700), ("notebook", 200)])
    assert (total.left, each.left) == (100, 100)


def test_every_number_has_its_default_in_the_planner_and_bounds_that_hold_it():
    rules = Rules()
    for name, number in NUMBERS.items():
        assert number.is_switch or number.least <= number.default <= number.most
        if hasattr(rules, name):
            assert getattr(rules, name) == number.default


@pytest.mark.parametrize(
    "given", [{"heavy_gb": 0}, {"heavy_gb": 1.5}, {"backfill": 1}, {"nope": 1}, {"heads": True}, 3]
)
def test_numbers_out_of_bounds_are_refused(given):
    with pytest.raises(Problems):
        numbers_from(given)


def test_what_is_not_stored_is_the_default_and_a_difference_names_both():
    assert numbers_in_force({"heavy_gb": 48})["heavy_gb"] == 48
    assert numbers_in_force({})["heads"] == 4
    assert difference({"a": 1, "b": 2}, {"b": 3, "c": 4}) == {
        "a": (1, None),
        "b": (2, 3),
        "c": (None, 4),
    }
    with pytest.raises(Problems):
        class_policies_from({"inference": "best"})
    assert class_policies_from({"inference": "spread"}) == {"inference": "spread"}


candidates = st.lists(
    st.builds(
        lambda card, node, label, kept, hours: Candidate(
            card=card,
            node=node,
            label=label,
            per_card={"whole": 1, "small": 4}[label],
            kept=kept,
            busy_until=None if hours is None else NOW + hours * HOUR,
            strength={"whole": 600, "small": 200}[label],
        ),
        st.integers(1, 40),
        st.integers(1, 4),
        st.sampled_from(["whole", "small"]),
        st.booleans(),
        st.sampled_from([None, None, -1, 1]),
    ),
    max_size=14,
    unique_by=lambda one: one.card,
)


@given(
    candidates,
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from(["node", "linked", "spread", "network", "whole_nodes"]),
)
def test_kept_cards_are_enough_are_free_and_lie_as_the_need_says(cards, copies, parts, topology):
    chosen = cards_to_keep(cards, copies=copies, parts=parts, topology=topology, starts_at=NOW)
    if chosen is None:
        return
    known = {one.card: one for one in cards}
    kept = [known[card] for card in chosen]
    assert len(set(chosen)) == len(chosen)
    assert len({one.label for one in kept}) == 1
    assert not any(one.kept or (one.busy_until and one.busy_until > NOW) for one in kept)
    assert sum(one.per_card for one in kept) >= copies * parts
    by_node = {}
    for one in kept:
        by_node[one.node] = by_node.get(one.node, 0) + one.per_card
    if topology == "spread":
        assert len(by_node) >= parts
    elif topology != "network":
        assert sum(room // parts for room in by_node.values()) >= copies


@given(candidates, st.integers(1, 3), st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_the_order_of_the_cards(cards, copies, parts, chance):
    words = {"copies": copies, "parts": parts, "topology": "node", "starts_at": NOW}
    mixed = chance.sample(cards, len(cards))
    assert cards_to_keep(cards, **words) == cards_to_keep(mixed, **words)


def test_whole_cards_are_found_whenever_one_node_has_enough():
    cards = [Candidate(card=n, node=n % 3, label="a", per_card=1) for n in range(9)]
    words = {"parts": 3, "topology": "node", "starts_at": NOW}
    assert len(cards_to_keep(cards, copies=3, **words)) == 9
    assert cards_to_keep(cards, copies=4, **words) is None
