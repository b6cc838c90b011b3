"""Laws of the steps: they lead to the wish, touch nothing in use, and depend on no order."""

from dataclasses import replace as swap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nodeagent.protocol.desired import Desired, WantedSlice
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import Mode, SliceFound, StepKind, WorkFound, WorkWanted
from nodeagent.reconcile import ENDED, Found, Step, WorkSeen, impossible, steps
from tests.nodeagent.fake_portal import job

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
CARDS = ("GPU-a", "GPU-b")
MODES = (Mode.WHOLE, Mode.MIG, Mode.MPS)


def wanted(uid, card, mode, start):
    placed = mode in (Mode.WHOLE, Mode.MIG)
    return WantedSlice(
        uid=uid,
        card=card,
        mode=mode,
        profile=f"p-{mode}",
        memory_mib=100,
        compute_milli=100,
        start=(0 if mode == Mode.WHOLE else start) if placed else None,
        size=(8 if mode == Mode.WHOLE else 1) if placed else None,
    )


def made(one: WantedSlice, state=SliceFound.READY) -> FoundSlice:
    return FoundSlice(
        uid=one.uid,
        card=one.card,
        mode=one.mode,
        profile=one.profile,
        state=state,
        memory_mib=one.memory_mib,
        start=one.start,
        size=one.size,
        device=f"dev-{one.uid}",
    )


@st.composite
def layouts(draw, prefix):
    """Legal layouts of both cards: one mode each, no place twice."""
    slices = []
    for card in CARDS:
        mode = draw(st.sampled_from(MODES))
        starts = {0} if mode == Mode.WHOLE else draw(st.sets(st.integers(0, 6), max_size=4))
        if mode == Mode.WHOLE and draw(st.booleans()):
            starts = set()
        slices += [wanted(f"{prefix}-{card}-{mode}-{n}", card, mode, n) for n in sorted(starts)]
    return slices


@st.composite
def worlds(draw):
    """A wish beside a node with another layout on it, work included."""
    before, after = draw(layouts("sl")), draw(layouts(draw(st.sampled_from(["sl", "new"]))))
    modes = {card: draw(st.sampled_from(MODES)) for card in CARDS} | {
        s.card: s.mode for s in before
    }
    running = draw(st.sets(st.sampled_from(before), max_size=3)) if before else set()
    seen = [
        WorkSeen(
            f"at-old-{one.uid}",
            draw(st.sampled_from([WorkFound.RUNNING, WorkFound.STOPPING, WorkFound.EXITED])),
            (one.uid,),
            False,
        )
        for one in sorted(running, key=lambda s: s.uid)
    ]
    stops = [
        job(w.attempt, "x", wanted=WorkWanted.STOP, slices=w.slices)
        for w in seen
        if draw(st.booleans())
    ]
    starts = [job(f"at-{one.uid}", "x", slices=[one.uid]) for one in after if draw(st.booleans())]
    stops += [job("at-never", "x", wanted=WorkWanted.STOP)] if draw(st.booleans()) else []
    wish = Desired(epoch=1, generation=2, slices=tuple(after), work=tuple(stops + starts))
    return wish, Found(tuple(made(one) for one in before), tuple(seen), modes)


def apply(step: Step, wish: Desired, found: Found) -> Found:
    """What a card and a runner that do as they are told make of one step."""
    slices, work = found.slices, found.work
    if step.kind == StepKind.DELETE_SLICE:
        slices = tuple(s for s in slices if s.uid != step.target)
    elif step.kind == StepKind.CREATE_SLICE:
        slices = (*slices, made(next(s for s in wish.slices if s.uid == step.target)))
    elif step.kind == StepKind.SET_MODE:
        return swap(found, modes=found.modes | {step.card: step.mode})
    elif step.kind == StepKind.START_WORK:
        chosen = next(w for w in wish.work if w.attempt == step.target)
        work = (*work, WorkSeen(step.target, WorkFound.RUNNING, chosen.slices, False))
    elif step.kind == StepKind.STOP_WORK:
        others = tuple(w for w in work if w.attempt != step.target)
        mine = next((w for w in work if w.attempt == step.target), None)
        held = () if mine is None else mine.slices
        work = (*others, WorkSeen(step.target, WorkFound.EXITED, held, False))
    elif step.kind == StepKind.CLEAN:
        work = tuple(swap(w, clean=True) if w.attempt == step.target else w for w in work)
    return swap(found, slices=slices, work=work)


def finish_stopping(found: Found) -> Found:
    """Time passes: what is stopping has stopped."""
    return swap(
        found,
        work=tuple(
            swap(w, state=WorkFound.EXITED) if w.state == WorkFound.STOPPING else w
            for w in found.work
        ),
    )


@calm
@given(worlds())
def test_taking_the_steps_again_and_again_leads_to_the_wish_and_then_there_are_none(world):
    wish, found = world
    for _ in range(12):
        for step in steps(wish, found):
            found = apply(step, wish, found)
        found = finish_stopping(found)
    assert steps(wish, found) == ()
    stay = {uid for w in found.work if w.state == WorkFound.RUNNING for uid in w.slices}
    blocked = {s.card for s in found.slices if s.uid in stay}
    for one in wish.slices:
        if one.card not in blocked:
            assert any(s.uid == one.uid for s in found.slices)
    assert {s.uid for s in found.slices} <= {s.uid for s in wish.slices} | stay


@calm
@given(worlds())
def test_a_slice_in_use_is_never_deleted_and_its_card_never_changes_mode(world):
    wish, found = world
    used = {uid for w in found.work if not w.clean for uid in w.slices}
    cards = {s.card for s in found.slices if s.uid in used}
    for step in steps(wish, found):
        assert not (step.kind == StepKind.DELETE_SLICE and step.target in used)
        assert not (step.kind == StepKind.SET_MODE and step.card in cards)


@calm
@given(worlds())
def test_room_is_freed_before_it_is_cut(world):
    wish, found = world
    taken = steps(wish, found)
    leaving = [s for s in found.slices if s.uid not in {w.uid for w in wish.slices}]
    for step in taken:
        if step.kind == StepKind.CREATE_SLICE:
            one = next(s for s in wish.slices if s.uid == step.target)
            assert found.modes[one.card] == one.mode
            assert not [s for s in leaving if s.card == one.card and s.start == one.start]
        if step.kind == StepKind.SET_MODE:
            assert not [s for s in found.slices if s.card == step.card]


@calm
@given(worlds())
def test_work_that_the_wish_does_not_list_is_left_alone(world):
    wish, found = world
    listed = {w.attempt for w in wish.work} | set(wish.closed)
    for step in steps(wish, found):
        if step.kind == StepKind.STOP_WORK:
            assert step.target in listed


@calm
@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(world, chance):
    wish, found = world
    before = steps(wish, found)

    def mixed(items):
        return tuple(chance.sample(items, len(items)))

    wish = replace(wish, slices=mixed(wish.slices), work=mixed(wish.work))
    found = swap(found, slices=mixed(found.slices), work=mixed(found.work))
    assert steps(wish, found) == before


@calm
@given(worlds())
def test_nothing_starts_before_its_slices_are_there_and_free(world):
    wish, found = world
    ready = {s.uid for s in found.slices if s.state in (SliceFound.READY, SliceFound.FAILED)}
    used = {uid for w in found.work if not w.clean for uid in w.slices}
    for step in steps(wish, found):
        if step.kind == StepKind.START_WORK:
            chosen = next(w for w in wish.work if w.attempt == step.target)
            assert set(chosen.slices) <= ready - used
            assert chosen.wanted == WorkWanted.RUN


@pytest.mark.parametrize("state", sorted(ENDED))
def test_an_attempt_that_ended_never_starts_again(state):
    wish = Desired(epoch=1, generation=1, work=(job("at-1", "x"),))
    assert steps(wish, Found(work=(WorkSeen("at-1", state, (), True),))) == ()


def test_what_the_books_have_closed_is_stopped_when_it_still_runs_here():
    wish = Desired(epoch=1, generation=1, closed=("at-1", "at-2"))
    seen = (WorkSeen("at-1", WorkFound.RUNNING, (), False),)
    assert steps(wish, Found(work=seen)) == (Step(StepKind.STOP_WORK, "at-1"),)


def test_a_stop_of_work_that_never_came_here_is_a_step():
    wish = Desired(epoch=1, generation=1, work=(job("at-1", "x", wanted=WorkWanted.STOP),))
    assert [s.kind for s in steps(wish, Found())] == [StepKind.STOP_WORK]


def test_a_slice_without_a_name_is_never_touched():
    stranger = replace(made(wanted("x", "GPU-a", Mode.MIG, 0)), uid=None)
    found = Found((stranger,), (), {"GPU-a": Mode.MIG})
    assert steps(Desired(epoch=1, generation=1), found) == ()


def test_nothing_is_done_to_a_card_that_does_not_answer():
    wish = Desired(epoch=1, generation=1, slices=(wanted("x", "GPU-a", Mode.MIG, 0),))
    assert steps(wish, Found()) == ()


@pytest.mark.parametrize("held", [{"observe": True}, {"drain": True}])
def test_a_node_that_only_observes_or_drains_starts_nothing(held):
    """Stopping and cleaning go on: work of before must be able to end."""
    wish = Desired(epoch=1, generation=1, work=(job("at-1", "x"),), **held)
    assert steps(wish, Found()) == ()


def test_work_on_a_slice_that_could_not_be_made_is_impossible_and_says_why():
    failed = replace(made(wanted("x", "GPU-a", Mode.MIG, 0), SliceFound.FAILED), reason="no room")
    found = Found((failed,), (), {"GPU-a": Mode.MIG})
    assert impossible(job("at-1", "x", slices=["x"]), found) == "slice x: no room"
    assert impossible(job("at-1", "x"), found) == ""
