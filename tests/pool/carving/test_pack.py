"""Packing one card: exact against brute force, whatever the order (field case D01)."""

from itertools import combinations_with_replacement, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode
from pool.carving.geometry import EMPTY, cut_of, free_places, legal
from pool.carving.pack import (
    FATE,
    FATE_OF_STAYERS,
    best_place,
    demand_weights,
    even_weights,
    fate,
    pack,
    worth,
)
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
    assert max(weights.shares) == weights.shares[A100.index("1g.10gb")]
    assert weights.shares[A100.index("1g.10gb+me")] == 0.0
    assert abs(sum(weights.shares) - 1.0) < 1e-9


@given(st.lists(st.sampled_from(_kinds("a100_80gb")[1]), max_size=7))
def test_packing_does_not_depend_on_the_order_of_the_wish(wanted):
    assert pack(A100, EMPTY, tuple(wanted)) == pack(A100, EMPTY, tuple(reversed(wanted)))


def _odd():
    """A made-up card of twelve units whose profiles fit together badly, some of them scarce."""
    told = (("3c", 3, range(0, 10), 4), ("4c", 4, (0, 4, 8), 2), ("5c", 5, (0, 7), 2))
    told = (*told, ("2c+me", 2, range(0, 11, 2), 1), ("6c", 6, (0, 3, 6), 1))
    return Geometry(
        mode=Mode.MIG,
        units=12,
        compute_units=12,
        isolation=Isolation.HARDWARE,
        reset_to_enter=False,
        profiles=tuple(
            Profile(
                name=name,
                profile_id=name,
                compute=size,
                size=size,
                memory_mib=size * 1000,
                nominal_gb=size,
                starts=tuple(starts),
                max_instances=most,
                media="+me" in name,
            )
            for name, size, starts, most in told
        ),
    )


def test_profiles_of_unequal_sizes_are_packed_as_exactly():
    cut = cut_of(_odd())
    kinds = range(len(cut.places))
    for count in range(1, 8):
        for wanted in combinations_with_replacement(kinds, count):
            assert (pack(cut, EMPTY, wanted) is not None) == _brute(cut, wanted), wanted


def _fate(cut, weights, layout):
    """Units left when random requests fill one card: every arrival tried, nothing remembered."""
    chance = left = 0.0
    for profile, weight in enumerate(weights.shares):
        free = free_places(cut, layout, profile) if weight else ()
        if free:
            chance += weight
            left += weight * min(_fate(cut, weights, layout.plus(place)) for place in free)
    return left / chance if chance else cut.geometry.units - layout.mask.bit_count()


def test_a_fate_is_what_the_demand_is_expected_to_leave_empty():
    cut = cut_of(mig("a30_24gb"))
    threes = demand_weights(cut_of(_odd()), {"5c": 3, "4c": 1})
    assert fate(cut_of(_odd()), EMPTY, threes) == _fate(cut_of(_odd()), threes, EMPTY) > 0
    assert fate(cut, EMPTY, even_weights(cut)) == 0.0
    only = demand_weights(A100, {"3g.40gb": 1})
    behind = EMPTY.plus(next(p for p in A100.places[A100.index("1g.10gb")] if p.start == 6))
    assert fate(A100, EMPTY, only) == 0.0
    assert fate(A100, behind, only) == 3.0


def test_a_1g_goes_where_a_3g_could_not_have_filled_the_card():
    """Beside a 3g at the end a 4g would fill the card, so the 1g leaves it to another card."""
    weights = demand_weights(A100, {"3g.40gb": 2, "4g.40gb": 1, "1g.10gb": 1})
    half = EMPTY.plus(next(p for p in A100.places[A100.index("3g.40gb")] if p.start == 4))
    ones = EMPTY.plus(next(p for p in A100.places[A100.index("1g.10gb")] if p.start == 6))
    one = A100.index("1g.10gb")
    costs = [
        worth(A100, layout, weights)
        - worth(A100, layout.plus(best_place(A100, layout, one, weights)), weights)
        for layout in (half, ones)
    ]
    assert costs[1] < costs[0]


def test_what_stays_for_good_cares_more_for_how_full_the_card_gets():
    asked = {"1g.10gb": 6, "7g.80gb": 4}
    goes = demand_weights(A100, asked)
    stays = demand_weights(A100, asked, FATE_OF_STAYERS)
    assert stays.shares == goes.shares and stays.fate > goes.fate == FATE
    one = EMPTY.plus(A100.places[A100.index("1g.10gb")][0])
    assert worth(A100, one, stays) != worth(A100, one, goes)
