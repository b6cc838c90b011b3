"""PURE: one line of recorded work, and how its words are read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pool.rules.problems import Problem
from pool.rules.problems import marked as _

MOST_BYTES = 10 * 1024 * 1024
MOST_LINES = 200_000
MOST_TOLD = 20
"""So many wrong lines are told at the most; the others are counted."""

LONGEST_S = 366 * 86_400.0
PRIORITIES = ("critical", "high", "normal", "low", "scavenger")


class Wrong(ValueError):
    """A word that cannot be read; carries the Problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One job as a file tells it. Times in seconds; a job of less than one card has a share.

    `partition` and `model` are empty where the file names none; `line` is where it stands.
    """

    line: int
    submit_s: float
    duration_s: float
    declared_s: float
    gpus: int = 1
    share_milli: int | None = None
    memory_gb: int | None = None
    priority: str = "normal"
    team: str = "recorded"
    partition: str = ""
    model: str = ""
    checkpoint_s: float | None = None


@dataclass(slots=True)
class Read:
    """What became of a file: every line is a job, wrong, or left out for a reason that is told."""

    lines: list[Line] = field(default_factory=list)
    wrong: list[tuple[int, Problem]] = field(default_factory=list)
    wrong_count: int = 0
    left_out: dict[str, int] = field(default_factory=dict)

    def refuse(self, line: int, problem: Problem) -> None:
        """Count a wrong line, and tell of it while there are few."""
        self.wrong_count += 1
        if len(self.wrong) < MOST_TOLD:
            self.wrong.append((line, problem))

    def leave(self, why: str) -> None:
        """Count a line that is no job with cards."""
        self.left_out[why] = self.left_out.get(why, 0) + 1


def seconds_of(word: str, name: str, *, least: float = 0.0, most: float = LONGEST_S) -> float:
    """A number of seconds.

    Raises:
        Wrong: it is no number, or out of bounds.
    """
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and least <= value <= most):
        raise Wrong(
            Problem(
                _("%(name)s: %(word)s is no number of seconds from %(least)s to %(most)s."),
                {"name": name, "word": shown(word), "least": f"{least:g}", "most": f"{most:g}"},
            )
        )
    return value


def time_of(word: str, name: str) -> float:
    """A moment: seconds, or a date with a time; without a zone UTC is meant.

    Raises:
        Wrong: it is neither.
    """
    plain = word.replace(".", "", 1).replace("-", "", 1)
    if plain.isascii() and plain.isdigit():
        return seconds_of(word, name, least=-1e11, most=1e11)
    try:
        at = datetime.fromisoformat(word)
    except ValueError:
        words = {"name": name, "word": shown(word)}
        text = _("%(name)s: %(word)s is no time; write 2026-05-31T14:00:00 or seconds.")
        raise Wrong(Problem(text, words)) from None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


def cards_of(word: str, name: str) -> tuple[int, int | None]:
    """Cards: a whole number, or a part of one as 0.25; the part in thousandths.

    Raises:
        Wrong: neither.
    """
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if 0 < value < 1:
        return 1, max(1, round(value * 1000))
    if not (math.isfinite(value) and value == int(value) and 1 <= value <= 1024):
        text = _("%(name)s: %(word)s is no whole number of cards from 1 to 1024, and no part of 1.")
        raise Wrong(Problem(text, {"name": name, "word": shown(word)}))
    return int(value), None


def whole_of(word: str, name: str, most: int) -> int:
    """A whole number from 1.

    Raises:
        Wrong: it is none.
    """
    value = int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0
    if not 1 <= value <= most:
        text = _("%(name)s: %(word)s is no whole number from 1 to %(most)s.")
        raise Wrong(Problem(text, {"name": name, "word": shown(word), "most": most}))
    return value


def name_of(word: str, name: str) -> str:
    """A short printable name.

    Raises:
        Wrong: it is longer than 80 characters, or holds control characters.
    """
    if len(word) > 80 or not word.isprintable():
        text = _("%(name)s: a name has at most 80 printable characters.")
        raise Wrong(Problem(text, {"name": name}))
    return word


def priority_of(word: str) -> str:
    """A class.

    Raises:
        Wrong: there is no such class.
    """
    if word not in PRIORITIES:
        words = {"word": shown(word), "known": ", ".join(PRIORITIES)}
        raise Wrong(Problem(_("priority: %(word)s is not one of %(known)s."), words))
    return word


def shown(word: str) -> str:
    """As much of a word as a message can hold, without control characters."""
    plain = "".join(c if c.isprintable() else "?" for c in word[:40])
    return plain or '""'


def first_word(row: Mapping[str, str], names: tuple[str, ...]) -> tuple[str, str]:
    """The first of these columns that says something, and what it says."""
    for name in names:
        word = (row.get(name) or "").strip()
        if word:
            return name, word
    return names[0], ""
