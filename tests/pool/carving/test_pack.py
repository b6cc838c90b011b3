"""Packing one card: exact against brute force, whatever the order (field case D01)."""

from itertools import combinations_with_replacement, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pool.carving.geometry import EMPTY, cut_of, legal
from pool.carving.pack import best_place, demand_weights, even_weights, pack
from tests.pool.carving.cards import mig

A100 = cut_of(mig("a100_80gb"))


def _names(*names):
    return tuple(A100.index(name) for name in names)


def _brute(cut, wanted, taken=0, media=False, counts=()):
    """Plain search over every start of every instance; no mask tables, no memory of its own."""
    if not wanted:
        return True
    profile = cut.geometry.profiles[wanted[0]]
    mine = counts.count(wanted[0])
    if mine >= profile.max_instances or (media and profile.media):
        return False
    for start in profile.starts:
        block = sum(1 << unit for unit in range(start, start + profile.size))
        if block & taken or start + profile.size > cut.geometry.units:
            continue
        then = (cut, wanted[1:], taken | block, media or profile.media, (*counts, wanted[0]))
        if _brute(*then):
            return True
    return False


def _kinds(card):
    """The profiles of a card without the engine variants, plus its +me ones."""
    cut = cut_of(mig(card))
    wanted = [
        i
        for i, p in enumerate(cut.geometry.profiles)
        if "gfx" not in p.name and ".all" not in p.name and not p.name.endswith("-me")
    ]
    return cut, wanted


@pytest.mark.parametrize("card", ["a30_24gb", "a100_80gb", "rtx_pro_6000_blackwell_96gb"])
def test_yes_or_no_equals_brute_force_for_every_multiset_up_to_seven(card):
    cut, kinds = _kinds(card)
    for count in range(1, 8):
        for wanted in combinations_with_replacement(kinds, count):
            found = pack(cut, EMPTY, wanted)
            assert (found is not None) == _brute(cut, wanted), wanted
            if found is not None:
                pieces = tuple((cut.profile(p.profile).name, p.start) for p in found)
                assert legal(cut, pieces)
                assert sorted(p.profile for p in found) == sorted(wanted)


@pytest.mark.parametrize(
    "wanted",
    [
        ("3g.40gb", "4g.40gb"),
        ("1g.10gb", "1g.10gb", "1g.10gb", "4g.40gb"),
        ("2g.20gb", "1g.10gb", "4g.40gb"),
        ("2g.20gb", "2g.20gb", "2g.20gb", "1g.10gb"),
    ],
)
def test_a_legal_layout_is_found_in_every_order_with_the_4g_at_its_only_start(wanted):
    answers = {pack(A100, EMPTY, _names(*order)) for order in permutations(wanted)}
    assert len(answers) == 1
    (found,) = answers
    four = A100.index("4g.40gb")
    assert all(place.start == 0 for place in found if place.profile == four)


def test_the_first_3g_leaves_the_only_start_of_a_4g_free():
    place = best_place(A100, EMPTY, A100.index("3g.40gb"), even_weights(A100))
    assert place.start == 4
    assert pack(A100, EMPTY.plus(place), _names("4g.40gb"))[0].start == 0


def test_no_place_is_found_on_a_full_card():
    full = EMPTY.plus(pack(A100, EMPTY, _names("7g.80gb"))[0])
    assert best_place(A100, full, A100.index("1g.10gb"), even_weights(A100)) is None


def test_demand_moves_the_weights_towards_what_is_asked_for():
    weights = demand_weights(A100, {"1g.10gb": 10})
    assert max(weights) == weights[A100.index("1g.10gb")]
    assert weights[A100.index("1g.10gb+me")] == 0.0
    assert abs(sum(weights) - 1.0) < 1e-9


@given(st.lists(st.sampled_from(_kinds("a100_80gb")[1]), max_size=7))
def test_packing_does_not_depend_on_the_order_of_the_wish(wanted):
    assert pack(A100, EMPTY, tuple(wanted)) == pack(A100, EMPTY, tuple(reversed(wanted)))
