"""D16: freed room is kept for the winner, and no victim is told to leave twice."""

import pytest

from tests.field.yielding import leaves_after

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("giving")]

TOLD = "SELECT count(*) FROM pool_event WHERE kind = 'yield.ordered' AND subject = ANY(%s)"


def test_who_needs_two_rooms_starts_when_the_slower_victim_has_left(giving):
    first = giving.submit("field-low", leaves_after(0.5))
    second = giving.submit("field-low", leaves_after(6))
    giving.running(first, second)
    winner = giving.submit("field-high", "sleep 1", need={"whole": True, "parts": 2})
    ended = giving.house.ended([winner, first, second], seconds=180)
    assert {row["state"] for row in ended.values()} == {"succeeded"}
    orders = {row[0]: row for row in giving.orders(first, second)}
    assert len(orders) == 2
    assert {row[1] for row in orders.values()} == {winner}
    subjects = [f"workload:{uid}" for uid in (first, second)]
    assert giving.house.rows(TOLD, subjects)[0][0] == 2, "each victim once, in the log"
    begins = min(start for _, start, _ in giving.cards(winner))
    ends = max(until for _, _, until in giving.cards(winner))
    assert begins >= max(row[7] for row in orders.values()), "not before both had left"
    for victim in (first, second):
        tries = giving.cards(victim)
        assert len(tries) == 2
        assert tries[1][1] >= ends, "not readmitted into the room it freed"
