"""D15: rooms that are still being given back are promised once, and start nothing before."""

import pytest

from tests.field.yielding import AGAIN, WAIT, leaves_after

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("giving")]


def test_three_jobs_for_two_rooms_that_become_free_late(giving):
    slow = giving.submit("field-low", leaves_after(5))
    quick = giving.submit("field-low", f"{AGAIN}; {WAIT}")
    giving.running(slow, quick)
    # Longer than the slow victim takes, so that no winner ends early and leaves a room to another.
    high = [giving.submit("field-high", "sleep 8") for _ in range(3)]
    ended = giving.house.ended([*high, slow, quick], seconds=180)
    assert {row["state"] for row in ended.values()} == {"succeeded"}
    orders = giving.orders(slow, quick)
    assert len(orders) == 2, "at most two victims"
    winners = [winner for _, winner, *_ in orders]
    assert len(set(winners)) == 2 and set(winners) <= set(high)
    for victim, _, kind, outcome, *_ in orders:
        assert (kind, outcome) == ("preempt", "released")
        card, _, left = giving.cards(victim)[0]
        later = [row for uid in high for row in giving.cards(uid) if row[0] == card]
        assert later, "somebody had the room"
        assert all(start >= left for _, start, _ in later), "not before it was clean"
