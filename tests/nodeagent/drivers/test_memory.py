"""A freed slice is clean when its memory is back: the real binding against the compiled library."""

import json
import os
import subprocess

import pytest

from tests.fakes.nvml.world import World, build
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_measured import mig_slice, wanted

WHOLE = ["create_slice", wanted("a", "whole", memory_mib=81559)]
CLEAN = ["clean_slice", "a"]
WITHOUT = ("nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetComputeRunningProcesses_v3")


@pytest.fixture
def play(machine, tmp_path):
    world = machine("H100-80GB")

    def played(*acts):
        return world.run(ACTS, json.dumps([str(tmp_path), acts, True]))

    return played


@pytest.fixture
def living():
    """A process that lives, somebody else's on the card."""
    process = subprocess.Popen(["sleep", "600"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ((), None),
        (("set used 0 400",), None),
        (("set reserved 0 3000",), None),
        (("set used 0 5000",), "5000 of 81559 MiB are still taken"),
        (("fail nvmlDeviceGetMemoryInfo_v2 13", "fail nvmlDeviceGetMemoryInfo 3"), None),
        (("fail nvmlDeviceGetMemoryInfo_v2 13", "set used 0 5000"), None),
        (("fail nvmlDeviceGetMemoryInfo_v2 13", "set used 0 9000"), "9000 of 81559 MiB"),
    ],
    ids=["idle", "crumbs", "the driver's own", "taken", "untold", "old: crumbs", "old: taken"],
)
def test_a_whole_card_is_clean_once_nothing_is_taken(play, script, why):
    said = play(WHOLE, ["script", *script], CLEAN)[2]
    if why is None:
        assert said is None
    else:
        assert said["no"] == "Busy" and why in said["why"]
    assert play(["script"], CLEAN) == [None, None], "memory came back at a later look"


def test_a_driver_without_the_newer_question_is_taken_with_more_patience(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    world = World(build(folder, without=WITHOUT), tmp_path, ("H100-80GB",))
    acts = [WHOLE, ["script", "set reserved 0 3000"], CLEAN, ["script", "set used 0 9000"], CLEAN]
    said = world.run(ACTS, json.dumps([str(tmp_path), acts, True]))
    assert said[2] is None and "9000 of 81559" in said[4]["why"]


def test_what_others_that_live_hold_is_not_the_last_holders(play, living):
    used = ["set used 0 20000", f"proc 0 -1 -1 {living} 19900"]
    assert play(WHOLE, ["script", *used], CLEAN)[2] is None
    used[0] = "set used 0 24000"
    assert "4100 of 81559" in play(["script", *used], CLEAN)[1]["why"]


def test_what_a_dead_process_still_shows_is_not_back(play):
    dead = subprocess.Popen(["true"])
    os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
    script = ["script", "set used 0 20000", f"proc 0 -1 -1 {dead.pid} 19900"]
    said = play(WHOLE, script, CLEAN)[2]
    dead.wait()
    assert said["no"] == "Busy" and "20000 of" in said["why"]


def test_an_instance_is_asked_for_its_own_memory(play):
    a, b = mig_slice("a", "1g.10gb", 0, 1, 9984), mig_slice("b", "1g.10gb", 1, 1, 9984)
    rows = play(["set_mode", "GPU-0", "mig"], ["create_slice", a], ["create_slice", b])[1:]
    script = ["script", "set used 0 60000", "set used.1 0 5000"]
    clean = [CLEAN, ["clean_slice", "b"], ["free_mib", rows[0]], ["free_mib", rows[1]]]
    said = play(script, *clean)[1:]
    assert said[0]["no"] == "Busy" and "5000 of" in said[0]["why"] and said[1] is None
    whole = rows[1]["memory_mib"]
    assert said[2:] == [whole - 5000, whole]


def test_a_slice_that_is_gone_or_strange_has_nothing_left(play):
    assert play(["clean_slice", "never"], ["clean_slice", ""]) == [None, None]


def test_a_card_that_fell_off_the_bus_is_lost_and_not_clean(play):
    lost = ["script", "fail nvmlDeviceGetMemoryInfo_v2 15", "fail nvmlDeviceGetMemoryInfo 15"]
    free = ["free_mib", {"uid": "a", "card": "GPU-0", "mode": "whole", "profile": "whole"}]
    free[1] |= {"state": "ready", "memory_mib": 81559}
    assert play(WHOLE, free)[1] == 81559
    assert play(lost, CLEAN, free)[1]["no"] == "Lost"
