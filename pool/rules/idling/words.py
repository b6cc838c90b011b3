"""PURE: which words make a rule of idleness, a wish for a night, and a look for others."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pool.lifecycle.idleness import IdleAction
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

LEAST_S, MOST_S = 300, 30 * 86_400
MOST_WARNINGS, MOST_KEEPS = 5, 50
DAY_MINUTES = 1440
LONGEST_NIGHT = timedelta(hours=24)
"""For more than a night there are leases."""

MOST_REASON = 200

LONGEST_SHARE = timedelta(days=30)
"""So long others may be let look at a notebook's files by one word of its owner."""


def rule_problems(words: Mapping[str, Any]) -> dict[str, Problem]:
    """Everything wrong with the words of a whole rule; seconds and minutes."""
    idle_s = words.get("idle_seconds")
    found: dict[str, Problem | None] = {
        "idle_seconds": _within(idle_s, LEAST_S, MOST_S),
        "keeps": _within(words.get("keeps"), 0, MOST_KEEPS),
        "warn_minutes": _warnings(words.get("warn_minutes"), idle_s),
        "action": None
        if words.get("action") in set(IdleAction)
        else Problem(_("Choose from: %(known)s."), {"known": ", ".join(IdleAction)}),
        "quiet_from": _quiet(words.get("quiet_from"), words.get("quiet_until")),
    }
    return {name: problem for name, problem in found.items() if problem is not None}


def night_problems(*, until: Any, reason: Any, now: datetime) -> dict[str, Problem]:
    """Everything wrong with a wish for a night."""
    found: dict[str, Problem] = {}
    if not isinstance(until, datetime) or until.tzinfo is None:
        found["until"] = Problem(_("A time with its zone is needed."))
    elif not now < until <= now + LONGEST_NIGHT:
        found["until"] = Problem(_("A time within the next 24 hours is needed."))
    if not isinstance(reason, str) or not reason.strip() or not reason.isprintable():
        found["reason"] = Problem(_("Say why, in one line: whoever decides reads it."))
    elif len(reason) > MOST_REASON:
        said = _("A line of at most %(most)s characters is possible.")
        found["reason"] = Problem(said, {"most": MOST_REASON})
    return found


def share_problems(*, until: Any, now: datetime) -> dict[str, Problem]:
    """Everything wrong with the end of a look for others."""
    if not isinstance(until, datetime) or until.tzinfo is None:
        return {"until": Problem(_("A time with its zone is needed."))}
    if now < until <= now + LONGEST_SHARE:
        return {}
    said = _("A time within the next %(days)s days is needed.")
    return {"until": Problem(said, {"days": LONGEST_SHARE.days})}


def _within(value: Any, least: int, most: int) -> Problem | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and least <= value <= most:
        return None
    said = _("A whole number from %(least)s to %(most)s is needed.")
    return Problem(said, {"least": least, "most": most})


def _warnings(minutes: Any, idle_s: Any) -> Problem | None:
    if not isinstance(minutes, (list, tuple)) or len(minutes) > MOST_WARNINGS:
        return Problem(_("At most %(most)s warnings can be given."), {"most": MOST_WARNINGS})
    wrong = next((p for one in minutes if (p := _within(one, 1, DAY_MINUTES))), None)
    if wrong is not None:
        return wrong
    if _within(idle_s, LEAST_S, MOST_S) is None and any(one * 60 >= idle_s for one in minutes):
        return Problem(_("A warning has to come before the time is over."))
    return None


def _quiet(begins: Any, ends: Any) -> Problem | None:
    if begins is None and ends is None:
        return None
    if begins is None or ends is None:
        return Problem(_("Quiet hours have a beginning and an end."))
    wrong = _within(begins, 0, DAY_MINUTES - 1) or _within(ends, 0, DAY_MINUTES - 1)
    if wrong is None and begins == ends:
        return Problem(_("Quiet hours have a beginning and an end."))
    return wrong
