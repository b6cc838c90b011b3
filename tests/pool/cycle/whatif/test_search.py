"""How many cards, and of which model: each line by itself, no replay twice."""

from pool.cycle.whatif.search import Search, search
from pool.replay.whatif.apply import CardCount, OtherClass, Scenario
from pool.scheduling.model import PriorityClass

A, B, C = (CardCount(partition="main", model=name, count=0) for name in "ABC")
THERE = {"A": 8, "B": 4, "C": 2}


def _figures(wait_s, never=0):
    total = {"p50_wait_s": 0.0, "p95_wait_s": wait_s, "never": never, "gave_way": 0}
    models = [{"partition": "main", "model": m, "cards": n} for m, n in THERE.items()]
    return {"total": total, "models": models, "digest": f"{wait_s}"}


def _searched(cards, enough, **rest):
    """Waits are short from so many cards of each model on; what was replayed, and the answer."""
    replayed = []

    def look(scenario):
        (one,) = scenario.cards
        replayed.append((one.model, one.count))
        return _figures(60.0 if one.count >= enough[one.model] else 7200.0)

    asked = Search(_figures(7200.0), 600.0, Scenario(cards=cards, **rest))
    found, steps = search(asked, look, lambda share, told: None)
    return replayed, found, steps


def test_what_is_there_is_not_replayed_once_more_and_no_number_twice():
    replayed, found, steps = _searched((A,), {"A": 13})
    assert (found["needed"], found["there"]) == (13, 8)
    assert ("A", 8) not in replayed and len(set(replayed)) == len(replayed)
    assert steps[0]["cards"] == 8 and len(steps) == len(replayed) + 1


def test_with_other_changes_beside_it_what_is_there_is_replayed():
    other = (OtherClass(team="vision", priority=PriorityClass.LOW),)
    replayed, _found, _steps = _searched((A,), {"A": 13}, classes=other)
    assert replayed[0] == ("A", 8)


def test_of_several_models_the_one_is_best_of_which_the_fewest_are_missing():
    _replayed, found, steps = _searched((A, B, C), {"A": 20, "B": 7, "C": 10**6})
    options = {one["model"]: (one["there"], one["needed"]) for one in found["options"]}
    assert options == {"A": (8, 20), "B": (4, 7), "C": (2, None)}
    assert (found["needed"], found["there"]) == (7, 4)
    assert [one["model"] for one in found["options"]] == ["A", "B", "C"]
    assert {step["model"] for step in steps} == {"A", "B", "C"}


def test_where_no_number_does_none_is_needed():
    _replayed, found, steps = _searched((C,), {"C": 10**6})
    assert found["needed"] is None and found["options"][0]["needed"] is None
    assert steps[-1]["cards"] == 66 and not any(step["met"] for step in steps)
