"""Idle scenarios with the verdict that each must have; time counts only where nothing moved."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Fidelity
from pool.lifecycle.idleness import Verdict
from pool.rules.idle import Counted, Rule, Signals, judge

RULE = Rule()
STILL = Signals(
    age_s=4.0,
    busy=0,
    kernel_quiet_s=4000.0,
    terminals=0,
    terminal_quiet_s=4000.0,
    jobs=0,
    input_ago_s=4000.0,
    cpu_cores=0.01,
    disk_mib_s=0.0,
    net_mib_s=0.001,
    sm_percent=0.0,
    memory_mib=0.0,
    memory_range_mib=0.0,
    slice_mib=10_000.0,
)
NO_SM = replace(STILL, sm_percent=None, sm_fidelity=Fidelity.UNAVAILABLE)

SCENARIOS = {
    "a silent cell that runs for five hours": (replace(STILL, busy=1), Verdict.ACTIVE),
    "that cell on the card": (replace(STILL, busy=1, sm_percent=70.0), Verdict.ACTIVE),
    "that cell on processors": (replace(STILL, busy=1, cpu_cores=4.0), Verdict.ACTIVE),
    "training in a terminal": (
        replace(STILL, terminals=1, jobs=3, sm_percent=80.0),
        Verdict.ACTIVE,
    ),
    "VS Code alone, which runs cells": (replace(STILL, kernel_quiet_s=3.0), Verdict.ACTIVE),
    "an upload": (replace(STILL, net_mib_s=12.0), Verdict.ACTIVE),
    "CPU pre-processing in the background": (replace(STILL, cpu_cores=1.0), Verdict.ACTIVE),
    "writing to disk": (replace(STILL, disk_mib_s=30.0), Verdict.ACTIVE),
    "typing": (replace(STILL, input_ago_s=2.0), Verdict.ACTIVE),
    "a tab that was forgotten": (replace(STILL, net_mib_s=0.004, cpu_cores=0.03), Verdict.IDLE),
    "60 % of the memory at no SM": (replace(STILL, memory_mib=6000.0), Verdict.HOLDING),
    "a terminal that lies open": (replace(STILL, terminals=2), Verdict.IDLE),
    "Ampere MIG, where nobody counts SM": (NO_SM, Verdict.IDLE),
    "the same with a job in a terminal": (replace(NO_SM, jobs=1), Verdict.ACTIVE),
    "the same with memory that grows": (replace(NO_SM, memory_range_mib=500.0), Verdict.ACTIVE),
    "the same with memory unknown": (replace(NO_SM, memory_range_mib=None), Verdict.UNKNOWN),
    "metrics unknown": (replace(STILL, sm_percent=None), Verdict.UNKNOWN),
    "its server does not answer": (replace(STILL, busy=None), Verdict.UNKNOWN),
    "the agent gone for three hours": (replace(STILL, age_s=10_800.0), Verdict.UNKNOWN),
    "an agent that never spoke": (Signals(age_s=None), Verdict.UNKNOWN),
    "a busy kernel seen before the agent went": (
        replace(STILL, age_s=10_800.0, busy=1),
        Verdict.UNKNOWN,
    ),
    "a notebook without a card": (
        replace(STILL, has_slice=False, sm_percent=None, slice_mib=None),
        Verdict.IDLE,
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_has_its_verdict(name):
    signals, expected = SCENARIOS[name]
    assert judge(signals, RULE, Counted(quiet_s=60.0), 5.0).verdict is expected


@pytest.mark.parametrize("name", [n for n, (_, v) in SCENARIOS.items() if v is Verdict.ACTIVE])
def test_nothing_that_moves_is_ever_reclaimed(name):
    signals, _ = SCENARIOS[name]
    found = judge(signals, RULE, Counted(quiet_s=7199.0, warned=2), 10_000.0)
    assert (found.quiet_s, found.over, found.warn, found.warned) == (0.0, False, None, None)


@pytest.mark.parametrize("name", [n for n, (_, v) in SCENARIOS.items() if v is Verdict.UNKNOWN])
def test_what_is_not_known_neither_counts_nor_ends_anything(name):
    signals, _ = SCENARIOS[name]
    before = Counted(quiet_s=7199.0, warned=2)
    found = judge(signals, RULE, before, 10_800.0)
    assert (found.quiet_s, found.over, found.warn, found.warned) == (7199.0, False, None, 2)


def walk(signals, rule, step, until):
    """Judge again and again; the minutes of the warnings, and after how long it was over."""
    counted, warnings, clock = Counted(), [], 0.0
    while clock < until:
        clock += step
        found = judge(signals, rule, counted, step)
        counted = Counted(found.quiet_s, found.warned)
        if found.warn is not None:
            warnings.append((found.warn, round(clock)))
        if found.over:
            return warnings, clock
    return warnings, None


def test_it_is_warned_at_thirty_ten_and_two_minutes_and_then_over():
    warnings, over = walk(STILL, RULE, 5.0, 8000)
    assert warnings == [(30, 5400), (10, 6600), (2, 7080)]
    assert over == 7200


def test_without_sm_everything_takes_twice_as_long():
    warnings, over = walk(NO_SM, RULE, 5.0, 16_000)
    assert [minutes for minutes, _ in warnings] == [30, 10, 2]
    assert over == 14_400


def test_a_leap_of_the_clock_still_leaves_two_minutes_to_answer():
    found = judge(STILL, RULE, Counted(quiet_s=100.0), 50_000.0)
    assert (found.warn, found.over, found.left_s) == (2, False, 120.0)
    later = judge(STILL, RULE, Counted(found.quiet_s, found.warned), 60.0)
    assert (later.warn, later.over) == (None, False)
    assert judge(STILL, RULE, Counted(later.quiet_s, later.warned), 61.0).over


def test_a_leap_after_an_early_warning_does_not_skip_the_last_one():
    found = judge(STILL, RULE, Counted(quiet_s=5500.0, warned=30), 50_000.0)
    assert (found.warn, found.over) == (2, False)


def test_a_clock_that_steps_back_takes_nothing_away():
    assert judge(STILL, RULE, Counted(quiet_s=500.0), -3600.0).quiet_s == 500.0


def test_where_busy_does_not_count_a_sleeping_cell_is_idle_and_a_working_one_is_not():
    rule = replace(RULE, busy_counts=False)
    asleep = replace(STILL, busy=1)
    assert judge(asleep, rule, Counted(), 5.0).verdict is Verdict.IDLE
    assert judge(replace(asleep, cpu_cores=2.0), rule, Counted(), 5.0).verdict is Verdict.ACTIVE
    assert judge(replace(asleep, sm_percent=70.0), rule, Counted(), 5.0).verdict is Verdict.ACTIVE


def test_the_evidence_names_what_decided():
    found = judge(replace(STILL, busy=2), RULE, Counted(), 5.0)
    assert [one.signal for one in found.evidence if one.moves] == ["kernel"]


def test_a_rule_without_warnings_warns_two_minutes_before_all_the_same():
    warnings, over = walk(STILL, replace(RULE, warn_minutes=()), 5.0, 8000)
    assert warnings == [(2, 7080)]
    assert over == 7200


def test_a_rule_that_was_tightened_still_warns_first():
    found = judge(STILL, RULE, Counted(quiet_s=20_000.0), 5.0)
    assert (found.warn, found.over) == (2, False)


SOME = st.one_of(st.none(), st.floats(0, 1e6))


@given(
    signals=st.builds(
        Signals,
        age_s=SOME,
        busy=st.one_of(st.none(), st.integers(0, 3)),
        kernel_quiet_s=SOME,
        terminals=st.one_of(st.none(), st.integers(0, 2)),
        terminal_quiet_s=SOME,
        jobs=st.one_of(st.none(), st.integers(0, 2)),
        input_ago_s=SOME,
        cpu_cores=SOME,
        disk_mib_s=SOME,
        net_mib_s=SOME,
        sm_percent=SOME,
        sm_fidelity=st.sampled_from(sorted(Fidelity)),
        memory_mib=SOME,
        memory_range_mib=SOME,
        slice_mib=SOME,
    ),
    quiet=st.floats(0, 20_000),
    elapsed=st.floats(-4000, 20_000),
)
def test_nobody_is_reclaimed_while_a_kernel_executes_or_without_a_last_warning(
    signals, quiet, elapsed
):
    found = judge(signals, RULE, Counted(quiet, None), elapsed)
    assert not found.over
    warned = judge(signals, RULE, Counted(quiet, 2), elapsed)
    assert not (warned.over and signals.busy)
    assert found.quiet_s >= 0


VIEWED = replace(STILL, viewed_ago_s=10.0)
BUSY_BY_A_LOOK = {
    "processors and disk of the look itself": (
        replace(VIEWED, cpu_cores=1.0, disk_mib_s=9.0),
        60.0,
    ),
    "a look that moves nothing": (VIEWED, 65.0),
    "a look a while ago": (replace(STILL, cpu_cores=1.0, viewed_ago_s=600.0), 0.0),
    "somebody who types beside it": (replace(VIEWED, cpu_cores=1.0, input_ago_s=2.0), 0.0),
    "a cell that runs beside it": (replace(VIEWED, cpu_cores=1.0, busy=1), 0.0),
}


@pytest.mark.parametrize("name", BUSY_BY_A_LOOK)
def test_the_look_of_others_is_neither_use_nor_quiet(name):
    signals, quiet_s = BUSY_BY_A_LOOK[name]
    found = judge(signals, RULE, Counted(quiet_s=60.0), 5.0)
    assert found.quiet_s == quiet_s
