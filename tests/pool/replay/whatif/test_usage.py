"""What was used fades as the books let it fade: each second by its own age."""

import pytest

from pool.replay.whatif.usage import Usage

HALF = 7 * 86_400.0
TENANTS = ("org:1", "project:1", "member:1.1")


def test_a_week_old_second_counts_half_and_what_is_held_counts_up():
    usage = Usage(HALF)
    usage.change(TENANTS, 2.0, 1000.0)
    usage.change(TENANTS, -2.0, 1010.0)
    fresh = {share.tenant: share.usage for share in usage.shares(1010.0)}
    assert fresh == {"org:1": pytest.approx(20.0, rel=1e-4), "project:1": fresh["org:1"]}
    later = {share.tenant: share.usage for share in usage.shares(1010.0 + HALF)}
    assert later["project:1"] == pytest.approx(10.0, rel=1e-3)


def test_it_is_counted_once_an_hour():
    usage = Usage(HALF)
    usage.change(TENANTS, 1.0, 3600.0)
    first = usage.shares(3600.0)
    assert usage.shares(7199.0) is first
    assert usage.shares(7200.0)[0].usage == pytest.approx(3600.0, rel=3e-3)
    assert [share.parent for share in usage.shares(7200.0)] == [None, "org:1"]


def test_splitting_the_time_changes_nothing():
    one, many = Usage(HALF), Usage(HALF)
    for usage, steps in ((one, [90_000.0]), (many, [10.0, 500.0, 4000.0, 90_000.0])):
        usage.change(TENANTS, 3.0, 0.0)
        for at in steps:
            usage.change(TENANTS, 0.0, at)
    assert one.sums["org:1"] == pytest.approx(many.sums["org:1"])
    assert one.sums["org:1"] > 250_000.0


def test_who_is_guaranteed_cards_weighs_by_them_before_it_has_used_any():
    usage = Usage(HALF, {"org:2": 6.0, "project:2": 4.0, "project:1": 2.0})
    usage.change(TENANTS, 1.0, 3600.0)
    told = {share.tenant: share.weight for share in usage.shares(7200.0)}
    assert told == {"org:1": 1.0, "org:2": 6.0, "project:1": 2.0, "project:2": 4.0}
    assert {share.usage for share in usage.shares(7200.0) if share.tenant[-1] == "2"} == {0.0}
