"""Scenarios, reasons and lots in plain words."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from pool.lifecycle.studies import Share
from pool.models import Study
from pool.rules.whatif.compare import Lot
from portal.pages.calendar.words import LABELS, PLACEMENTS
from portal.templatetags.needs import PRIORITY
from portal.templatetags.units import number

SHARES = {
    Share.PRIVATE: gettext_lazy("only me"),
    Share.ORGANIZATION: gettext_lazy("who runs my organization"),
    Share.PLATFORM: gettext_lazy("everybody who plans capacity"),
}
LOTS = {
    Lot.GAINS: ("good", gettext_lazy("gains")),
    Lot.LOSES: ("bad", gettext_lazy("loses")),
    Lot.SAME: ("calm", gettext_lazy("as before")),
}
LEFT_OUT = {
    "never_ran": gettext_lazy("never ran"),
    "need_unreadable": gettext_lazy("its need cannot be read"),
    "steps": gettext_lazy("steps of other jobs"),
    "no_cards": gettext_lazy("asked for no card"),
    "no_time": gettext_lazy("ran for no time"),
}


def changes_said(study: Study, changes: Mapping[str, Any], hidden: int = 0) -> list[str]:
    """What is changed, a line each; `hidden` more rows name what the reader may not know."""
    said = list(_searched(changes) if study.kind == "cards" else scenario_said(changes))
    if hidden:
        told = ngettext(
            "%(n)s change of what belongs to other organizations",
            "%(n)s changes of what belongs to other organizations",
            hidden,
        )
        said.append(told % {"n": hidden})
    return said


def scenario_said(changes: Mapping[str, Any]) -> Iterator[str]:
    """The same of a scenario by itself."""
    yield from _cards(changes)
    yield from _limits(changes)
    yield from _classes(changes)
    yield from _templates(changes)
    yield from _switches(changes)
    yield from _prices(changes)
    yield from _numbers(changes)


def left_out_said(left_out: Mapping[str, int]) -> list[str]:
    """How much is not replayed, by reason."""
    return [f"{number(count)} {LEFT_OUT.get(why, why)}" for why, count in left_out.items()]


def _searched(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("cards", ()):
        yield _("How many %(model)s in %(place)s keep the wait short?") % {
            "model": row["model"],
            "place": row["partition"],
        }


def _cards(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("cards", ()):
        yield _("%(place)s: %(count)s × %(model)s") % {
            "place": row["partition"],
            "count": number(row["count"]),
            "model": row["model"],
        }


def _limits(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("quotas", ()):
        said = {"team": row["team"], "n": _plain(row["cards"])}
        said["where"] = " / ".join(filter(None, (row["partition"], row["model"])))
        if row["cards"] is None:
            line = _("%(team)s: no limit") % said
        elif row["kind"] == "guarantee":
            line = _("%(team)s: %(n)s cards guaranteed") % said
        else:
            line = _("%(team)s: at most %(n)s cards") % said
        yield f"{line} ({said['where']})" if said["where"] else line


def _classes(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("priorities", ()):
        whose = " / ".join(filter(None, (row["team"], row["template"])))
        yield _("%(whose)s: priority %(class)s") % {
            "whose": whose,
            "class": PRIORITY.get(row["priority"], row["priority"]),
        }


def _templates(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("templates", ()):
        yield f"{row['template']}: {_need(row['need'])}"


def _need(need: Mapping[str, Any]) -> str:
    said = []
    if need.get("whole"):
        said.append(_("%(n)s whole cards") % {"n": need["parts"]})
    elif need.get("parts", 1) > 1:
        said.append(_("%(n)s parts") % {"n": need["parts"]})
    if need.get("memory_gb"):
        said.append(f"{need['memory_gb']} GB")
    if need.get("compute_milli"):
        said.append(_("%(n)s %% of the compute") % {"n": _plain(need["compute_milli"] / 10)})
    if need.get("profile"):
        said.append(need["profile"])
    return ", ".join(said)


def _switches(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("partitions", ()):
        where = row["partition"] or _("all partitions")
        if "policy" in row:
            yield f"{where}: {PLACEMENTS[row['policy']]}"
        if "preemption" in row:
            told = _("others give way") if row["preemption"] else _("nobody gives way")
            yield f"{where}: {told}"
        if "lending" in row:
            told = _("idle cards are lent") if row["lending"] else _("nothing is lent")
            yield f"{where}: {told}"


def _prices(changes: Mapping[str, Any]) -> Iterator[str]:
    for row in changes.get("prices", ()):
        where = " / ".join(filter(None, (row["partition"], row["model"]))) or _("all cards")
        yield _("%(where)s: %(n)s %% of the price") % {"where": where, "n": number(row["percent"])}


def _numbers(changes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in changes.get("numbers", {}).items():
        word = str(LABELS.get(name, name))
        told = (_("yes") if value else _("no")) if isinstance(value, bool) else number(value)
        yield f"{word}: {told}"


def _plain(value: float | None) -> str:
    if value is None:
        return ""
    return number(value, 0 if value == int(value) else 2)
