"""Sizes: nominal and usable, shares that sum (requirement P10, field case D06)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.carving.sizes import (
    MICRO,
    Ask,
    CardSize,
    Share,
    nominal_mib,
    profile_micro,
    profiles_for,
    share_micro,
    share_of,
)
from tests.pool.carving.cards import mig

A100 = mig("a100_80gb")
BIG = CardSize(nominal_gb=80, memory_mib=81920)
ODD = CardSize(nominal_gb=48, memory_mib=46068)


def _names(geometry, size, ask):
    found = profiles_for(geometry, size, ask, 20)
    return [geometry.profiles[i].name for i in found]


def test_three_nominal_shares_fit_an_80_gb_card_whatever_is_usable():
    card = CardSize(nominal_gb=80, memory_mib=81559)
    shares = [share_of(card, Ask(memory_gb=n)) for n in (40, 20, 20)]
    assert sum(s.memory_mib for s in shares) <= card.memory_mib
    assert sum(s.compute_milli for s in shares) <= 1000


def test_mib_are_absolute_and_gb_are_nominal():
    assert share_of(ODD, Ask(memory_mib=2000)).memory_mib == 2000
    assert nominal_mib(ODD, 24) == 23034


def test_twenty_three_shares_of_2000_mib_fit_by_compute_too():
    share = share_of(ODD, Ask(memory_mib=2000))
    assert 23 * share.memory_mib <= ODD.memory_mib < 24 * share.memory_mib
    assert 23 * share.compute_milli <= 1000


@pytest.mark.parametrize(("milli", "count"), [(330, 3), (340, 2), (100, 10)])
def test_fractions_sum_without_drift(milli, count):
    share = share_of(ODD, Ask(share_milli=milli))
    assert count * share.compute_milli <= 1000 < (count + 1) * share.compute_milli
    assert count * share.memory_mib <= ODD.memory_mib


def test_a_share_larger_than_the_card_is_none():
    assert share_of(ODD, Ask(memory_gb=49)) is None
    assert share_of(ODD, Ask(memory_mib=46069)) is None
    assert share_of(ODD, Ask()) is None


def test_compute_alone_brings_memory_in_proportion():
    assert share_of(BIG, Ask(compute_milli=250)) == Share(20480, 250)


def test_the_template_size_is_a_floor():
    assert share_of(BIG, Ask(memory_gb=5, min_size_gb=10)).memory_mib == 10240


def test_twenty_gb_means_the_profile_of_that_name_not_20480_mib():
    assert _names(A100, BIG, Ask(memory_gb=20))[0] == "1g.20gb"
    assert _names(A100, BIG, Ask(memory_mib=20480))[0] == "3g.40gb"


@pytest.mark.parametrize(
    ("compute", "profile"), [(300, "2g.20gb"), (305, "2g.20gb"), (306, "3g.40gb"), (143, "1g.20gb")]
)
def test_compute_is_met_within_two_points(compute, profile):
    assert _names(A100, BIG, Ask(memory_gb=20, compute_milli=compute))[0] == profile


def test_twenty_gb_and_a_quarter_on_a_40_gb_card_is_a_3g():
    small = CardSize(nominal_gb=40, memory_mib=40960)
    ask = Ask(memory_gb=20, compute_milli=250)
    assert _names(mig("a100_40gb"), small, ask)[0] == "3g.20gb"


def test_scarce_engine_profiles_are_given_only_by_name():
    assert all("+" not in name for name in _names(A100, BIG, Ask(memory_gb=1)))
    assert _names(A100, BIG, Ask(profile="1g.10gb+me")) == ["1g.10gb+me"]


def test_a_share_of_both_needs_both():
    assert _names(A100, BIG, Ask(share_milli=300))[0] == "3g.40gb"


def test_a_profile_below_the_template_size_is_skipped():
    assert _names(A100, BIG, Ask(memory_gb=5, min_size_gb=20))[0] == "1g.20gb"


def test_a_whole_card_of_profiles_never_passes_one_card():
    for name in ("a100_80gb", "a30_24gb", "h100_80gb"):
        geometry = mig(name)
        for profile in geometry.profiles:
            assert profile_micro(geometry, profile) * profile.max_instances <= MICRO


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=20), st.integers(1000, 200_000))
def test_soft_shares_that_fit_a_card_never_sum_past_one_card(parts, usable):
    card = CardSize(nominal_gb=40, memory_mib=usable)
    total = sum(parts)
    asks = [Ask(share_milli=p * 1000 // total) for p in parts]
    shares = [share_of(card, ask) for ask in asks]
    assert sum(s.memory_mib for s in shares) <= usable
    assert sum(share_micro(card, s) for s in shares) <= MICRO
