"""PURE: one line of `sacct --parsable2`: what Slurm kept of a job."""

import re
from collections.abc import Mapping

from pool.rules.problems import Problem
from pool.rules.problems import marked as _
from pool.rules.whatif.lines import (
    LONGEST_S,
    Line,
    Wrong,
    first_word,
    name_of,
    seconds_of,
    shown,
    time_of,
)

NOWHERE = frozenset({"", "Unknown", "None", "N/A"})
OPEN_ENDED = frozenset({"UNLIMITED", "Partition_Limit", "INVALID", ""})
_SPAN = re.compile(r"^(?:(\d{1,5})-)?(?:(\d{1,5}):)?(\d{1,5}):(\d{1,2})(?:\.\d+)?$", re.ASCII)
_CARDS = re.compile(r"^gres/gpu(?::([^=]{1,80}))?=(\d{1,5})$", re.ASCII)


def sacct_line(number: int, row: Mapping[str, str]) -> Line | str:
    """A job that ran on cards, or why the line is none: a step, no cards, never ran.

    Raises:
        Wrong: a word that cannot be read.
    """
    if "." in row["JobID"]:
        return "steps"
    gpus, model = _cards(first_word(row, ("AllocTRES", "ReqTRES"))[1])
    if not gpus:
        return "no_cards"
    if (row.get("Start") or "").strip() in NOWHERE and "Start" in row:
        return "never_ran"
    duration = _elapsed(row)
    if duration <= 0:
        return "never_ran"
    limit = (row.get("Timelimit") or "").strip()
    team = first_word(row, ("Account", "User"))[1]
    return Line(
        line=number,
        submit_s=time_of(row["Submit"].strip(), "Submit"),
        duration_s=duration,
        declared_s=duration if limit in OPEN_ENDED else span_of(limit, "Timelimit"),
        gpus=gpus,
        team=name_of(team, "Account") or "recorded",
        partition=name_of((row.get("Partition") or "").strip(), "Partition"),
        model=model,
    )


def span_of(word: str, name: str) -> float:
    """Days-hours:minutes:seconds in seconds.

    Raises:
        Wrong: it is written otherwise, or longer than a year.
    """
    found = _SPAN.match(word)
    if found is None:
        text = _("%(name)s: %(word)s is no time as 1-02:03:04.")
        raise Wrong(Problem(text, {"name": name, "word": shown(word)}))
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    total = 86_400.0 * days + 3600.0 * hours + 60.0 * minutes + seconds
    return seconds_of(f"{total:.0f}", name, most=LONGEST_S)


def _elapsed(row: Mapping[str, str]) -> float:
    raw = (row.get("ElapsedRaw") or "").strip()
    if raw:
        return seconds_of(raw, "ElapsedRaw")
    return span_of((row.get("Elapsed") or "").strip(), "Elapsed")


def _cards(told: str) -> tuple[int, str]:
    """How many cards, and of which model where it is named; the named ones are in the total."""
    plain = named = 0
    model = ""
    for part in told.split(","):
        found = _CARDS.match(part.strip())
        if found is None:
            continue
        if found[1]:
            named, model = named + int(found[2]), found[1]
        else:
            plain = int(found[2])
    return max(plain, named), model
