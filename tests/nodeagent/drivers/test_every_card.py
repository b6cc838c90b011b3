"""The whole MIG life of every card model of the tables, through the real binding."""

import json
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import pytest

from tests.fakes.nvml import layouts
from tests.fakes.nvml.world import table_of

ACTS = "import runpy; runpy.run_module('tests.fakes.nvml.driver_acts', run_name='__main__')"
WALK = "import runpy; runpy.run_module('tests.fakes.nvml.layout_walk', run_name='__main__')"
TABLES = sorted(
    path.name.removesuffix(".json") for path in files("nodeagent.facts").joinpath("mig").iterdir()
)
CARD = "GPU-0"


@pytest.fixture
def state():
    """A folder in memory where there is one: every record is forced to the disk."""
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gpupool-mig-", dir=place))
    yield folder
    shutil.rmtree(folder)


class Node:
    """A machine with one card; every `play` is a driver started anew."""

    def __init__(self, world, state, model):
        self.world, self.state = world, state
        self.table = table_of(model)
        self.sizes = {p["name"]: p for p in self.table["profiles"]}

    def play(self, *acts, **more):
        return self.world.run(ACTS, json.dumps([str(self.state), acts, True]), **more)

    def wish(self, layout, tag="a"):
        """Slices of a layout, each named after its place."""
        return [
            {
                "uid": f"{tag}:{name}@{start}",
                "card": CARD,
                "mode": "mig",
                "profile": name,
                "memory_mib": self.sizes[name]["memory_mib"],
                "compute_milli": 100,
                "start": start,
                "size": self.sizes[name]["size"],
            }
            for name, start in sorted(layout)
        ]

    def entering(self):
        """The acts after which the card is in MIG mode, with a reset where it needs one."""
        reset = [["script", "reset"], ["script"]] if self.table["reset_to_enter"] else []
        return [["set_mode", CARD, "mig"], *reset]


@pytest.fixture
def node(machine, state):
    return lambda model: Node(machine(model), state, model)


def rows(found):
    return sorted((row["uid"], row["state"]) for row in found)


@pytest.mark.parametrize("model", TABLES)
def test_every_model_is_entered_cut_in_every_place_filled_and_left(node, model):
    one = node(model)
    places = [(p["name"], start) for p in one.table["profiles"] for start in p["starts"]]
    each = [
        act
        for place in places
        for act in (
            ["create_slice", one.wish([place])[0]],
            ["delete_slice", one.wish([place])[0]["uid"]],
        )
    ]
    full = one.wish(max(layouts.maximal(model), key=len))
    life = [["converge", full], ["slices"], ["converge", full], ["converge", []], ["slices"]]
    came = one.play(
        ["inventory"], *one.entering(), ["modes"], *each, *life, ["set_mode", CARD, "whole"]
    )
    card, entered = came[0][0], came[1]
    cut = next(g for g in card["geometries"] if g["mode"] == "mig")
    told = {p["name"]: (p["profile_id"], p["size"], tuple(p["starts"])) for p in cut["profiles"]}
    assert told == {
        p["name"]: (str(p["id"]), p["size"], tuple(p["starts"])) for p in one.table["profiles"]
    }
    assert cut["reset_to_enter"] == one.table["reset_to_enter"]
    assert (entered is None) != one.table["reset_to_enter"]
    assert came[-7 - len(each)] == {CARD: "mig"}
    made = came[-6 - len(each) : -6]
    assert all(row["device"].startswith("MIG-") for row in made[::2])
    assert made[1::2] == [None] * len(places)
    assert [came[-6], *came[-4:-1]] == [[], [], [], []]
    assert rows(came[-5]) == sorted((w["uid"], "ready") for w in full)
    assert (came[-1] is None) != one.table["reset_to_enter"]


@pytest.mark.parametrize("model", ["a100_80gb", "a30_24gb"])
def test_every_maximal_layout_is_reached_from_every_other_and_from_empty(node, model):
    one = node(model)
    one.play(*one.entering())
    ways = [sorted(layout) for layout in layouts.maximal(model)]
    assert len(ways) == one.table["layouts"]["maximal_plain"]
    gone, _ = one.world.run(WALK, json.dumps([str(one.state), ways, []]), limit_s=600.0)
    assert gone == len(ways) * len(ways)


@pytest.mark.parametrize("model", ["a100_80gb", "rtx_pro_6000_blackwell_96gb", "a30_24gb"])
def test_what_must_not_lie_together_is_refused_with_the_reason(node, model):
    one = node(model)
    one.play(*one.entering())
    pairs = layouts.illegal_pairs(model)
    _, answers = one.world.run(WALK, json.dumps([str(one.state), [], pairs]))
    assert {kind for kind, _ in answers} == {"Refused"}
    assert all(words for _, words in answers)
