"""What a pool is worth having by its size: every number of cards has one answer."""

import pytest

from pool.rules.planning.size import Way, size_advice


@pytest.mark.parametrize(
    ("cards", "way", "next_at"),
    [
        (0, Way.PLAIN, 9),
        (8, Way.PLAIN, 9),
        (9, Way.SLICES, 51),
        (50, Way.SLICES, 51),
        (51, Way.RULES, 501),
        (500, Way.RULES, 501),
        (501, Way.DOMAINS, None),
    ],
)
def test_each_size_has_its_way(cards, way, next_at):
    found = size_advice(cards)
    assert (found.way, found.next_at) == (way, next_at)


def test_the_next_way_begins_where_it_is_said_to():
    for cards in (1, 20, 200):
        found = size_advice(cards)
        assert found.next_at is not None
        assert size_advice(found.next_at).way is not found.way
        assert size_advice(found.next_at - 1).way is found.way
