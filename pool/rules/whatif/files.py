"""PURE: files of recorded work: CSV with named columns (also of `simulate`), and `sacct` output."""

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.whatif.lines import (
    LONGEST_S,
    MOST_BYTES,
    MOST_LINES,
    Line,
    Read,
    Wrong,
    cards_of,
    first_word,
    name_of,
    priority_of,
    seconds_of,
    time_of,
    whole_of,
)
from pool.rules.whatif.sacct import sacct_line

SHAPES = ("csv", "sacct")
COLUMNS = frozenset(
    {
        *("i", "id", "name", "submit_s", "submit", "duration_s", "start", "end", "declared_s"),
        *("gpus", "cards", "memory_gb", "priority", "tenant", "team", "partition", "model"),
        "checkpoint_s",
    }
)
MOST_COLUMNS = 200
"""More than `sacct` knows."""

EMPTY = _("The file has no line below its header.")
Row = Mapping[str, str]


def read_file(text: str, shape: str) -> Read:
    """Every line of the file; `wrong` says with its number what cannot be read.

    A file that is too large, or has no header, is wrong as a whole: line 1 says so.
    """
    found = Read()
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        size = {"n": MOST_BYTES >> 20}
        found.refuse(1, Problem(_("A file of at most %(n)s MiB is possible."), size))
        return found
    reader = _csv_line if shape == "csv" else sacct_line
    rows = _rows(text.removeprefix("\ufeff"), "," if shape == "csv" else "|")
    try:
        header = next(rows, (1, ()))[1]
        problem = _header_problem(header, shape) if header else Problem(EMPTY)
        problem = problem or _take(found, header, rows, reader)
    except csv.Error:
        problem = Problem(_("This is not text with columns."))
    if problem:
        found = Read()
        found.refuse(1, problem)
    found.lines.sort(key=lambda one: (one.submit_s, one.line))
    return found


def _take(
    found: Read,
    header: Sequence[str],
    rows: Iterator[tuple[int, Sequence[str]]],
    reader: Callable[[int, Row], Line | str],
) -> Problem | None:
    """Line by line, so that a file takes no more room than its jobs; what is wrong as a whole."""
    count = 0
    for count, (number, words) in enumerate(rows, 1):
        if count > MOST_LINES:
            return Problem(_("A file of at most %(n)s lines is possible."), {"n": MOST_LINES})
        if len(words) != len(header):
            found.refuse(number, Problem(_("This line has not as many columns as the header.")))
            continue
        try:
            line = reader(number, dict(zip(header, words, strict=True)))
        except Wrong as wrong:
            found.refuse(number, wrong.problem)
            continue
        if isinstance(line, Line):
            found.lines.append(line)
        else:
            found.leave(line)
    if not count:
        return Problem(EMPTY)
    if not found.lines and not found.wrong:
        return Problem(_("No line of the file is a job that ran on cards."))
    return None


def _rows(text: str, between: str) -> Iterator[tuple[int, Sequence[str]]]:
    """Lines with their numbers in the file, the header first; empty ones are none."""
    lines = text.replace("\0", "\ufffd").removesuffix("\n").split("\n")
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=between)
    for words in reader:
        if words:
            yield reader.line_num, words


def _header_problem(header: Collection[str], shape: str) -> Problem | None:
    if len(header) > MOST_COLUMNS:
        return Problem(_("A file of at most %(n)s columns is possible."), {"n": MOST_COLUMNS})
    wanted: tuple[tuple[str, ...], ...]
    if shape == "csv":
        strange = sorted({name for name in header if name} - COLUMNS)
        if strange:
            return Problem(
                _("The column %(name)s is not known. Known are: %(known)s."),
                {"name": strange[0][:40], "known": ", ".join(sorted(COLUMNS))},
            )
        wanted = (("submit_s", "submit"), ("gpus", "cards"), ("duration_s", "end"))
    else:
        wanted = (("JobID",), ("Submit",), ("AllocTRES", "ReqTRES"), ("ElapsedRaw", "Elapsed"))
    for some in wanted:
        if not set(some) & set(header):
            return Problem(_("A column %(name)s is needed."), {"name": " / ".join(some)})
    return None


def _csv_line(number: int, row: Row) -> Line | str:
    name, word = first_word(row, ("submit_s", "submit"))
    submit = time_of(word, name)
    duration = _duration(row)
    if duration <= 0:
        return "no_time"
    name, word = first_word(row, ("gpus", "cards"))
    if word == "0":
        return "no_cards"
    gpus, share = cards_of(word, name)
    name, word = first_word(row, ("team", "tenant"))
    team = name_of(word, name) or "recorded"
    declared = (row.get("declared_s") or "").strip()
    memory = (row.get("memory_gb") or "").strip()
    every = (row.get("checkpoint_s") or "").strip()
    return Line(
        line=number,
        submit_s=submit,
        duration_s=duration,
        declared_s=seconds_of(declared, "declared_s") if declared else duration,
        gpus=gpus,
        share_milli=share,
        memory_gb=whole_of(memory, "memory_gb", 1024) if memory else None,
        priority=priority_of((row.get("priority") or "").strip() or "normal"),
        team=team,
        partition=name_of((row.get("partition") or "").strip(), "partition"),
        model=name_of((row.get("model") or "").strip(), "model"),
        checkpoint_s=seconds_of(every, "checkpoint_s", least=1.0) if every else None,
    )


def _duration(row: Row) -> float:
    word = (row.get("duration_s") or "").strip()
    if word:
        return seconds_of(word, "duration_s")
    begin, end = (row.get("start") or "").strip(), (row.get("end") or "").strip()
    if not begin or not end:
        raise Wrong(Problem(_("duration_s is needed, or start and end.")))
    length = time_of(end, "end") - time_of(begin, "start")
    if not 0 <= length <= LONGEST_S:
        raise Wrong(Problem(_("end: a job ends after it starts, within a year.")))
    return length
