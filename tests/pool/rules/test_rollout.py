"""The roll-out's steps: their order, what each changes, and that the way back leads back."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Mode
from pool.rules.planning.rollout import (
    ORDER,
    SWITCHED,
    Setup,
    Step,
    is_on,
    missing_before,
    switched_off,
    switched_on,
)

PLAIN = Setup(
    modes=("whole",),
    sharing=False,
    lending=False,
    preemption=False,
    policy="binpack",
    vendors=frozenset({"nvidia"}),
    days=7,
)


def applied(setup, words):
    told = {name: tuple(value) if name == "modes" else value for name, value in words.items()}
    return replace(setup, **told)


def test_measuring_comes_first_and_preemption_last():
    assert ORDER[0] is Step.BASELINE and ORDER[-1] is Step.PREEMPTION
    assert Step.BASELINE not in SWITCHED
    assert missing_before(Step.SLICES, {Step.BASELINE, Step.SHARED}) == (Step.LABELS,)


@pytest.mark.parametrize(("days", "on"), [(6, False), (7, True)])
def test_a_week_is_measured_after_seven_days(days, on):
    assert is_on(Step.BASELINE, replace(PLAIN, days=days)) is on


@pytest.mark.parametrize(
    ("vendor", "mode"), [("nvidia", "mig"), ("ascend", "vnpu"), ("amd", "amd_partition")]
)
def test_cards_are_cut_as_their_vendor_cuts_them(vendor, mode):
    words = switched_on(Step.SLICES, replace(PLAIN, vendors=frozenset({vendor})))
    assert words == {"modes": ["whole", mode]}


def test_each_switch_changes_its_own_columns_alone():
    assert switched_on(Step.SHARED, PLAIN) == {
        "sharing": True,
        "modes": ["whole", "timeslice", "mps"],
    }
    assert switched_on(Step.BATCH, PLAIN) == {"lending": True}
    assert switched_on(Step.MIXING, PLAIN) == {"policy": "fragmentation"}
    assert switched_on(Step.PREEMPTION, PLAIN) == {"preemption": True}
    assert switched_on(Step.LABELS, PLAIN) == {}


def test_without_memory_of_before_the_way_back_is_plain():
    shared = replace(PLAIN, modes=("timeslice", "mps"), sharing=True)
    assert switched_off(Step.SHARED, shared, None) == {"sharing": False, "modes": ["whole"]}


SETUPS = st.builds(
    Setup,
    modes=st.lists(st.sampled_from([*map(str, Mode)]), min_size=1, unique=True).map(tuple),
    sharing=st.booleans(),
    lending=st.booleans(),
    preemption=st.booleans(),
    policy=st.sampled_from(["binpack", "spread", "fragmentation"]),
    vendors=st.frozensets(st.sampled_from(["nvidia", "amd", "ascend", "other"])),
    days=st.integers(0, 28),
)
CHANGING = st.sampled_from([one for one in SWITCHED if one is not Step.LABELS])


@given(SETUPS, CHANGING)
def test_switched_on_it_is_on_and_the_way_back_is_where_it_was(setup, step):
    words = switched_on(step, setup)
    there = applied(setup, words)
    assert is_on(step, there)
    if is_on(step, setup):
        assert words == {}
        return
    before = {name: getattr(setup, name) for name in words}
    back = applied(there, switched_off(step, there, before))
    assert back == setup
    assert not is_on(step, back)


@given(SETUPS, CHANGING)
def test_taken_back_without_a_memory_it_is_off(setup, step):
    back = applied(setup, switched_off(step, setup, None))
    assert not is_on(step, back)
    assert back.modes
