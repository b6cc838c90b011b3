"""How many cards keep the wait short: found by replays, halving the distance each time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pool.replay.whatif.apply import Scenario

MOST_TIMES = 4
AT_LEAST_MORE = 64
"""Up to four times the cards that are there are tried, and at least 64 more."""

Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for. The scenario's one line of cards names the place and the model."""

    baseline: Mapping[str, Any]
    target_s: float
    scenario: Scenario

    @property
    def there(self) -> int:
        """Cards that are there today."""
        one = self.scenario.cards[0]
        for row in self.baseline["models"]:
            if (row["partition"], row["model"]) == (one.partition, one.model):
                return int(row["cards"])
        return 0

    def with_count(self, count: int) -> Scenario:
        """The scenario with so many cards."""
        one = self.scenario.cards[0]
        return replace(self.scenario, cards=(replace(one, count=count),))

    def met(self, found: Mapping[str, Any]) -> bool:
        """Whether 95 % wait no longer than the target, and no more work than today never runs."""
        total, before = found["total"], self.baseline["total"]
        wait = total["p95_wait_s"]
        return wait is not None and wait <= self.target_s and total["never"] <= before["never"]


def search(
    asked: Search,
    look: Callable[[Scenario], Figures],
    say: Callable[[float, list[Any]], None],
) -> tuple[Figures, list[dict[str, Any]]]:
    """Figures with the fewest cards that do (`needed`, None when even the most do not), and every
    count that was tried, in order.
    """
    steps: list[dict[str, Any]] = []
    seen: dict[int, Figures] = {}

    def tried(count: int) -> bool:
        found = seen[count] = look(asked.with_count(count))
        steps.append(_step(count, found, met=asked.met(found)))
        say(1.0, steps)
        return asked.met(found)

    most = max(MOST_TIMES * asked.there, asked.there + AT_LEAST_MORE)
    low, high = -1, asked.there
    while not tried(high):
        if high >= most:
            return seen[high] | {"needed": None, "there": asked.there}, steps
        low, high = high, min(most, max(high + 1, high + max(1, high // 2)))
    while high - low > 1:
        middle = (low + high) // 2
        if tried(middle):
            high = middle
        else:
            low = middle
    return seen[high] | {"needed": high, "there": asked.there}, steps


def _step(count: int, found: Mapping[str, Any], *, met: bool) -> dict[str, Any]:
    total = found["total"]
    return {
        "cards": count,
        "p50_wait_s": total["p50_wait_s"],
        "p95_wait_s": total["p95_wait_s"],
        "never": total["never"],
        "gave_way": total["gave_way"],
        "met": met,
        "digest": found["digest"],
    }
