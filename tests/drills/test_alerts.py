"""Faults on a real stack with simulated cards: each fires once, and is over once."""

import signal
from collections import Counter
from contextlib import contextmanager

import pytest
import yaml

from tests.drills.agents import Agents
from tests.house import House
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("drills"), pytest.mark.timeout(1800)]
QUICK = {"window_seconds": 60, "for_seconds": 0, "clear_seconds": 0}


@contextmanager
def house_with_faults():
    """A stack whose two nodes listen to a script of faults, and the script."""
    house, agents = House("--no-agent"), None
    script = house.root / "faults.yaml"
    script.write_text("{}")
    try:
        house.stack.ready(seconds=600)
        agents = Agents(house)
        for name in agents.names:
            agents.start(name, "--faults", str(script))
        agents.all_heard()
        yield house, agents, lambda said: script.write_text(yaml.safe_dump(said))
    finally:
        if agents is not None:
            agents.over()
        house.over()


def open_alerts(admin):
    return [
        one
        for one in admin.every("alerts?page_size=100")
        if one["state"] in {"firing", "acknowledged", "pending"}
    ]


def named(alert):
    """What it is about: the rule, or the beginning of the key of what the pool raises itself."""
    return alert["rule"] or alert["title"]


def quick_rules(admin):
    """The built-in rules with windows that a test can wait for."""
    rules = until(
        lambda: {r["slug"]: r for r in admin.every("alert-rules?page_size=100")}, seconds=60
    )
    for slug in ("ecc", "heat", "throttle"):
        admin("PATCH", f"alert-rules/{rules[slug]['uid']}", QUICK)
    waits = {"for_seconds": 0, "clear_seconds": 0, "threshold": 5}
    admin("PATCH", f"alert-rules/{rules['queue-wait']['uid']}", waits)
    for slug in ("node-health", "memory", "band-high", "util"):
        admin("PATCH", f"alert-rules/{rules[slug]['uid']}", {"enabled": False})


def times(house, key):
    """How many alerts a condition must have made: one, or one for each time it was really there.

    A node on a crowded machine may fall silent more often than the drill makes it: each such
    silence stands in the log of the node, and has to be one alert, no more and no fewer. What comes
    of a silence of most nodes, or of work on a silent one, may come once with each.
    """
    silences = Counter(
        one
        for (one,) in house.rows(
            "SELECT subject FROM pool_event WHERE kind = 'node.moved' AND data->>'to' = 'silent'"
        )
    )
    if key.startswith("silent:"):
        return silences["node:" + key.removeprefix("silent:")]
    if key == "silence:mass":
        (found,) = house.rows("SELECT count(*) FROM pool_alert WHERE key = 'silence:mass'")[0]
        assert 1 <= found < silences.total()
        return found
    return 1


def test_every_fault_fires_one_alert_and_ends_it_once_and_the_people_hear_of_both():
    with house_with_faults() as (house, agents, script):
        admin = house.as_("platform_admin")
        quick_rules(admin)
        until(
            lambda: house.rows("SELECT count(*) FROM pool_sample WHERE ecc_corrected = 0")[0][0],
            seconds=60,
            what="readings without errors are stored",
        )
        until(lambda: open_alerts(admin) == [], seconds=120, what="nothing is wrong at first")
        listed = {one["slug"]: one["uid"] for one in admin.every("projects")}
        project = listed[house.project]
        admin("POST", f"projects/{project}/hold", {"reason": "a drill"})
        waiting = house.submit("true")
        script(
            {
                "cards": {
                    "0": {"temperature_c": 93},
                    "1": {"throttle": 8},
                    "2": {"ecc_corrected": 3},
                    "3": {"health": "lost"},
                }
            }
        )
        agents.kill("sim-b", signal.SIGSTOP)
        wanted = {"heat", "throttle", "ecc", "queue-wait"}

        def all_there():
            firing = [one for one in open_alerts(admin) if one["state"] == "firing"]
            rules = {one["rule"] for one in firing}
            silent = any("says nothing" in one["title"] for one in firing)
            lost = any("lost" in one["title"] for one in firing)
            return wanted <= rules and silent and lost and firing

        firing = until(all_there, seconds=240, what="every fault fires")
        until(
            lambda: house.rows("SELECT 1 FROM pool_alert WHERE told_at IS NULL") == [],
            seconds=60,
            what="every word is handed out",
        )
        taken = next(one for one in firing if one["rule"] == "ecc")
        admin("POST", f"alerts/{taken['uid']}/acknowledge", {"note": "in the drill"})

        script({})
        agents.kill("sim-b", signal.SIGCONT)
        admin("POST", f"projects/{project}/release", {})
        house.ended([waiting], seconds=120)
        until(lambda: open_alerts(admin) == [], seconds=300, what="every fault is over")

        moves = house.rows(
            "SELECT subject, data->>'to' FROM pool_event WHERE kind = 'alert.moved' ORDER BY id"
        )
        by = Counter(moves)
        assert {to: n for (_one, to), n in by.items() if n != 1} == {}, by
        keys = Counter(one for (one,) in house.rows("SELECT key FROM pool_alert"))
        assert {key: n for key, n in keys.items() if n != times(house, key)} == {}, keys
        fired = {one for one, to in moves if to == "firing"}
        over = {one for one, to in moves if to == "resolved"}
        assert fired == over
        words = house.rows("SELECT word, sent_at IS NOT NULL, error FROM pool_alertdelivery")
        assert Counter(word for word, _sent, _error in words)["fired"] == len(fired)
