"""The fields of a new what-if: what stands in them, and the scenario that they say."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from pool.cycle.dryrun import PLANNED
from pool.models import Template
from pool.rules.policies import NUMBERS
from pool.rules.whatif.changes import Known
from portal.pages.calendar.words import HINTS, LABELS, PLACEMENTS
from portal.templatetags.needs import PRIORITY

MOST_TEAMS = 60
MOST_TEMPLATES = 60
FRESH = 3
"""So many lines for cards of a model that a partition does not have."""

SWITCHES = ("policy", "preemption", "lending")
Said = Mapping[str, str]


Kinds = Sequence[tuple[str, str, str, int]]


def form_of(known: Known, kinds: Kinds, start: Mapping[str, str]) -> dict[str, Any]:
    """Every field with its value as it was typed or as the start has it.

    `kinds` are the cards that are there: partition (slug and name), model, and how many.
    """
    value = start.get
    return {
        "cards": _cards(kinds, value),
        "fresh": [_fresh(number, value) for number in range(FRESH)],
        "places": sorted(known.partitions),
        "models": sorted(known.models),
        "teams": [_team(name, value) for name in sorted(known.teams or ())[:MOST_TEAMS]],
        "more_teams": max(0, len(known.teams or ()) - MOST_TEAMS),
        "templates": _templates(known, value),
        "policies": [("", _("as it is")), *PLACEMENTS.items()],
        "classes": [("", _("as it is")), *PRIORITY.items()],
        "switches": [("", _("as it is")), ("yes", _("yes")), ("no", _("no"))],
        "policy": value("policy", ""),
        "preemption": value("preemption", ""),
        "lending": value("lending", ""),
        "numbers": _numbers(value),
        "number_open": any(value(f"number:{name}", "") for name in PLANNED),
    }


def names_of(form: Mapping[str, Any]) -> frozenset[str]:
    """The names of all fields of the form that say something of a scenario."""
    fresh = ("fresh_place", "fresh_model", "fresh_count")
    return frozenset(
        {
            *SWITCHES,
            *(row["field"] for row in form["cards"]),
            *(row["price_field"] for row in form["cards"]),
            *(f"{kind}:{number}" for kind in fresh for number in range(FRESH)),
            *(
                f"{kind}:{row['name']}"
                for kind in ("limit", "guarantee", "class")
                for row in form["teams"]
            ),
            *(
                f"{kind}:{row['slug']}"
                for kind in ("cards_each", "memory", "compute")
                for row in form["templates"]
            ),
            *(f"number:{row['name']}" for row in form["numbers"]),
        }
    )


def changes_from_form(said: Any) -> dict[str, Any]:
    """The scenario as the rules judge it; an empty field changes nothing."""
    found: dict[str, Any] = {
        "cards": [],
        "quotas": [],
        "priorities": [],
        "templates": [],
        "partitions": [],
        "prices": [],
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
            found["cards"].append(_of_cards(name) | {"count": _whole(text)})
        case "fresh_count":
            place, model = said.get(f"fresh_place:{name}", ""), said.get(f"fresh_model:{name}", "")
            found["cards"].append(_of_cards(f"{place}|{model}") | {"count": _whole(text)})
        case "price":
            found["prices"].append(_of_cards(name) | {"percent": _whole(text)})
        case "limit" | "guarantee":
            cards = None if text in ("-", "–") else _number(text)
            found["quotas"].append({"team": name, "kind": kind, "cards": cards})
        case "class":
            found["priorities"].append({"team": name, "priority": text})
        case "cards_each" | "memory":
            found["templates"] += _template(said, name, kind)
        case "number":
            found["numbers"][name] = _value(name, text)


def _of_cards(name: str) -> dict[str, Any]:
    place, _between, model = name.partition("|")
    return {"partition": place, "model": model}


def _template(said: Said, name: str, field: str) -> list[dict[str, Any]]:
    need = _need(said, name, field)
    return [{"template": name, "need": need}] if need else []


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


def _cards(kinds: Kinds, value: Any) -> list[dict[str, Any]]:
    """Cards that are there, by partition and model, each with its field."""
    return [
        {
            "field": f"cards:{slug}|{label}",
            "place": name,
            "model": label,
            "there": count,
            "value": value(f"cards:{slug}|{label}", ""),
            "price_field": f"price:{slug}|{label}",
            "price": value(f"price:{slug}|{label}", ""),
        }
        for slug, name, label, count in kinds
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


def _templates(known: Known, value: Any) -> list[dict[str, Any]]:
    mine = Template.objects.filter(active=True, slug__in=known.templates)
    rows = mine.order_by("rank", "slug")[:MOST_TEMPLATES]
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
