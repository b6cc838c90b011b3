"""Legal layouts, counted against the published tables."""

import json
from importlib.resources import files

import pytest

from pool.carving.geometry import EMPTY, Layout, capacity, cut_of, free_places, legal
from tests.pool.carving.cards import mig


def _maximal(cut, profiles, layout=EMPTY, placed=frozenset()):
    found = set()
    more = False
    for profile in profiles:
        for place in free_places(cut, layout, profile):
            more = True
            found |= _maximal(
                cut, profiles, layout.plus(place), placed | {(place.profile, place.start)}
            )
    return found if more else {placed}


@pytest.mark.parametrize("card", ["a100_40gb", "a100_80gb", "h100_80gb", "a30_24gb"])
def test_the_number_of_maximal_layouts_is_the_published_one(card):
    cut = cut_of(mig(card))
    told = json.loads((files("nodeagent.facts") / "mig" / f"{card}.json").read_text())
    plain = [i for i, p in enumerate(cut.geometry.profiles) if "+" not in p.name]
    single = [i for i in plain if not _double(cut.profile(i))]
    assert len(_maximal(cut, plain)) == told["layouts"]["maximal_plain"]
    assert len(_maximal(cut, single)) == told["layouts"]["maximal_without_double_memory"]


def _double(profile):
    return profile.compute == 1 and profile.size == 2


def test_a_4g_and_a_3g_lie_together_only_with_the_3g_behind():
    cut = cut_of(mig("a100_80gb"))
    assert legal(cut, (("3g.40gb", 4), ("4g.40gb", 0)))
    assert not legal(cut, (("3g.40gb", 0), ("4g.40gb", 0)))
    assert not legal(cut, (("3g.40gb", 4), ("1g.10gb", 5)))


def test_one_card_holds_one_media_slice_whatever_its_size():
    cut = cut_of(mig("a30_24gb"))
    assert legal(cut, (("1g.6gb+me", 0), ("1g.6gb", 1)))
    assert not legal(cut, (("1g.6gb+me", 0), ("2g.12gb+me", 2)))


def test_all_media_leaves_room_only_for_slices_without_engines():
    cut = cut_of(mig("rtx_pro_6000_blackwell_96gb"))
    assert legal(cut, (("1g.24gb+me.all", 0), ("1g.24gb-me", 3)))
    assert not legal(cut, (("1g.24gb+me.all", 0), ("1g.24gb", 3)))
    assert not legal(cut, (("1g.24gb", 3), ("1g.24gb+me.all", 0)))


def test_a_profile_the_card_does_not_know_is_not_legal():
    assert not legal(cut_of(mig("a30_24gb")), (("7g.80gb", 0),))


def test_a_start_the_card_does_not_offer_is_not_legal():
    assert not legal(cut_of(mig("a100_80gb")), (("2g.20gb", 1),))


def test_capacity_counts_what_still_fits():
    cut = cut_of(mig("a100_80gb"))
    small, large = cut.index("1g.10gb"), cut.index("3g.40gb")
    assert capacity(cut, EMPTY, small) == 7
    assert capacity(cut, EMPTY, large) == 2
    assert capacity(cut, Layout(0b1111, (large,)), small) == 3
