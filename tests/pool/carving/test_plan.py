"""Re-carving: fewest removals, held slices untouched."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from pool.carving.geometry import EMPTY, cut_of, free_places, legal
from pool.carving.pack import pack
from pool.carving.plan import Piece, layout_of, recut
from tests.pool.carving.cards import mig

A100 = cut_of(mig("a100_80gb"))
SEVEN = tuple(range(7))


def _ones(fixed=()):
    return [Piece(i, "1g.10gb", i, 1, i in fixed, i not in fixed) for i in SEVEN]


def _index(name):
    return A100.index(name)


def test_an_idle_slice_of_the_right_kind_is_given_as_it_is():
    found = recut(A100, _ones(), [_index("1g.10gb")])
    assert found.removed == () and found.added == () and found.reused == (0,)


def test_only_the_slices_in_the_way_are_removed():
    found = recut(A100, _ones(), [_index("2g.20gb")])
    assert len(found.removed) == 2
    assert found.added[0].start == min(found.removed)


def test_a_held_slice_is_never_removed():
    found = recut(A100, _ones(fixed={5}), [_index("3g.40gb")])
    assert found.removed == (0, 1, 2, 3)
    assert found.added[0].start == 0


def test_there_is_no_answer_when_held_slices_bar_every_start():
    assert recut(A100, _ones(fixed={1, 5}), [_index("3g.40gb")]) is None


def test_a_slice_being_taken_down_is_not_given():
    going = [Piece(1, "1g.10gb", 0, 1, True, givable=False)]
    found = recut(A100, going, [_index("1g.10gb")])
    assert found.reused == () and found.added[0].start != 0


def test_a_slice_of_an_unknown_profile_still_covers_its_place():
    pieces = [Piece(1, "odd", 0, 4, True, False)]
    assert recut(A100, pieces, [_index("4g.40gb")]) is None
    assert recut(A100, pieces, [_index("3g.40gb")]).added[0].start == 4


@st.composite
def layouts(draw):
    layout, pieces = EMPTY, []
    for number in range(draw(st.integers(0, 7))):
        profile = draw(st.sampled_from(range(len(A100.places))))
        places = free_places(A100, layout, profile)
        if places:
            place = draw(st.sampled_from(places))
            layout = layout.plus(place)
            size = A100.profile(profile).size
            name = A100.profile(profile).name
            fixed, givable = draw(st.sampled_from([(True, False), (False, True), (True, True)]))
            pieces.append(Piece(number, name, place.start, size, fixed, givable))
    return pieces


@given(layouts(), st.lists(st.sampled_from(range(len(A100.places))), min_size=1, max_size=3))
def test_the_answer_is_legal_and_no_smaller_removal_would_do(pieces, wanted):
    found = recut(A100, pieces, wanted)
    idle = [p for p in pieces if not p.fixed]
    if found is None:
        held = layout_of(A100, [p for p in pieces if p.fixed])
        assert pack(A100, held, tuple(wanted)) is None or any(p.fixed and p.givable for p in pieces)
        return
    assert set(found.removed) <= {p.id for p in idle}
    kept = [p for p in pieces if p.id not in found.removed]
    after = [(p.profile, p.start) for p in kept]
    after += [(A100.profile(p.profile).name, p.start) for p in found.added]
    assert legal(A100, tuple(sorted(after, key=lambda piece: piece[1])))
    for fewer in combinations(idle, max(0, len(found.removed) - 1)):
        if len(found.removed) > 0:
            rest = [p for p in pieces if p not in fewer]
            frozen = [Piece(p.id, p.profile, p.start, p.size, True, p.givable) for p in rest]
            assert recut(A100, frozen, wanted) is None


@given(layouts(), st.lists(st.sampled_from(range(len(A100.places))), min_size=1, max_size=3))
def test_the_answer_does_not_depend_on_the_order_of_the_pieces(pieces, wanted):
    assert recut(A100, pieces, wanted) == recut(A100, pieces[::-1], wanted[::-1])
