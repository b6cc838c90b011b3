"""Needs: what is taken, what is refused, and how a person's changes meet a template."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.carving.needs import ask_of, modes_of, pair_on
from pool.carving.sizes import CardSize, Share
from pool.cycle.needs import claim_of
from pool.rules.needs import Need, from_mapping, merged, to_mapping
from pool.rules.problems import Problems

TWENTY = from_mapping({"memory_gb": 20, "compute_percent": 30})
A100_40 = CardSize(nominal_gb=40, memory_mib=40_320)
A100_80 = CardSize(nominal_gb=80, memory_mib=81_920)


def test_percent_and_models_are_other_spellings():
    need = from_mapping({"share_percent": 30, "models": ["A100-80GB"]})
    assert need == Need(share_milli=300, labels=("A100-80GB",))


def test_half_a_percent_is_exact_and_finer_is_refused():
    assert from_mapping({"compute_percent": 12.5}).compute_milli == 125
    with pytest.raises(Problems) as refused:
        from_mapping({"compute_percent": 12.345})
    assert "whole number" in str(refused.value.fields["compute_milli"])


@pytest.mark.parametrize(
    ("given_", "field"),
    [
        ({"memory_gb": 0}, "memory_gb"),
        ({"memory_gb": -4}, "memory_gb"),
        ({"memory_gb": "20"}, "memory_gb"),
        ({"memory_gb": True}, "memory_gb"),
        ({"memory_gb": 20.5}, "memory_gb"),
        ({"memory_gb": 10**12}, "memory_gb"),
        ({"compute_percent": 101}, "compute_milli"),
        ({"compute_percent": float("nan")}, "compute_milli"),
        ({"compute_percent": float("inf")}, "compute_milli"),
        ({"share_milli": 0}, "share_milli"),
        ({"parts": -1, "memory_gb": 4}, "parts"),
        ({"parts": 5000, "memory_gb": 4}, "parts"),
        ({"parts": 0}, "cpu_milli"),
        ({"parts": 0, "cpu_milli": 1000, "memory_gb": 3}, "memory_gb"),
        ({}, "memory_gb"),
        ({"whole": "yes"}, "whole"),
        ({"whole": True, "memory_gb": 3}, "memory_gb"),
        ({"memory_gb": 3, "memory_mib": 3}, "memory_mib"),
        ({"share_milli": 3, "compute_milli": 3}, "share_milli"),
        ({"profile": "1g.10gb", "memory_gb": 3}, "profile"),
        ({"profile": "x" * 64}, "profile"),
        ({"profile": "a\x00b"}, "profile"),
        ({"memory_gb": 3, "modes": ["slices"]}, "modes"),
        ({"memory_gb": 3, "modes": "mig"}, "modes"),
        ({"memory_gb": 3, "vendors": ["matrox"]}, "vendors"),
        ({"memory_gb": 3, "labels": [""]}, "labels"),
        ({"memory_gb": 3, "labels": ["a"] * 65}, "labels"),
        ({"memory_gb": 3, "topology": "ring"}, "topology"),
        ({"memory_gb": 3, "topology": ["node"]}, "topology"),
        ({"memory_gb": 3, "topology": "linked", "parts": 2}, "topology"),
        ({"memory_gb": 3, "topology": "spread"}, "topology"),
        ({"whole": True, "modes": ["mig"]}, "modes"),
        ({"memory_gb": 3, "isolation": "strong"}, "isolation"),
        ({"memory_gb": 3, "gold": 1}, "gold"),
        ({"memory_gb": 3, "labels": ["a"], "models": ["b"]}, "models"),
    ],
)
def test_wrong_needs_are_refused_with_the_field(given_, field):
    with pytest.raises(Problems) as refused:
        from_mapping(given_)
    assert field in refused.value.fields
    assert str(refused.value)


def test_memory_alone_keeps_the_templates_compute_as_the_least():
    need = merged(TWENTY, {"memory_gb": 40})
    assert need.compute_milli == 300
    assert pair_on(need, A100_80) == Share(40_960, 500)
    assert pair_on(merged(TWENTY, {"memory_gb": 10}), A100_80) == Share(10_240, 300)


def test_compute_alone_brings_memory_in_proportion():
    assert pair_on(merged(TWENTY, {"compute_percent": 50}), A100_80) == Share(40_960, 500)


def test_three_tenths_of_a_card_is_thirty_percent_of_both():
    assert pair_on(from_mapping({"share_percent": 30}), A100_80) == Share(24_576, 300)


def test_twenty_nominal_gigabytes_follow_the_cards_own_size():
    assert pair_on(TWENTY, A100_40) == Share(20_160, 300)
    assert pair_on(merged(TWENTY, {"memory_gb": 60}), A100_40) is None
    assert pair_on(from_mapping({"profile": "1g.5gb"}), A100_40) is None
    assert pair_on(from_mapping({"whole": True}), A100_40) == Share(40_320, 1000)


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"modes": ["mps"]}, "modes"),
        ({"labels": ["H100-80GB"]}, "labels"),
        ({"isolation": "process"}, "isolation"),
        ({"min_size_gb": 5}, "min_size_gb"),
        ({"parts": 4, "topology": "linked"}, "topology"),
    ],
)
def test_a_template_is_narrowed_never_widened(overrides, field):
    template = from_mapping(
        {
            "memory_gb": 20,
            "modes": ["mig"],
            "labels": ["A100-80GB"],
            "isolation": "hardware",
            "min_size_gb": 10,
        }
    )
    with pytest.raises(Problems) as refused:
        merged(template, overrides)
    assert field in refused.value.fields


def test_nothing_said_changes_nothing():
    assert merged(TWENTY, {}) == TWENTY
    assert merged(TWENTY, {"memory_gb": None, "profile": "", "whole": False}) == TWENTY


def test_time_slicing_is_only_for_templates_that_allow_it():
    assert Mode.TIMESLICE not in modes_of(TWENTY)
    assert Mode.TIMESLICE in modes_of(TWENTY, unlimited_modes=True)
    assert modes_of(from_mapping({"whole": True})) == (Mode.WHOLE,)
    assert modes_of(from_mapping({"parts": 0, "cpu_milli": 500})) == ()


def test_the_claim_says_what_the_need_said():
    need = from_mapping({"memory_gb": 20, "isolation": "hardware", "ram_mib": 9, "parts": 2})
    claim = claim_of(need, default_cpu_milli=4000, default_ram_mib=7, runner="container")
    assert (claim.parts, claim.memory_gb, claim.isolation) == (2, 20, Isolation.HARDWARE)
    assert (claim.cpu_milli, claim.host_memory_mib, claim.disk_mib) == (4000, 9, 0)
    assert claim.runner == "container"
    assert ask_of(need).memory_gb == 20


sizes = st.one_of(
    st.builds(lambda gb: {"memory_gb": gb}, st.integers(1, 100)),
    st.builds(lambda gb, c: {"memory_gb": gb, "compute_milli": c}, *[st.integers(1, 100)] * 2),
    st.builds(lambda c: {"share_milli": c}, st.integers(1, 1000)),
    st.just({"whole": True}),
    st.just({"profile": "1g.10gb"}),
)


@given(
    sizes,
    st.integers(1, 8),
    st.lists(st.sampled_from(["nvidia", "amd"]), unique=True),
    st.booleans(),
)
def test_what_is_written_reads_the_same(size, parts, vendors, heavy):
    said = {**size, "parts": parts, "vendors": vendors, "heavy_bandwidth": heavy}
    need = from_mapping(said)
    assert from_mapping(to_mapping(need)) == need


@given(sizes, sizes)
def test_merging_never_makes_a_need_that_would_be_refused(size, change):
    need = merged(from_mapping(size), change)
    assert from_mapping(to_mapping(need)) == need
