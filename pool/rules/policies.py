"""The numbers of scheduling that an administrator may edit: bounds, defaults, differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pool.lifecycle.roles import WorkClass
from pool.rules.partitions import POLICIES
from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

MOST_REASON = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One number with its bounds and unit; a switch has neither."""

    default: int | bool
    least: int = 0
    most: int = 1
    unit: str = ""

    @property
    def is_switch(self) -> bool:
        return isinstance(self.default, bool)


DAY = 86_400

NUMBERS: dict[str, Number] = {
    "backfill": Number(default=True),
    "shortest_first": Number(default=True),
    "heads": Number(default=4, least=1, most=16),
    "heavy_gb": Number(default=40, least=1, most=1000, unit="gb"),
    "age_full_s": Number(default=DAY, least=60, most=30 * DAY, unit="s"),
    "length_most_s": Number(default=100_000, least=0, most=30 * DAY, unit="s"),
    "slip_age_s": Number(default=7 * DAY, least=60, most=90 * DAY, unit="s"),
    "unknown_duration_s": Number(default=DAY, least=60, most=30 * DAY, unit="s"),
    "placements_per_round": Number(default=200, least=1, most=1000),
    "preempt_share_milli": Number(default=200, least=0, most=1000, unit="milli"),
    "headroom_milli": Number(default=5, least=0, most=200, unit="milli"),
    "notice_s": Number(default=60, least=0, most=3600, unit="s"),
    "inference_notice_s": Number(default=300, least=0, most=3600, unit="s"),
    "overrun_s": Number(default=300, least=0, most=DAY, unit="s"),
    "checkpoint_every_s": Number(default=1800, least=60, most=DAY, unit="s"),
    "no_show_s": Number(default=1800, least=60, most=7 * DAY, unit="s"),
    "cut_back": Number(default=True),
    "cut_back_share_milli": Number(default=200, least=0, most=1000, unit="milli"),
    "cut_back_over_s": Number(default=14 * DAY, least=DAY, most=90 * DAY, unit="s"),
    "cut_back_notice_s": Number(default=3 * DAY, least=3600, most=30 * DAY, unit="s"),
    "raw_days": Number(default=0, least=0, most=90),
    "minute_days": Number(default=0, least=0, most=400),
    "hour_days": Number(default=730, least=35, most=3650),
}
"""In the order in which people read them. Seconds, GB as sold, thousandths."""


def numbers_from(given: Any) -> dict[str, int | bool]:
    """The numbers named, as they are stored. Raises Problems."""
    if not isinstance(given, Mapping):
        raise Problems({"values": Problem(_("An object of names and numbers is needed."))})
    wrong: dict[str, Problem] = {}
    for name, value in given.items():
        number = NUMBERS.get(name)
        if number is None:
            wrong[str(name)[:80]] = Problem(
                _("Choose from: %(known)s."), {"known": ", ".join(NUMBERS)}
            )
        elif problem := _number_problem(number, value):
            wrong[name] = problem
    if wrong:
        raise Problems(wrong)
    return dict(given)


def _number_problem(number: Number, value: Any) -> Problem | None:
    if number.is_switch:
        return None if isinstance(value, bool) else Problem(_("Yes or no is meant here."))
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole and number.least <= value <= number.most:
        return None
    return Problem(
        _("A whole number from %(least)s to %(most)s is needed."),
        {"least": number.least, "most": number.most},
    )


def numbers_in_force(stored: Mapping[str, Any]) -> dict[str, int | bool]:
    """Every number: the stored ones, and the defaults of the others."""
    return {name: stored.get(name, number.default) for name, number in NUMBERS.items()}


def class_policies_from(given: Any) -> dict[str, str]:
    """{work class: placement} as it is stored. Raises Problems."""
    known = {one.value for one in WorkClass}
    fine = isinstance(given, Mapping) and all(
        name in known and value in POLICIES for name, value in given.items()
    )
    if not fine:
        raise Problems(
            {
                "class_policies": Problem(
                    _("From a class (%(classes)s) to a placement (%(known)s)."),
                    {"classes": ", ".join(sorted(known)), "known": ", ".join(POLICIES)},
                )
            }
        )
    return {name: given[name] for name in sorted(given)}


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What one version says otherwise than another: name to (before, after), in plain order."""
    names = [*before, *(name for name in after if name not in before)]
    return {
        name: (before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    }


def reason_problem(reason: Any) -> Problem | None:
    """A change of policy says why: it stands in the history."""
    if not isinstance(reason, str) or not reason.strip() or not reason.isprintable():
        return Problem(_("Say why, in one line: it stands in the history."))
    if len(reason) > MOST_REASON:
        return Problem(
            _("A line of at most %(most)s characters is possible."), {"most": MOST_REASON}
        )
    return None
