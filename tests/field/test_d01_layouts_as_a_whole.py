"""D01: a layout that is legal as a whole is reached whatever the order of what is asked.

The half that was asked for just before would pull the small ones to where four sevenths start. That
every yes and no up to seven instances is that of brute force stands in tests/pool/carving.
"""

import pytest

from tests.field.cases import LONG

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("cases")]
G = {"1g": "1g.10gb", "2g": "2g.20gb", "3g": "3g.40gb", "4g": "4g.40gb"}


def cut(cases, size):
    need = {"profile": G[size], "modes": ["mig"]}
    return cases.submit(LONG, need=need, partitions=["a100"], expected_seconds=600)


def emptied(cases):
    """The card as one piece again: work on the whole of it has put all idle slices away."""
    need = {"whole": True, "modes": ["whole"]}
    uid = cases.submit(LONG, template="train-whole-card", need=need, partitions=["a100"])
    cases.all_in_state([uid], "running", seconds=180)
    cases.cleared()


@pytest.mark.parametrize(
    "layout", ["3g 4g", "4g 3g", "1g 1g 1g 4g", "2g 1g 4g", "2g 2g 2g 1g", "1g 2g 2g 2g"]
)
def test_each_legal_layout_fits_in_any_order_and_four_sevenths_start_at_nought(cases, layout):
    emptied(cases)
    sizes = layout.split()
    with cases.held_queue():
        uids = [cut(cases, size) for size in sizes]
    cases.all_in_state(uids, "running", seconds=180)
    places = cases.places(uids)
    assert [places[uid][1] for uid in uids] == [G[size] for size in sizes]
    starts = {places[uid][2] for uid, size in zip(uids, sizes, strict=True) if size == "4g"}
    assert starts <= {0}


def test_the_first_half_is_put_where_a_later_four_sevenths_still_fits(cases):
    emptied(cases)
    first = cut(cases, "3g")
    cases.all_in_state([first], "running", seconds=180)
    assert cases.places([first])[first][2] == 4
    second = cut(cases, "4g")
    cases.all_in_state([first, second], "running", seconds=180)
    assert cases.places([second])[second][2] == 0
