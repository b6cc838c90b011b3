"""Pure: the pieces of an array, by number and by state, and what the whole of them amounts to."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pool.lifecycle.workloads import ENDED, HOLDING, WorkloadState
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

MOST_PIECES = 10_000
LARGEST_INDEX = 1_000_000
_SPAN = re.compile(r"([0-9]{1,7})(?:-([0-9]{1,7})(?::([0-9]{1,7}))?)?\Z")

W = WorkloadState


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pieces of an array stand where; together they are all of them."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0
    gone: int = 0

    @property
    def size(self) -> int:
        """All pieces."""
        return self.waiting + self.running + self.done + self.failed + self.gone

    @property
    def live(self) -> int:
        """Pieces that may still run or do."""
        return self.waiting + self.running


@dataclass(frozen=True, slots=True)
class Array:
    """What a person says of an array: which indices, and how many pieces may hold at a time."""

    spec: str
    throttle: int | None = None

    @property
    def indices(self) -> tuple[int, ...]:
        """The indices, ascending.

        Raises:
            ValueError: they cannot be read.
        """
        return indices_of(self.spec)


FAILED = frozenset({W.FAILED, W.EXPIRED, W.DEPENDENCY_FAILED})
GONE = frozenset({W.CANCELLED, W.STOPPED, W.RECLAIMED})


def tally(states: Mapping[str, int], *, unmade: int = 0) -> Tally:
    """The counts by state as people read them; `unmade` pieces wait for the array's approval."""
    found = {"waiting": unmade, "running": 0, "done": 0, "failed": 0, "gone": 0}
    for state, count in states.items():
        found[_kind(WorkloadState(state))] += count
    return Tally(**found)


def _kind(state: WorkloadState) -> str:
    if state in HOLDING:
        return "running"
    if state is W.SUCCEEDED:
        return "done"
    if state in FAILED:
        return "failed"
    return "gone" if state in GONE else "waiting"


def whole_state(states: Mapping[str, int], *, stop_reason: str = "") -> WorkloadState | None:
    """Where the array stands once every piece has ended; None while one lives.

    One failed piece fails it. What was stopped, reclaimed or cancelled alone makes it so.
    """
    kinds = {WorkloadState(state) for state, count in states.items() if count}
    if not kinds or kinds - ENDED:
        return None
    if stop_reason:
        return W.STOPPED if W.STOPPED in kinds else W.CANCELLED
    if kinds & {W.FAILED, W.EXPIRED}:
        return W.FAILED
    for state in (W.DEPENDENCY_FAILED, W.STOPPED):
        if state in kinds:
            return state
    return W.CANCELLED if kinds & GONE else W.SUCCEEDED


def indices_of(spec: str) -> tuple[int, ...]:
    """The numbers that a text such as "0-9,20,30-40:5" names, ascending, each once.

    Raises:
        ValueError: the text is no such list, or names too many.
    """
    found: set[int] = set()
    for part in spec.replace(" ", "").split(","):
        said = _SPAN.match(part)
        if said is None:
            raise ValueError(part)
        first = int(said[1])
        last = int(said[2]) if said[2] else first
        step = int(said[3]) if said[3] else 1
        if last < first or step < 1 or last > LARGEST_INDEX:
            raise ValueError(part)
        found.update(range(first, last + 1, step))
        if len(found) > MOST_PIECES:
            raise ValueError(spec)
    return tuple(sorted(found))


def spec_of(indices: Iterable[int]) -> str:
    """The shortest text that names the numbers, with spans where they run on."""
    spans: list[list[int]] = []
    for index in sorted(set(indices)):
        if spans and index == spans[-1][1] + 1:
            spans[-1][1] = index
        else:
            spans.append([index, index])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def array_problem(array: Array) -> Problem | None:
    """What is wrong with the words of an array."""
    return spec_problem(array.spec) or throttle_problem(array.throttle)


def spec_problem(spec: str) -> Problem | None:
    """What is wrong with the text that names the pieces."""
    try:
        found = indices_of(spec)
    except ValueError:
        return Problem(
            _("Numbers and spans such as 0-9,20 are needed: at most %(most)s, up to %(last)s."),
            {"most": MOST_PIECES, "last": LARGEST_INDEX},
        )
    return None if found else Problem(_("At least one number is needed."))


def throttle_problem(throttle: int | None) -> Problem | None:
    """How many pieces may hold something at a time: at least one, or no bound of its own."""
    if throttle is None or 1 <= throttle <= MOST_PIECES:
        return None
    return Problem(_("A number from 1 to %(most)s is needed."), {"most": MOST_PIECES})


def lasting(seconds: int, size: int, copies: int) -> int:
    """How long (seconds) the whole takes when so many pieces run beside one another."""
    return seconds * -(-size // copies)


def at_once(size: int, throttle: int | None) -> int:
    """How many pieces can hold something at the same time."""
    return size if throttle is None else min(size, throttle)
