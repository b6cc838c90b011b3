"""How many cards keep the wait short, and of which model: found by replays, halving in between."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pool.replay.whatif.apply import CardCount, Scenario

MOST_TIMES = 4
AT_LEAST_MORE = 64
"""Up to four times the cards that are there are tried, and at least 64 more."""

Figures = dict[str, Any]
Look = Callable[[Scenario], Figures]
Say = Callable[[float, list[Any]], None]


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for. Each line of cards of the scenario names a place and a model; the lines
    are looked at one by one, each as if the others were not there.
    """

    baseline: Figures
    target_s: float
    scenario: Scenario

    def there(self, one: CardCount) -> int:
        """Cards of the line that are there today."""
        for row in self.baseline["models"]:
            if (row["partition"], row["model"]) == (one.partition, one.model):
                return int(row["cards"])
        return 0

    def with_count(self, one: CardCount, count: int) -> Scenario:
        """The scenario with so many cards of this line."""
        return replace(self.scenario, cards=(replace(one, count=count),))

    def known(self, one: CardCount, count: int) -> Figures | None:
        """What is known without a replay: with the cards that are there all is as it was."""
        as_it_was = replace(self.scenario, cards=()) == Scenario() and count == self.there(one)
        return self.baseline if as_it_was else None

    def met(self, found: Mapping[str, Any]) -> bool:
        """Whether 95 % wait no longer than the target, and no more work than today never runs."""
        total, before = found["total"], self.baseline["total"]
        wait = total["p95_wait_s"]
        return wait is not None and wait <= self.target_s and total["never"] <= before["never"]


@dataclass(slots=True)
class Tries:
    """Every count that was tried of all lines, in order."""

    asked: Search
    look: Look
    say: Say
    steps: list[dict[str, Any]] = field(default_factory=list)

    def figures(self, one: CardCount, count: int) -> Figures:
        """The replay with so many cards, told as a step."""
        known = self.asked.known(one, count)
        found = known or self.look(self.asked.with_count(one, count))
        self.steps.append(_step(one, count, found, met=self.asked.met(found)))
        self.say(0.0 if known else 1.0, self.steps)
        return found


def search(asked: Search, look: Look, say: Say) -> tuple[Figures, list[dict[str, Any]]]:
    """Figures with the fewest more cards that do, and every count that was tried, in order.

    `needed` is how many cards of that line do (None when even the most do not) and `there` how
    many are there; `options` say the same of every line.
    """
    tries = Tries(asked, look, say)
    found = [(one, *_fewest(tries, one)) for one in asked.scenario.cards]
    options = [_option(asked, one, needed, figures) for one, needed, figures in found]
    order = sorted(range(len(found)), key=lambda at: (*_more(options[at]), at))
    best = order[0]
    told = {"needed": options[best]["needed"], "there": options[best]["there"]}
    return found[best][2] | told | {"options": options}, tries.steps


def _fewest(tries: Tries, one: CardCount) -> tuple[int | None, Figures]:
    asked, there = tries.asked, tries.asked.there(one)
    most = max(MOST_TIMES * there, there + AT_LEAST_MORE)
    low, high = -1, there
    found = tries.figures(one, high)
    while not asked.met(found):
        if high >= most:
            return None, found
        low, high = high, min(most, max(high + 1, high + max(1, high // 2)))
        found = tries.figures(one, high)
    while high - low > 1:
        middle = (low + high) // 2
        other = tries.figures(one, middle)
        if asked.met(other):
            high, found = middle, other
        else:
            low = middle
    return high, found


def _more(option: Mapping[str, Any]) -> tuple[bool, int]:
    """How many cards more than there are; what does not do at all comes last."""
    needed = option["needed"]
    return needed is None, 0 if needed is None else needed - option["there"]


def _option(
    asked: Search, one: CardCount, needed: int | None, figures: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "partition": one.partition,
        "model": one.model,
        "there": asked.there(one),
        "needed": needed,
        "p95_wait_s": figures["total"]["p95_wait_s"],
        "digest": figures["digest"],
    }


def _step(one: CardCount, count: int, found: Mapping[str, Any], *, met: bool) -> dict[str, Any]:
    total = found["total"]
    return {
        "partition": one.partition,
        "model": one.model,
        "cards": count,
        "p50_wait_s": total["p50_wait_s"],
        "p95_wait_s": total["p95_wait_s"],
        "never": total["never"],
        "gave_way": total["gave_way"],
        "met": met,
        "digest": found["digest"],
    }
