"""The fields of a new what-if: what stands in them, and the scenario that they say."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from pool.cycle.dryrun import PLANNED
from pool.models import Template
from pool.rules.policies import NUMBERS
from pool.rules.whatif.changes import Known
from pool.selectors.whatif.studies import card_kinds
from portal.pages.calendar.words import HINTS, LABELS, PLACEMENTS
from portal.templatetags.needs import PRIORITY

MOST_TEAMS = 60
MOST_TEMPLATES = 60
FRESH = 3
"""So many lines for cards of a model that a partition does not have."""

Said = Mapping[str, str]


def form_of(known: Known, changes: Mapping[str, Any], said: Any) -> dict[str, Any]:
    """Every field with its value: as typed, else as in the scenario that is the start."""
    start = said if said is not None else _typed(changes)
    value = start.get
    return {
        "cards": _cards(value),
        "fresh": [_fresh(number, value) for number in range(FRESH)],
        "places": sorted(known.partitions),
        "models": sorted(known.models),
        "teams": [_team(name, value) for name in sorted(known.teams or ())[:MOST_TEAMS]],
        "more_teams": max(0, len(known.teams or ()) - MOST_TEAMS),
        "templates": _templates(value),
        "policies": [("", _("as it is")), *PLACEMENTS.items()],
        "classes": [("", _("as it is")), *PRIORITY.items()],
        "switches": [("", _("as it is")), ("yes", _("yes")), ("no", _("no"))],
        "policy": value("policy", ""),
        "preemption": value("preemption", ""),
        "lending": value("lending", ""),
        "numbers": _numbers(value),
        "number_open": any(value(f"number:{name}", "") for name in PLANNED),
    }


def changes_from_form(said: Any) -> dict[str, Any]:
    """The scenario as the rules judge it; an empty field changes nothing."""
    found: dict[str, Any] = {
        "cards": [],
        "quotas": [],
        "priorities": [],
        "templates": [],
        "partitions": [],
        "numbers": {},
    }
    for field, word in said.items():
        text = word.strip()
        if text:
            _put(found, said, field, text)
    switches = _switches(said)
    if switches:
        found["partitions"].append(switches)
    return {name: value for name, value in found.items() if value}


def _put(found: dict[str, Any], said: Said, field: str, text: str) -> None:
    kind, _between, name = field.partition(":")
    match kind:
        case "cards":
            place, _between, model = name.partition("|")
            row = {"partition": place, "model": model, "count": _whole(text)}
            found["cards"].append(row)
        case "fresh_count":
            place, model = said.get(f"fresh_place:{name}", ""), said.get(f"fresh_model:{name}", "")
            row = {"partition": place, "model": model, "count": _whole(text)}
            found["cards"].append(row)
        case "limit" | "guarantee":
            cards = None if text in ("-", "–") else _number(text)
            found["quotas"].append({"team": name, "kind": kind, "cards": cards})
        case "class":
            found["priorities"].append({"team": name, "priority": text})
        case "cards_each" | "memory":
            need = _need(said, name, kind)
            if need:
                found["templates"].append({"template": name, "need": need})
        case "number":
            found["numbers"][name] = _value(name, text)


def _need(said: Said, template: str, field: str) -> dict[str, Any]:
    """A template's other need: whole cards, or memory with compute; whole cards go first."""
    whole = said.get(f"cards_each:{template}", "").strip()
    if whole:
        topology = {"topology": "network"} if _whole(whole) > 8 else {}
        return {"parts": _whole(whole), "whole": True} | topology if field == "cards_each" else {}
    need: dict[str, Any] = {"memory_gb": _whole(said.get(f"memory:{template}", "").strip())}
    compute = said.get(f"compute:{template}", "").strip()
    if compute:
        need["compute_percent"] = _number(compute)
    return need


def _switches(said: Said) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if said.get("policy"):
        row["policy"] = said["policy"]
    for name in ("preemption", "lending"):
        if said.get(name) in ("yes", "no"):
            row[name] = said[name] == "yes"
    return {"partition": ""} | row if row else {}


def _value(name: str, text: str) -> Any:
    number = NUMBERS.get(name)
    if number is not None and number.is_switch:
        return {"yes": True, "no": False}.get(text, text)
    return _whole(text)


def _whole(text: str) -> Any:
    """The number, or the text itself, which the rules refuse by name."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _number(text: str) -> Any:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return text
    return value if abs(value) < 1e9 else text


def _cards(value: Any) -> list[dict[str, Any]]:
    """Cards that are there, by partition and model, each with its field."""
    return [
        {
            "field": f"cards:{slug}|{label}",
            "key": f"{slug}|{label}",
            "place": name,
            "model": label,
            "there": count,
            "value": value(f"cards:{slug}|{label}", ""),
        }
        for slug, name, label, count in card_kinds()
    ]


def _fresh(number: int, value: Any) -> dict[str, Any]:
    return {
        "number": number,
        "place": value(f"fresh_place:{number}", ""),
        "model": value(f"fresh_model:{number}", ""),
        "count": value(f"fresh_count:{number}", ""),
    }


def _team(name: str, value: Any) -> dict[str, Any]:
    return {
        "name": name,
        "limit": value(f"limit:{name}", ""),
        "guarantee": value(f"guarantee:{name}", ""),
        "class": value(f"class:{name}", ""),
    }


def _templates(value: Any) -> list[dict[str, Any]]:
    rows = Template.objects.filter(active=True).order_by("rank", "slug")[:MOST_TEMPLATES]
    return [
        {
            "slug": row.slug,
            "row": row,
            "whole": value(f"cards_each:{row.slug}", ""),
            "memory": value(f"memory:{row.slug}", ""),
            "compute": value(f"compute:{row.slug}", ""),
        }
        for row in rows
    ]


def _numbers(value: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "label": LABELS[name],
            "hint": HINTS.get(name, ""),
            "switch": number.is_switch,
            "default": number.default,
            "value": value(f"number:{name}", ""),
        }
        for name, number in NUMBERS.items()
        if name in PLANNED
    ]


def _typed(changes: Mapping[str, Any]) -> dict[str, str]:
    """A scenario as the words of the fields."""
    there = {field["key"] for field in _cards({}.get)}
    words: dict[str, str] = {}
    fresh = 0
    for row in changes.get("cards", ()):
        key = f"{row['partition']}|{row['model']}"
        if key in there:
            words[f"cards:{key}"] = str(row["count"])
        elif fresh < FRESH:
            words |= {
                f"fresh_place:{fresh}": row["partition"],
                f"fresh_model:{fresh}": row["model"],
                f"fresh_count:{fresh}": str(row["count"]),
            }
            fresh += 1
    for row in changes.get("quotas", ()):
        words[f"{row['kind']}:{row['team']}"] = _short(row["cards"])
    for row in changes.get("priorities", ()):
        words[f"class:{row['team']}"] = row["priority"]
    words |= _typed_rest(changes)
    return words


def _typed_rest(changes: Mapping[str, Any]) -> dict[str, str]:
    words: dict[str, str] = {}
    for row in changes.get("templates", ()):
        need, slug = row["need"], row["template"]
        if need.get("whole"):
            words[f"cards_each:{slug}"] = str(need["parts"])
        elif need.get("memory_gb"):
            words[f"memory:{slug}"] = str(need["memory_gb"])
            words[f"compute:{slug}"] = _short(need.get("compute_milli", 0) / 10 or None, "")
    for row in changes.get("partitions", ()):
        words |= {
            name: {True: "yes", False: "no"}.get(row[name], row[name])
            for name in ("policy", "preemption", "lending")
            if name in row
        }
    for name, value in changes.get("numbers", {}).items():
        words[f"number:{name}"] = (
            {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
        )
    return words


def _short(value: float | None, nothing: str = "-") -> str:
    return nothing if value is None else f"{value:g}"
