"""PURE: a scenario as a person or a script says it, judged word by word."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pool.lifecycle.roles import Priority
from pool.rules.needs import from_mapping, to_mapping
from pool.rules.partitions import POLICIES
from pool.rules.policies import numbers_from
from pool.rules.problems import Problem, Problems
from pool.rules.problems import marked as _

MOST_ROWS = 200
MOST_CARDS = 100_000
MOST_PERCENT = 1000
SECTIONS = ("cards", "quotas", "priorities", "templates", "partitions", "prices", "numbers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The names that a scenario may use; `teams` None lets every name pass (a file's own)."""

    partitions: Collection[str]
    models: Collection[str]
    templates: Collection[str] = ()
    teams: Collection[str] | None = None


Judge = Callable[[Mapping[str, Any], Known], dict[str, Any]]


def changes_from(given: Any, known: Known) -> dict[str, Any]:
    """The scenario as it is kept: only what is said, in one order.

    Raises:
        Problems: what is wrong, by section (and number of the row in it).
    """
    if not isinstance(given, Mapping):
        raise Problems({"changes": Problem(_("An object of sections is needed."))})
    wrong: dict[str, Problem] = {}
    found: dict[str, Any] = {}
    for name in given:
        if name not in SECTIONS:
            words = {"known": ", ".join(SECTIONS)}
            wrong[str(name)[:63]] = Problem(_("Choose from: %(known)s."), words)
    for name, judge in JUDGES.items():
        rows = given.get(name) or ()
        if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) > MOST_ROWS:
            text = _("A list of at most %(most)s rows is needed.")
            wrong[name] = Problem(text, {"most": MOST_ROWS})
            continue
        kept = _rows(name, rows, judge, known, wrong)
        if kept:
            found[name] = kept
    _numbers(given.get("numbers"), found, wrong)
    if wrong:
        raise Problems(wrong)
    return found


def _rows(
    name: str,
    rows: Sequence[Any],
    judge: Judge,
    known: Known,
    wrong: dict[str, Problem],
) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for number, row in enumerate(rows, 1):
        try:
            if not isinstance(row, Mapping):
                raise Problems({"": Problem(_("An object is needed."))})
            kept.append(judge(row, known))
        except Problems as told:
            for field, problem in told.fields.items():
                wrong[f"{name}.{number}" + (f".{field}" if field else "")] = problem
    return kept


def _numbers(given: Any, found: dict[str, Any], wrong: dict[str, Problem]) -> None:
    if not given:
        return
    try:
        found["numbers"] = dict(sorted(numbers_from(given).items()))
    except Problems as told:
        wrong.update({f"numbers.{name}": one for name, one in told.fields.items()})


def _cards(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """{"partition": …, "model": …, "count": n}."""
    _only(row, "partition", "model", "count")
    count = row.get("count")
    wrong = _named(row, known, "partition", "model")
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_CARDS:
        text = _("A whole number from %(least)s to %(most)s is needed.")
        wrong["count"] = Problem(text, {"least": 0, "most": MOST_CARDS})
    _raise(wrong)
    return {"partition": row["partition"], "model": row["model"], "count": count}


def _quotas(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """{"team": …, "kind": "limit" | "guarantee", "cards": n | null, "partition", "model"}."""
    _only(row, "team", "kind", "cards", "partition", "model")
    wrong = _named(row, known, "team") | _named(row, known, "partition", "model", maybe=True)
    cards = row.get("cards")
    if cards is not None and (
        isinstance(cards, bool)
        or not isinstance(cards, int | float)
        or not 0 <= cards <= MOST_CARDS
    ):
        text = _("A number of cards from %(least)s to %(most)s is needed, or nothing for no limit.")
        wrong["cards"] = Problem(text, {"least": 0, "most": MOST_CARDS})
    kind = row.get("kind") or "limit"
    if kind not in ("limit", "guarantee"):
        wrong["kind"] = Problem(_("Choose from: %(known)s."), {"known": "limit, guarantee"})
    _raise(wrong)
    return {
        "team": row["team"],
        "kind": kind,
        "cards": None if cards is None else round(float(cards), 3),
        "partition": row.get("partition") or "",
        "model": row.get("model") or "",
    }


def _priorities(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """{"team": …, "template": …, "priority": class}; one of the two may be missing."""
    _only(row, "team", "template", "priority")
    wrong = _named(row, known, "team", "template", maybe=True)
    if not row.get("team") and not row.get("template"):
        wrong["team"] = Problem(_("Say whose work: a team, a template, or both."))
    classes = [one.value for one in Priority]
    if row.get("priority") not in classes:
        words = {"known": ", ".join(classes)}
        wrong["priority"] = Problem(_("Choose from: %(known)s."), words)
    _raise(wrong)
    return {
        "team": row.get("team") or "",
        "template": row.get("template") or "",
        "priority": row["priority"],
    }


def _templates(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """{"template": …, "need": {…}} with a whole need."""
    _only(row, "template", "need")
    _raise(_named(row, known, "template"))
    need = to_mapping(from_mapping(row.get("need") or {}))
    return {"template": row["template"], "need": need}


def _partitions(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """{"partition": "" (all), "policy": …, "preemption": yes/no, "lending": yes/no}."""
    _only(row, "partition", "policy", "preemption", "lending")
    wrong = _named(row, known, "partition", maybe=True)
    kept: dict[str, Any] = {"partition": row.get("partition") or ""}
    policy = row.get("policy")
    if policy and policy not in POLICIES:
        wrong["policy"] = Problem(_("Choose from: %(known)s."), {"known": ", ".join(POLICIES)})
    elif policy:
        kept["policy"] = policy
    for name in ("preemption", "lending"):
        value = row.get(name)
        if value is not None and not isinstance(value, bool):
            wrong[name] = Problem(_("Yes or no is meant here."))
        elif value is not None:
            kept[name] = value
    _raise(wrong)
    return kept


def _prices(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    """{"partition": "" (all), "model": "" (all), "percent": n} of the prices of the book."""
    _only(row, "partition", "model", "percent")
    wrong = _named(row, known, "partition", "model", maybe=True)
    percent: Any = row.get("percent")
    whole = isinstance(percent, int) and not isinstance(percent, bool)
    if not whole or not 0 <= percent <= MOST_PERCENT:
        text = _("A whole number from %(least)s to %(most)s is needed.")
        wrong["percent"] = Problem(text, {"least": 0, "most": MOST_PERCENT})
    _raise(wrong)
    return {
        "partition": row.get("partition") or "",
        "model": row.get("model") or "",
        "percent": percent,
    }


JUDGES: dict[str, Judge] = {
    "cards": _cards,
    "quotas": _quotas,
    "priorities": _priorities,
    "templates": _templates,
    "partitions": _partitions,
    "prices": _prices,
}


def _named(
    row: Mapping[str, Any], known: Known, *fields: str, maybe: bool = False
) -> dict[str, Problem]:
    """Fields that do not name something known."""
    wrong: dict[str, Problem] = {}
    for field in fields:
        names: Collection[str] | None = getattr(known, f"{field}s")
        word = row.get(field)
        if maybe and word in (None, ""):
            continue
        if not isinstance(word, str) or not word or len(word) > 80 or not word.isprintable():
            wrong[field] = Problem(_("A name is needed."))
        elif names is not None and word not in names:
            words = {"name": word, "known": ", ".join(sorted(names)[:20])}
            wrong[field] = Problem(_("%(name)s is not known. Choose from: %(known)s."), words)
    return wrong


def _only(row: Mapping[str, Any], *names: str) -> None:
    strange = [str(name) for name in row if name not in names]
    if strange:
        words = {"known": ", ".join(names)}
        raise Problems({strange[0][:63]: Problem(_("Choose from: %(known)s."), words)})


def _raise(wrong: dict[str, Problem]) -> None:
    if wrong:
        raise Problems(wrong)
