"""The way of a run: taken up by one worker, told of while it goes on, kept when it ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from pool.clock import now
from pool.errors import PoolError
from pool.events import SYSTEM, record
from pool.lifecycle.events import EventKind
from pool.lifecycle.studies import STUDY, Share, StudyState, TraceSource
from pool.models.whatif.studies import Study
from pool.models.whatif.traces import Trace
from pool.selectors.whatif.studies import CONTENT, HEAVY
from pool.services.moves import locked, move

WORD_S = 180
"""A worker that has said nothing for so long is taken for dead."""

MOST_TRIES = 3

KEPT = timedelta(days=365)
"""What is over and shared with nobody is kept so long."""

BARE = timedelta(days=30)
"""A period of the books that nothing replays is kept so long."""

MOST_FORGOTTEN = 200
"""So many go in one night at the most."""


class Left(Exception):
    """The run is nobody's any more: it was cancelled, or another worker has it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a finished run is kept with; figures as JSON."""

    baseline: Mapping[str, Any]
    result: Mapping[str, Any]
    digest: str
    took_s: float
    steps: list[dict[str, Any]]


@transaction.atomic
def study_take() -> Study | None:
    """The oldest that waits, now running; None when nothing waits."""
    waiting = Study.objects.filter(state=StudyState.WAITING).order_by("pk")
    found = waiting.select_for_update(of=("self",), skip_locked=True).first()
    if found is None:
        return None
    begun = {"tries": found.tries + 1, "started_at": now(), "progress_milli": 0, "steps": []}
    move(found, StudyState.RUNNING, actor=SYSTEM, deadline=_soon(), changes=begun)
    content = (f"trace__{name}" for name in CONTENT)  # the worker reads it anew, and only once
    return Study.objects.select_related("trace").defer(*content).get(pk=found.pk)


def study_told(*, study: Study, progress_milli: int, steps: list[Any] | None = None) -> None:
    """The worker's word: so far it is, and it lives.

    Raises:
        Left: the run is not this worker's any more.
    """
    values: dict[str, Any] = {"progress_milli": progress_milli, "deadline": _soon()}
    if steps is not None:
        values["steps"] = steps
    mine = Study.objects.filter(pk=study.pk, state=StudyState.RUNNING, tries=study.tries)
    if not mine.update(**values):
        raise Left


@transaction.atomic
def study_done(*, study: Study, outcome: Outcome) -> None:
    """Keep what it showed.

    Raises:
        Left: the run is not this worker's any more.
    """
    row = _mine(study)
    values = {
        "baseline": dict(outcome.baseline),
        "result": dict(outcome.result),
        "digest": outcome.digest,
        "took_s": outcome.took_s,
        "steps": outcome.steps,
        "progress_milli": 1000,
        "ended_at": now(),
    }
    told = {"digest": outcome.digest}
    move(row, StudyState.DONE, actor=SYSTEM, changes=values, told=told)


@transaction.atomic
def study_failed(*, study: Study, reason: str) -> None:
    """It cannot be done, for this reason.

    Raises:
        Left: the run is not this worker's any more.
    """
    move(_mine(study), StudyState.FAILED, actor=SYSTEM, reason=reason, changes={"ended_at": now()})


def studies_left() -> int:
    """Runs whose worker has gone: they wait again, and fail after the third time; how many."""
    late = Study.objects.filter(state=StudyState.RUNNING, deadline__lt=now())
    done = 0
    for pk in late.order_by("pk").values_list("pk", flat=True):
        done += _left(pk)
    return done


def studies_forget() -> int:
    """What-ifs that were over a year ago and are shared with nobody, and periods of the books of a
    month ago that nothing replays, go with their figures; how many. Files are people's own.
    """
    at, done = now(), 0
    over = Study.objects.filter(share=Share.PRIVATE).exclude(state__in=sorted(STUDY.live))
    old = over.filter(ended_at__lt=at - KEPT)
    for row in old.defer(*HEAVY).order_by("pk")[:MOST_FORGOTTEN]:
        done += _forgotten(EventKind.STUDY_DELETED, row)
    bare = Trace.objects.filter(source=TraceSource.BOOKS, studies=None)
    aged = bare.filter(created_at__lt=at - BARE).defer(*CONTENT).order_by("pk")
    for trace in aged[:MOST_FORGOTTEN]:
        done += _forgotten(EventKind.TRACE_DELETED, trace)
    return done


def _forgotten(kind: EventKind, row: Study | Trace) -> int:
    """Delete one, told in the log; nothing where somebody uses it meanwhile."""
    try:
        with transaction.atomic():
            record(kind, row, actor=SYSTEM, name=row.name, digest=row.digest)
            row.delete()
    except (ProtectedError, IntegrityError):
        return 0
    return 1


@transaction.atomic
def _left(pk: int) -> int:
    rows = Study.objects.filter(pk=pk, state=StudyState.RUNNING, deadline__lt=now())
    for row in locked(rows):
        try:
            if row.tries >= MOST_TRIES:
                why = f"its worker was lost {row.tries} times"
                ended = {"ended_at": now()}
                move(row, StudyState.FAILED, actor=SYSTEM, reason=why, changes=ended)
            else:
                move(row, StudyState.WAITING, actor=SYSTEM, reason="its worker was lost")
        except PoolError:  # somebody was quicker
            return 0
        return 1
    return 0


@transaction.atomic
def trace_taken(
    *,
    trace: Trace,
    work: bytes,
    world: bytes,
    jobs: int,
    teams: list[str],
    left_out: Mapping[str, int],
    digest: str,
) -> Trace:
    """Keep what is replayed from now on; who comes second takes what is there."""
    (row,) = locked(Trace.objects.filter(pk=trace.pk))
    if row.taken_at is None:
        row.work, row.world, row.jobs, row.teams = work, world, jobs, teams
        row.left_out, row.digest, row.taken_at = dict(left_out), digest, now()
        row.save()
    return row


def _mine(study: Study) -> Study:
    rows = Study.objects.filter(pk=study.pk, state=StudyState.RUNNING, tries=study.tries)
    found = locked(rows)
    if not found:
        raise Left
    return found[0]


def _soon() -> Any:
    return now() + timedelta(seconds=WORD_S)
