"""Arithmetic of rows and allowances."""

from hypothesis import given
from hypothesis import strategies as st

from pool.rules.access import Door, usable
from pool.rules.problems import Problem
from pool.rules.quotas import SHORT_SECONDS, Allowance, allowance_says, ceiling_of, over_by, room

sizes = st.integers(0, 10**9)


@given(sizes, sizes)
def test_ceiling_room_and_excess_fit_together(limit, held):
    assert ceiling_of(limit, held) == limit + over_by(limit, held)
    assert room(limit, held) == 0 or over_by(limit, held) == 0
    assert held + room(limit, held) == max(limit, held)


@given(sizes, sizes, sizes, st.integers(1, 10**6), st.sampled_from(["", "wait", "ask"]))
def test_what_fits_never_asks_and_what_never_fits_always_does(limit, used, asked, seconds, word):
    says = allowance_says(limit=limit, used=used, asked=asked, seconds=seconds, when_full=word)
    assert (says is Allowance.FITS) == (used + asked <= limit)
    if asked > limit:
        assert says is Allowance.BEYOND
    if says is Allowance.WAITS:
        assert word == "wait" or (word == "" and seconds <= SHORT_SECONDS)


DOORS = (
    Door("a100", open_to_all=True),
    Door("lab", open_to_all=False, organizations=frozenset({7})),
    Door("h100", open_to_all=True),
)


def test_without_a_wish_every_open_door_counts_in_order():
    assert usable(DOORS, organization=1) == ("a100", "h100")
    assert usable(DOORS, organization=7) == ("a100", "lab", "h100")


def test_a_wish_keeps_its_order_and_says_a_name_once():
    assert usable(DOORS, organization=1, wanted=["h100", "a100", "h100"]) == ("h100", "a100")


def test_a_closed_door_and_no_door_are_the_same():
    closed = usable(DOORS, organization=1, wanted=["lab"])
    absent = usable(DOORS, organization=1, wanted=["moon"])
    assert isinstance(closed, Problem) and isinstance(absent, Problem)
    assert closed.text == absent.text
    assert "lab" in str(closed)
