"""Who has to say yes: always somebody, weakest first, more for more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.lifecycle.roles import Role
from pool.rules.approval import (
    DECIDERS,
    DEFAULT_POLICY,
    Asked,
    Step,
    may_decide,
    policy_from,
    steps_for,
)
from pool.rules.problems import Problems

LEAD, ORG, PLATFORM = DECIDERS
FREE = {"cost": 0}


@pytest.mark.parametrize(
    ("asked", "steps"),
    [
        (Asked(cards=1, days=1, weights=FREE), (LEAD,)),
        (Asked(cards=1, days=1), (LEAD, ORG)),
        (Asked(cards=8, days=14, weights=FREE), (LEAD,)),
        (Asked(cards=8.01, days=1, weights=FREE), (LEAD, ORG)),
        (Asked(cards=1, days=14.5, weights=FREE), (LEAD, ORG)),
        (Asked(cards=1, days=1, weights={"cost": 5001}), (LEAD, ORG)),
        (Asked(cards=1, days=1, reserved=True, weights=FREE), (LEAD, ORG)),
        (Asked(cards=33, days=1), (LEAD, ORG, PLATFORM)),
        (Asked(cards=1, days=61), (LEAD, ORG, PLATFORM)),
    ],
)
def test_the_default_policy_goes_by_size_duration_cost_and_kind(asked, steps):
    assert steps_for(DEFAULT_POLICY, asked) == steps


def test_a_partition_can_ask_for_a_step_of_its_own():
    policy = (Step(role=LEAD), Step(role=PLATFORM, partitions=frozenset({"h100"})))
    assert steps_for(policy, Asked(cards=1, days=1, partitions=frozenset({"h100"}))) == (
        LEAD,
        PLATFORM,
    )
    assert steps_for(policy, Asked(cards=1, days=1, partitions=frozenset({"a100"}))) == (LEAD,)


def test_a_stronger_role_decides_for_a_weaker_one_and_never_the_other_way():
    assert may_decide("lead", frozenset({Role.ORG_ADMIN}))
    assert may_decide("org_admin", frozenset({Role.PLATFORM_ADMIN}))
    assert not may_decide("org_admin", frozenset({Role.LEAD}))
    for role in (Role.MEMBER, Role.VIEWER, Role.BILLING_READER):
        assert not may_decide("lead", frozenset({role}))


def test_a_policy_is_read_from_json_and_nothing_means_the_default():
    told = {"steps": [{"role": "org_admin", "above": {"cost": 100}, "reserved": True}]}
    assert policy_from(told) == (Step(role=ORG, above={"cost": 100}, reserved=True),)
    assert policy_from(None) == policy_from({}) == DEFAULT_POLICY


@pytest.mark.parametrize(
    "told",
    [
        "lead",
        {"steps": "lead"},
        {"steps": []},
        {"steps": ["lead"]},
        {"steps": [{"role": "member"}]},
        {"steps": [{"role": "lead", "above": {"cost": float("inf")}}]},
        {"steps": [{"role": "lead", "above": {"cost": -1}}]},
        {"steps": [{"role": "lead", "above": {"cost": True}}]},
        {"steps": [{"role": "lead", "partitions": "a100"}]},
        {"steps": [{"role": "lead"}], "more": 1},
    ],
)
def test_a_policy_that_cannot_be_read_is_refused(told):
    with pytest.raises(Problems):
        policy_from(told)


numbers = st.floats(0, 1e6, allow_nan=False)


@given(numbers, numbers, numbers, numbers, numbers)
def test_asking_for_more_never_needs_fewer_people(cards, days, cost, more, longer):
    small = steps_for(DEFAULT_POLICY, Asked(cards=cards, days=days, weights={"cost": cost}))
    large = Asked(cards=cards + more, days=days + longer, weights={"cost": cost + more})
    assert set(small) <= set(steps_for(DEFAULT_POLICY, large))
    assert small
