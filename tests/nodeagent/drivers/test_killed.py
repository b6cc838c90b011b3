"""An agent that is killed at any step of a re-carve: the next one finishes it, or undoes it."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.nodeagent.drivers.test_every_card import CARD, Node

WALK = "import runpy; runpy.run_module('tests.fakes.nvml.kill_walk', run_name='__main__')"
BEFORE = [("3g.40gb", 0), ("2g.20gb", 4), ("1g.10gb", 6)]
AFTER = [("4g.40gb", 0), ("2g.20gb", 4), ("1g.20gb", 6)]


@pytest.fixture
def node(machine):
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = Path(tempfile.mkdtemp(prefix="gpupool-kill-", dir=place))
    one = Node(machine("h100_80gb"), folder, "h100_80gb")
    one.play(["set_mode", CARD, "mig"])
    yield one
    shutil.rmtree(folder)


@pytest.mark.parametrize("back", [False, True], ids=["finished", "undone"])
@pytest.mark.parametrize(("where", "steps"), [("card", 16), ("disk", 16)])
def test_a_kill_at_any_step_of_a_carve_leaves_nothing_half_made(node, where, steps, back):
    before, after = node.wish(BEFORE), node.wish(AFTER)
    stays = [one for one in before if one in after]
    # The books never ask for a slice again that they gave up: what comes back has a new name.
    anew = [one for one in node.wish(BEFORE, "b") if one["profile"] != stays[0]["profile"]]
    end = [*stays, *anew] if back else after
    given = json.dumps([str(node.state), before, after, end, where])
    ends = node.world.run(WALK, given, limit_s=300.0)
    assert len(ends) > steps, "fewer steps were taken than the carve has"
    wished = sorted((one["uid"], "ready") for one in end)
    for failures, there, again in ends:
        assert failures == []
        assert sorted((row["uid"], row["state"]) for row in there) == wished
        assert there == again
