"""What-ifs that wait, one after the other: take the record, replay it twice, keep both."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

import structlog

from pool.cycle.fairness import HALF_LIFE_S
from pool.cycle.round import only_one
from pool.cycle.whatif.books import TooMuch, recorded
from pool.cycle.whatif.scenario import scenario_of
from pool.cycle.whatif.search import Search, search
from pool.cycle.whatif.world import world_now
from pool.lifecycle.studies import StudyKind, TraceSource
from pool.locks import STUDIES
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace as TraceRow
from pool.replay.whatif.apply import Scenario, applied
from pool.replay.whatif.engine import replay
from pool.replay.whatif.figures import figures
from pool.replay.whatif.imported import trace_of
from pool.replay.whatif.trace import Trace, World
from pool.rules.whatif.lines import Line
from pool.services.whatif.packing import packed, seal, unpacked
from pool.services.whatif.runs import (
    Left,
    Outcome,
    studies_left,
    study_done,
    study_failed,
    study_take,
    study_told,
    trace_taken,
)

log = structlog.get_logger(__name__)

WORD_EVERY_S = 1.0
MOST_S = 1800.0
"""A what-if that takes longer is ended: a shorter period does."""


class TooLong(Exception):
    """The run has had its time."""


@dataclass(slots=True)
class Teller:
    """Tells how far a run is, once a second; `share` of it lies between `low` and `high`."""

    study: Study
    begun: float
    told: float = 0.0
    low: int = 0
    high: int = 1000

    def part(self, low: int, high: int) -> None:
        """What comes now lies between these thousandths of the whole."""
        self.low, self.high = low, high

    def step(self, number: int) -> None:
        """Of replays whose number nobody knows yet each gets a fifth of what is left."""
        low, high = (990 - round(510 * 0.8**power) for power in (number, number + 1))
        self.part(low, high)

    def ticker(self, works: int) -> Callable[[int], None]:
        """For a replay of so many workloads."""

        def tick(ended: int) -> None:
            self.say(ended / max(1, works))

        return tick

    def say(self, share: float, steps: list[Any] | None = None) -> None:
        """Tell, when the last word is old enough.

        Raises:
            Left: the run is not ours any more.
            TooLong: it has had its time.
        """
        at = time.monotonic()
        if at - self.begun > MOST_S:
            raise TooLong
        if steps is None and at - self.told < WORD_EVERY_S:
            return
        self.told = at
        milli = round(self.low + (self.high - self.low) * min(1.0, share))
        study_told(study=self.study, progress_milli=milli, steps=steps)


def studies_due() -> int:
    """Do all that waits, unless another process is at it; how many were done."""
    done = 0
    with only_one(STUDIES) as mine:
        if not mine:
            return 0
        studies_left()
        while (study := study_take()) is not None:
            done += _one(study)
    return done


def _one(study: Study) -> bool:
    """One what-if, to whatever end."""
    try:
        study_done(study=study, outcome=_outcome(study))
    except Left:
        log.info("study.left", study=study.uid)
        return False
    except TooMuch as much:
        return _fail(study, f"too much work for one replay: {much}")
    except TooLong:
        return _fail(study, f"it took longer than {MOST_S / 60:.0f} minutes")
    except (LookupError, ValueError) as wrong:
        return _fail(study, f"it cannot be replayed: {wrong}"[:200])
    except Exception:
        log.exception("study.failed", study=study.uid)
        return _fail(study, "an error of the portal; its log says more")
    return True


def _fail(study: Study, reason: str) -> bool:
    try:
        study_failed(study=study, reason=reason)
    except Left:
        log.info("study.left", study=study.uid)
    return False


def _outcome(study: Study) -> Outcome:
    begun = time.monotonic()
    teller = Teller(study, begun)
    teller.part(0, 20)
    row = _taken(study.trace, teller)
    assert row.work is not None and row.world is not None
    trace, world = unpacked(row.work, Trace), unpacked(row.world, World)
    if not trace.works:
        raise ValueError("nothing ran in the period")
    teller.part(20, 480)
    if row.source == TraceSource.FILE:
        trace, baseline = _whole(trace, world, teller)
        look = partial(_figures, trace, world, teller=teller, whole=True)
    else:
        look = partial(_figures, trace, world, teller=teller)
        baseline = look(Scenario())
    teller.part(480, 990)
    scenario, steps = scenario_of(study.changes, trace), list[dict[str, Any]]()
    if study.kind == StudyKind.CARDS:
        asked = Search(baseline=baseline, target_s=float(study.target_s or 0), scenario=scenario)
        result, steps = search(asked, _in_steps(look, teller), teller.say)
    else:
        result = look(scenario)
    return Outcome(
        baseline=baseline,
        result=result,
        digest=seal(row.digest, study.changes, study.kind, study.target_s),
        took_s=round(time.monotonic() - begun, 1),
        steps=steps,
    )


def _in_steps(
    look: Callable[[Scenario], dict[str, Any]], teller: Teller
) -> Callable[[Scenario], dict[str, Any]]:
    """The same look, each with its own part of the progress."""
    numbers = count()

    def tried(scenario: Scenario) -> dict[str, Any]:
        teller.step(next(numbers))
        return look(scenario)

    return tried


def _whole(trace: Trace, world: World, teller: Teller) -> tuple[Trace, dict[str, Any]]:
    """A file has no period of its own: it ends where all of it has run as it was."""
    work, pool = applied(trace, world, Scenario())
    runs = list(replay(work, pool, half_life_s=HALF_LIFE_S, tick=teller.ticker(len(work.works))))
    ends = max((run.end_s for run in runs), default=trace.until_s)
    ended = replace(trace, until_s=ends)
    told = figures(replace(work, until_s=ends), pool, runs, world.names, whole=True)
    return ended, told


def _figures(
    trace: Trace, world: World, scenario: Scenario, *, teller: Teller, whole: bool = False
) -> dict[str, Any]:
    work, pool = applied(trace, world, scenario)
    tick = teller.ticker(len(work.works))
    runs = replay(work, pool, half_life_s=HALF_LIFE_S, tick=tick)
    return figures(work, pool, runs, world.names, whole=whole)


def _taken(row: TraceRow, teller: Teller) -> TraceRow:
    """The record with the pool of the day on which it was first replayed."""
    fresh = TraceRow.objects.get(pk=row.pk)
    if fresh.taken_at is not None:
        return fresh
    world, left_out = world_now(), dict(fresh.left_out)
    if fresh.source == TraceSource.FILE:
        trace = trace_of(unpacked(fresh.lines or b"", list[Line]), world)
    else:
        assert fresh.since is not None and fresh.until is not None
        found = recorded(fresh.since, fresh.until, say=teller.say)
        trace, left_out = found.trace(), dict(sorted(found.left_out.items()))
    work, empty = packed(trace), packed(world)
    return trace_taken(
        trace=fresh,
        work=work,
        world=empty,
        jobs=len(trace.works),
        teams=sorted({kind.team for kind in trace.kinds}),
        left_out=left_out,
        digest=seal(trace, world),
    )
