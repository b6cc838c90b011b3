"""PURE: what is wanted and what is found become the steps that can be taken now."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from nodeagent.protocol.desired import Desired, WantedSlice, WantedWork
from nodeagent.protocol.report import FoundSlice
from nodeagent.protocol.vocabulary import (
    PLACED_MODES,
    Mode,
    SliceFound,
    StepKind,
    WorkFound,
    WorkWanted,
)

ENDED = frozenset({WorkFound.EXITED, WorkFound.REFUSED})


@dataclass(frozen=True)
class WorkSeen:
    """An attempt as far as the steps depend on it. It uses its slices until it is clean.

    One that is accepted and not `begun` has no shim yet that took it: it may be started again.
    """

    attempt: str
    state: WorkFound
    slices: tuple[str, ...]
    clean: bool
    begun: bool = True
    notice: str = ""


@dataclass(frozen=True)
class Found:
    """The node as it is. A card without a mode does not answer, so nothing is done to it.

    `late` are attempts whose time to give way is over.
    """

    slices: tuple[FoundSlice, ...] = ()
    work: tuple[WorkSeen, ...] = ()
    modes: dict[str, Mode] = field(default_factory=dict)
    may_start: bool = True
    late: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Step:
    """One act, safe to repeat. `target` is a slice uid, an attempt, or a card's uuid."""

    kind: StepKind
    target: str
    card: str = ""
    mode: Mode | None = None


def steps(wish: Desired, found: Found) -> tuple[Step, ...]:
    """What can be done now, in an order that does not depend on the order of the input.

    Room is freed before it is cut, a slice in use is never touched, and what the books do not list
    is left alone. A node that is as wished gets no step.
    """
    taken = [*_stops(wish, found), *_cleans(found), *_notices(wish, found)]
    if not wish.observe:
        taken += [*_deletes(wish, found), *_creates(wish, found), *_starts(wish, found)]
    return tuple(taken)


def _stops(wish: Desired, found: Found) -> Iterator[Step]:
    """What the wish stops, here or not, and what runs on although the books have closed it."""
    states = {work.attempt: work.state for work in found.work}
    asked = {work.attempt for work in wish.work if work.wanted == WorkWanted.STOP} | found.late
    for attempt in sorted(asked | (set(wish.closed) & states.keys())):
        state = states.get(attempt)
        if state not in ENDED and state != WorkFound.STOPPING:
            yield Step(StepKind.STOP_WORK, attempt)


def _notices(wish: Desired, found: Found) -> Iterator[Step]:
    """Work that runs and shall give way is told so once; one that still starts, when it runs."""
    heard = {work.attempt: work for work in found.work if work.state == WorkFound.RUNNING}
    for work in sorted(wish.work, key=lambda w: w.attempt):
        runs = heard.get(work.attempt)
        if runs is None or work.notice is None or work.wanted != WorkWanted.RUN:
            continue
        if runs.notice != work.notice.order and work.attempt not in found.late:
            yield Step(StepKind.NOTIFY_WORK, work.attempt)


def _cleans(found: Found) -> Iterator[Step]:
    for work in sorted(found.work, key=lambda w: w.attempt):
        if work.state in ENDED and not work.clean:
            yield Step(StepKind.CLEAN, work.attempt)


def _used(found: Found, but: str = "") -> frozenset[str]:
    others = [work for work in found.work if not work.clean and work.attempt != but]
    return frozenset(uid for work in others for uid in work.slices)


def _deletes(wish: Desired, found: Found) -> Iterator[Step]:
    """Slices that were named once and are no longer wanted; a stranger's slice is never touched."""
    wanted = {one.uid for one in wish.slices}
    used = _used(found)
    for one in sorted(found.slices, key=lambda s: (s.card, s.start or 0, s.uid or "")):
        idle = one.uid is not None and one.uid not in wanted and one.uid not in used
        if idle and one.uid is not None and one.state in (SliceFound.READY, SliceFound.FAILED):
            yield Step(StepKind.DELETE_SLICE, one.uid, one.card, one.mode)


def _creates(wish: Desired, found: Found) -> Iterator[Step]:
    present = {one.uid for one in found.slices}
    entering: set[str] = set()
    for one in sorted(wish.slices, key=lambda s: (s.card, -(s.size or 0), s.start or 0, s.uid)):
        if one.uid in present or one.card not in found.modes or one.card in entering:
            continue
        beside = [s for s in found.slices if s.card == one.card]
        if found.modes[one.card] != one.mode:
            if not any(s.state != SliceFound.FAILED for s in beside):
                entering.add(one.card)
                yield Step(StepKind.SET_MODE, one.card, one.card, one.mode)
        elif not any(_in_the_way(one, other, wish) for other in beside):
            yield Step(StepKind.CREATE_SLICE, one.uid, one.card, one.mode)


def _in_the_way(wanted: WantedSlice, other: FoundSlice, wish: Desired) -> bool:
    """Must the other one go first? What stays is not waited for: the card refuses if it must."""
    made = other.state != SliceFound.FAILED or other.device != ""
    leaving = other.uid is not None and other.uid not in {one.uid for one in wish.slices}
    if not (made and leaving):
        return False
    if wanted.mode not in PLACED_MODES or other.profile == wanted.profile:
        return True
    low, high = other.start or 0, (other.start or 0) + (other.size or 0)
    begin = wanted.start or 0
    return begin < high and low < begin + (wanted.size or 0)


def _starts(wish: Desired, found: Found) -> Iterator[Step]:
    if wish.drain or not found.may_start:
        return
    known = {work.attempt for work in found.work if work.begun}
    states = (SliceFound.READY, SliceFound.FAILED)
    settled = frozenset(one.uid for one in found.slices if one.state in states)
    for work in sorted(wish.work, key=lambda w: w.attempt):
        new = work.wanted == WorkWanted.RUN and work.attempt not in known and _may_meet(work)
        used = _used(found, but=work.attempt) if new else frozenset()
        if new and settled.issuperset(work.slices) and used.isdisjoint(work.slices):
            yield Step(StepKind.START_WORK, work.attempt)


def _may_meet(work: WantedWork) -> bool:
    """A rank of a gang starts once it is known where all meet; rank 0 chooses that itself."""
    return work.launch is None or work.launch.rank == 0 or work.launch.port != 0


def impossible(work: WantedWork, found: Found) -> str:
    """Why this work can never start here, or nothing: one of its slices could not be made."""
    failed = {s.uid: s.reason for s in found.slices if s.state == SliceFound.FAILED}
    return next((f"slice {uid}: {failed[uid]}" for uid in work.slices if uid in failed), "")
