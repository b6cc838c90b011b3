"""What is odd about a tree of limits: told, never refused, and never told where nothing is odd."""

from hypothesis import given
from hypothesis import strategies as st

from pool.rules.quotatree.oddities import Level, Oddity, compared, findings, sums

NUMBER = st.none() | st.integers(0, 9)


def tree(*numbers):
    """Organization, two projects, a member of the first: (limit, guarantee) each, nothing held."""
    keys = (("o", None), ("p", "o"), ("q", "o"), ("m", "p"))
    return [
        Level(key=key, parent=parent, held=0, said={"limit": limit, "entitlement": promised})
        for (key, parent), (limit, promised) in zip(keys, numbers, strict=True)
    ]


def test_guarantees_below_are_summed_and_compared_with_the_one_above():
    levels = tree((None, 5), (None, 3), (None, 4), (None, None))
    assert sums(levels, "entitlement") == {"o": 7}
    told = [(one.key, one.what, one.by) for one in findings(levels, capacity=4)]
    assert told == [
        ("o", Oddity.GUARANTEES_ABOVE_PARENT, 2),
        ("", Oddity.GUARANTEES_ABOVE_CARDS, 1),
    ]


def test_what_a_change_worsens_is_new_and_what_it_leaves_is_not():
    before = findings(tree((4, None), (6, None), (2, None), (None, None)))
    after = findings(tree((4, None), (7, None), (5, None), (None, None)))
    assert [(one.key, one.by, one.new) for one in compared(before, after)] == [
        ("p", 3, True),
        ("q", 1, True),
    ]
    assert [one.new for one in compared(before, before)] == [False]


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=4, max_size=4))
def test_a_child_is_odd_exactly_when_the_nearest_limit_above_is_less(numbers):
    levels = tree(*numbers)
    limits = {one.key: one.said["limit"] for one in levels}
    odd = {one.key for one in findings(levels) if one.what is Oddity.ABOVE_PARENT}
    for key, above in (("p", ["o"]), ("q", ["o"]), ("m", ["p", "o"])):
        nearest = next((limits[one] for one in above if limits[one] is not None), None)
        passes = limits[key] is not None and nearest is not None and limits[key] > nearest
        assert (key in odd) == passes


def test_what_may_be_promised_beyond_the_limit_is_not_guaranteed():
    assert findings(tree((8, 24), (8, 24), (4, None), (None, None)), capacity=8) == []
    told = findings(tree((8, 24), (8, 24), (4, 9), (None, None)), capacity=8)
    assert [(one.key, one.what, one.by) for one in told] == [
        ("o", Oddity.GUARANTEES_ABOVE_PARENT, 4)
    ]
