"""Cards to scale."""

from types import SimpleNamespace

import pytest

from portal.pages.drawing import HIGH, WIDE, drawn
from tests import rows


def slice_of(*, mode="mig", span=(0, 2), memory=1000, compute=285, state="ready", held=None):
    place = SimpleNamespace(lower=span[0], upper=span[1]) if span else None
    return SimpleNamespace(
        mode=mode,
        span=place,
        memory_mib=memory,
        compute_milli=compute,
        state=state,
        profile="2g.20gb" if span else "",
        now_held=[held] if held else [],
    )


def held_by(name):
    workload = SimpleNamespace(name=name)
    return SimpleNamespace(placement=SimpleNamespace(attempt=SimpleNamespace(workload=workload)))


def card(*living, state="ready"):
    from msgspec import to_builtins

    facts = to_builtins(rows.card_facts("GPU-1"))
    return SimpleNamespace(
        facts=facts, living=list(living), memory_mib=81920, state=state, offered=True
    )


@pytest.mark.parametrize(("first", "last"), [(0, 2), (4, 6), (0, 8)])
def test_a_mig_slice_lies_at_its_own_place(first, last):
    (box,) = drawn(card(slice_of(span=(first, last))), lambda _: True).boxes
    assert box.x == pytest.approx(WIDE * first / 8, abs=2)
    assert box.x + box.width == pytest.approx(WIDE * last / 8, abs=2)


def test_soft_shares_are_memory_wide_and_compute_high():
    half = slice_of(mode="mps", span=None, memory=40960, compute=250)
    (box,) = drawn(card(half), lambda _: True).boxes
    assert box.width == pytest.approx(WIDE / 2, abs=4)
    assert box.height == pytest.approx(HIGH / 4, abs=2)


def test_names_are_there_only_for_those_who_may_know():
    one = slice_of(held=held_by("secret"))
    known, hidden = (drawn(card(one), lambda _, may=may: may).boxes[0] for may in (True, False))
    assert (known.look, known.workload.name) == ("ours", "secret")
    assert (hidden.look, hidden.workload) == ("others", None)


@pytest.mark.parametrize(
    ("state", "look"),
    [("lost", "blind"), ("failed", "failed"), ("creating", "passing"), ("ready", "idle")],
)
def test_a_slice_looks_as_it_is(state, look):
    assert drawn(card(slice_of(state=state)), lambda _: True).boxes[0].look == look


def test_a_silent_card_is_hatched_and_never_free():
    assert drawn(card(state="silent"), lambda _: True).look == "blind"
    assert drawn(card(state="cordoned"), lambda _: True).look == "closed"


def test_a_label_is_cut_to_what_fits():
    assert drawn(card(slice_of(span=(0, 4))), lambda _: True).boxes[0].label == "2g.20gb"
    assert drawn(card(slice_of(span=(0, 1))), lambda _: True).boxes[0].label == "2g"
