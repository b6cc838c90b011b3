"""From five answers to a need and the template that serves it, and whether sharing pays."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pool.rules.advisor_table import LOADS, POINTS, POOL_SIZES, TALKS, TASKS, VERDICTS
from pool.rules.problems import Problem
from pool.rules.problems import marked as _

MOST_GB, MOST_NUMBER = 1024, 1024
BY_NAME: Mapping[str, Mapping[str, Any]] = {one["name"]: one for one in TASKS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the asker said: the task, nominal GB of one piece (None: unknown), how many pieces at
    once, for how many seconds, how they talk and how busy they are ("": as the task has it).

    `apart` asks for neighbours kept apart by hardware.
    """

    task: str
    memory_gb: int | None = None
    number: int = 1
    seconds: int = 0
    communication: str = ""
    load: str = ""
    apart: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """A need in the words of a template's changes, and why.

    `template` is a template's name among those offered, "" where none serves the task. `together`
    says that the pieces start as one gang; otherwise they are copies.
    """

    template: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    copies: int = 1
    why: str = ""
    verdict: str = ""
    verdict_text: str = ""
    points: Mapping[str, int] = field(default_factory=dict)


def answers_problems(answers: Answers) -> dict[str, Problem]:
    """What cannot be right, by field."""
    found: dict[str, Problem] = {}
    known = {
        "task": BY_NAME,
        "load": dict(LOADS) | {"": ""},
        "communication": dict(TALKS) | {"": ""},
    }
    for name, words in known.items():
        if getattr(answers, name) not in words:
            said = ", ".join(one for one in words if one)
            found[name] = Problem(_("Choose from: %(known)s."), {"known": said})
    if answers.memory_gb is not None and not 1 <= answers.memory_gb <= MOST_GB:
        found["memory_gb"] = Problem(_("From 1 to %(most)s GB."), {"most": MOST_GB})
    if not 1 <= answers.number <= MOST_NUMBER:
        found["number"] = Problem(_("A whole number from 1 to %(most)s is needed."), {"most": 1024})
    return found


def advise(answers: Answers, offered: Iterable[tuple[str, str]], card_gb: int) -> Advised:
    """The need and the template for valid answers.

    `offered` are templates as (name, work class) in the order of their ranks; `card_gb` is the
    size of the cards that are common here, for the verdict.
    """
    task = BY_NAME[answers.task]
    memory = answers.memory_gb or int(task["memory_gb"])
    talks = answers.communication or str(task["communication"])
    load = answers.load or str(task["load"])
    whole = _whole(task, memory, talks, card_gb)
    points = _points(memory, talks, load, answers.number, whole=whole, card_gb=card_gb)
    _least, verdict, text = next(one for one in VERDICTS if sum(points.values()) >= one[0])
    gang = answers.number > 1 and talks != "none"
    return Advised(
        template=_template(task, list(offered), whole=whole, gang=gang),
        overrides=_overrides(task, answers, memory, whole=whole, gang=gang),
        copies=1 if gang else answers.number,
        why=str(task["why"]),
        verdict=verdict,
        verdict_text=text,
        points=points,
    )


def pool_advice(cards: int) -> str:
    """How so many cards of one kind are best cut; a sentence of the catalogue."""
    return next(str(one["text"]) for one in POOL_SIZES if cards <= one["most_cards"])


def _whole(task: Mapping[str, Any], memory: int, talks: str, card_gb: int) -> bool:
    limit = task.get("whole_from_gb", card_gb)
    return bool(task.get("whole")) or talks == "heavy" or memory >= min(limit, card_gb)


def _points(
    memory: int, talks: str, load: str, number: int, *, whole: bool, card_gb: int
) -> dict[str, int]:
    share = memory / max(1, card_gb)
    size = "whole" if whole or share > 0.5 else "half" if share > 0.25 else "small"
    many = "many" if number >= 8 else "several" if number > 1 else "one"
    said = {"load": load, "communication": talks, "size": size, "number": many}
    return {name: POINTS[name][word] for name, word in said.items()}


def _template(
    task: Mapping[str, Any], offered: list[tuple[str, str]], *, whole: bool, gang: bool
) -> str:
    """The first template of the first class that has one; of several of a class, the one whose
    name says that it takes whole cards where whole ones are needed."""
    for wanted in task["classes"]:
        found = [name for name, work in offered if work == wanted]
        fitting = [name for name in found if any(w in name for w in ("whole", "heavy", "node"))]
        if found:
            return (fitting if whole and fitting else found)[0]
    return ""


def _overrides(
    task: Mapping[str, Any], answers: Answers, memory: int, *, whole: bool, gang: bool
) -> dict[str, Any]:
    said: dict[str, Any] = {"parts": answers.number if gang else 1}
    if whole:
        talks = answers.communication or task["communication"]
        linked = gang and talks == "heavy" and answers.number <= 8
        said["topology"] = "network" if gang and answers.number > 8 else "node"
        said |= {"whole": True, "min_size_gb": answers.memory_gb or 0}
        said["topology"] = "linked" if linked else said["topology"]
        return {name: value for name, value in said.items() if value}
    said["memory_gb"] = memory
    if answers.apart or task.get("isolation"):
        said["isolation"] = "hardware"
    return said | {name: task[name] for name in ("compute_percent",) if name in task}
