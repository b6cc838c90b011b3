"""The counter of a process."""

from portal.access.rates import Rate


def test_so_many_knocks_are_free_and_the_next_is_told_how_long_to_wait():
    rate = Rate(limit=3, seconds=60)
    assert [rate.knock("a", now=100.0) for _ in range(3)] == [0, 0, 0]
    assert rate.knock("a", now=110.0) == 50.0
    assert rate.knock("b", now=110.0) == 0


def test_a_new_span_begins_after_the_old_one():
    rate = Rate(limit=1, seconds=10)
    rate.knock("a", now=0.0)
    assert rate.knock("a", now=9.5) == 0.5
    assert rate.knock("a", now=10.0) == 0


def test_a_flood_of_names_does_not_cost_memory():
    rate = Rate(limit=1, seconds=10, most=100)
    for number in range(10_000):
        rate.knock(str(number), now=1.0)
    assert len(rate._seen) <= 100


def test_spans_that_are_over_are_forgotten_first():
    rate = Rate(limit=1, seconds=10, most=2)
    rate.knock("old", now=0.0)
    rate.knock("young", now=9.0)
    rate.knock("new", now=11.0)
    assert set(rate._seen) == {"young", "new"}
    assert rate.knock("young", now=11.0) > 0
