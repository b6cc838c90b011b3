"""The size that each corner prepares: of what shrinks four fifths would have been used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.rules.planning.prepared import prepared_size
from pool.rules.planning.scatter import Dot

NEED = {"memory_gb": 40, "compute_milli": 500}


def size(memory, compute, need=NEED):
    return prepared_size(Dot("k", "k", memory, compute, 1.0), need)


@pytest.mark.parametrize(
    ("memory", "compute", "told"),
    [
        (900, 400, {"compute_milli": 250}),
        (500, 900, {"memory_gb": 25}),
        (200, 100, {"memory_gb": 10, "compute_milli": 70}),
        (900, 900, {}),
        (None, 100, {}),
    ],
)
def test_each_corner_shrinks_what_lies_idle_alone(memory, compute, told):
    assert size(memory, compute) == told


def test_what_the_need_does_not_say_is_not_made_up():
    assert size(200, 100, {"whole": True, "parts": 2}) == {}
    assert size(200, 100, {"memory_gb": 40}) == {"memory_gb": 10}
    assert size(200, 100, {"profile": "1g.10gb"}) == {}


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 1000), st.integers(1, 100))
def test_it_only_ever_asks_for_less_and_for_enough(memory, compute, gb, percent):
    need = {"memory_gb": gb, "compute_milli": percent * 10}
    told = size(memory, compute, need)
    assert all(0 < value < need[name] for name, value in told.items())
    if "memory_gb" in told:
        assert told["memory_gb"] * 800 >= gb * memory or told["memory_gb"] == 1
