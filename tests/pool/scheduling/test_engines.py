"""Video encoders and decoders that work has to itself: counted on each card like its memory."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode, WorkloadKind
from pool.scheduling.checker import check
from pool.scheduling.model import Level, Reason, Shortage
from pool.scheduling.plan import plan
from pool.scheduling.suggest import Change, suggest
from tests.builders import mig, req, snapshot, whole
from tests.pool.scheduling.worlds import settled

VIDEO = {"gb": 4, "compute_milli": 100, "trust": "p1"}
VGPU = Geometry(
    mode=Mode.VGPU,
    units=48,
    compute_units=48,
    isolation=Isolation.SOFTWARE,
    profiles=(Profile("8q", "8q", 8, 8, 7678, 8, (), 6),),
)


def _soft(mode="mps", encoders=3, decoders=3, **rest):
    made = {"nvenc": encoders, "nvdec": decoders, **rest}
    return snapshot().node("n1").card("L40S", modes=(mode,), **made)


def _planned(world):
    made = plan(world.made)
    assert not check(world.made, made)
    return made


def _running(world, work):
    """The world once that work has started."""
    world = world.queue(work)
    return settled(world, _planned(world))


def _started(made):
    return [placed.workload for placed in made.placed]


@pytest.mark.parametrize("mode", ["mps", "timeslice"])
@pytest.mark.parametrize("word", ["encoder_units", "decoder_units"])
def test_shares_of_a_card_take_no_more_engines_than_it_has(mode, word):
    asked = {**VIDEO, "modes": (Mode(mode),), word: 1}
    made = _planned(_soft(mode).queue(*(req(n, **asked) for n in range(1, 6))))
    assert _started(made) == [1, 2, 3]
    told = made.waits[4]
    assert told.reason is (Reason.ENCODER if word == "encoder_units" else Reason.DECODER)
    assert (told.level, told.shortage) == (
        Level.BUSY,
        Shortage(unit=word, needed=1, free=0, where="n1"),
    )
    assert (told.reason, 1) in told.counts


def test_virtual_gpus_take_the_engines_of_their_card():
    world = _soft("vgpu", geometries=(VGPU,))
    desk = {"gb": 8, "encoder_units": 2, "kind": WorkloadKind.EXTERNAL, "modes": (Mode.VGPU,)}
    assert _started(_planned(world.queue(req(1, **desk), req(2, **desk)))) == [1]
    shared = {**desk, "encoder_units": 0, "encoder": True}
    assert len(_started(_planned(world.queue(*(req(n, **shared) for n in range(1, 7)))))) == 6


def test_work_that_only_wants_an_encoder_about_takes_none_from_others():
    seeing = [req(n, encoder=True, **VIDEO) for n in range(1, 6)]
    taking = req(6, encoder_units=3, **VIDEO)
    assert _started(_planned(_soft().queue(*seeing, taking))) == [1, 2, 3, 4, 5, 6]


def test_engines_come_back_when_their_holder_ends():
    world = _running(_soft(), req(1, encoder_units=3, **VIDEO))
    assert [one.encoder_units for one in world.made.slices] == [3]
    waits = _planned(world.queue(req(2, encoder_units=1, declared_s=60.0, **VIDEO)))
    assert waits.waits[2].reason is Reason.ENCODER
    assert [start.workload for start in waits.starts] == [2]


def test_an_idle_share_is_removed_for_its_engines_and_reused_only_by_its_like():
    idle = {"memory": 3839, "compute": 100, "mode": "mps"}
    world = _soft().slice(1, "", encoder_units=2, **idle).slice(1, "", **idle)
    again = _planned(world.queue(req(1, encoder_units=2, **VIDEO))).placed[0]
    assert again.parts[0].slice == 1
    other = _planned(world.queue(req(1, encoder_units=3, **VIDEO))).placed[0]
    assert (other.parts[0].slice, other.parts[0].new.encoder_units) == (None, 3)
    assert [move.removes for move in other.moves] == [(1,)]


def test_what_no_card_has_is_never_waited_for():
    made = _planned(_soft(encoders=1).queue(req(1, encoder_units=2, **VIDEO)))
    assert (made.waits[1].reason, made.waits[1].level) == (Reason.ENCODER, Level.NEVER)
    card = snapshot().node("n1").card("L40S", nvenc=2, modes=("whole",))
    assert _started(_planned(card.queue(whole(1, encoder_units=2)))) == [1]
    assert _planned(card.queue(whole(1, encoder_units=3))).waits[1].reason is Reason.ENCODER


@pytest.mark.parametrize(
    ("asked", "profile"),
    [
        ({"gb": 10}, "1g.10gb"),
        ({"gb": 10, "decoder_units": 1}, "1g.20gb"),
        ({"gb": 10, "decoder_units": 2}, "3g.40gb"),
        ({"gb": 10, "decoder_units": 5}, "7g.80gb"),
        ({"profile": "1g.10gb+me", "decoder_units": 1}, "1g.10gb+me"),
    ],
)
def test_a_mig_slice_is_chosen_by_the_engines_that_its_profile_brings(asked, profile):
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",), nvdec=5)
    (placed,) = _planned(world.queue(req(1, **asked))).placed
    assert placed.parts[0].new.profile == profile
    assert placed.parts[0].new.decoder_units == 0


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"profile": "1g.10gb", "decoder_units": 1}, Reason.DECODER),
        ({"gb": 10, "encoder_units": 1}, Reason.ENCODER),
        ({"gb": 81, "decoder_units": 1}, Reason.MEMORY),
    ],
)
def test_the_word_that_no_profile_meets_is_told(asked, reason):
    world = snapshot().node("n1").card("A100-80GB", modes=("mig",), nvdec=5)
    assert _planned(world.queue(req(1, **asked))).waits[1].reason is reason


def test_engines_of_a_profile_that_are_not_known_are_not_promised():
    plain = mig("a100_80gb")
    silent = Geometry(
        plain.mode,
        plain.units,
        plain.compute_units,
        tuple(
            Profile(
                p.name, p.profile_id, p.compute, p.size, p.memory_mib, p.nominal_gb, p.starts, 7
            )
            for p in plain.profiles
        ),
        plain.isolation,
    )
    card = {"modes": ("mig",), "nvdec": 5, "geometries": (silent,)}
    world = snapshot().node("n1").card("A100-80GB", **card)
    assert _planned(world.queue(req(1, gb=10))).placed
    asks = world.queue(req(1, gb=10, decoder_units=1))
    assert _planned(asks).waits[1].reason is Reason.DECODER


def test_fewer_engines_are_offered_where_they_would_start_it():
    world = _running(_soft(), req(1, encoder_units=1, **VIDEO))
    world = world.queue(req(2, encoder_units=3, **VIDEO))
    (found,) = suggest(world.made, world.made.waiting[0], _planned(world))
    assert (found.change, found.amount) == (Change.FEWER_ENCODERS, 2)
    assert found.work.need.encoder_units == 2


def test_the_checker_sees_engines_that_are_given_twice_or_not_at_all():
    asks = _soft().queue(req(1, encoder_units=2, **VIDEO), req(2, **VIDEO)).made
    made = plan(asks)
    parts = {p.workload: p.parts[0] for p in made.placed}

    def with_units(number, units):
        part = parts[number]
        new = replace(part.new, encoder_units=units)
        other = replace(part, new=new)
        return replace(
            made,
            placed=tuple(
                replace(p, parts=(other,)) if p.workload == number else p for p in made.placed
            ),
        )

    assert [f.code for f in check(asks, with_units(2, 2))] == ["engines_overcommitted"]
    assert [f.code for f in check(asks, with_units(1, 1))] == ["too_few_engines"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([2, 4, 8])),
        min_size=1,
        max_size=9,
    ),
    st.integers(0, 4),
)
def test_no_plan_gives_more_engines_than_a_card_has(asked, encoders):
    world = _soft(encoders=encoders).card("L40S", modes=("mps",), nvenc=2, nvdec=1)
    works = [
        req(n, gb=gb, encoder_units=one, decoder_units=other, trust="p1")
        for n, (one, other, gb) in enumerate(asked, start=1)
    ]
    made = _planned(world.queue(*works))
    needs = {work.id: work.need for work in works}
    for card in world.made.cards:
        here = [needs[p.workload] for p in made.placed if p.parts[0].card == card.id]
        assert sum(need.encoder_units for need in here) <= card.nvenc
        assert sum(need.decoder_units for need in here) <= card.nvdec
