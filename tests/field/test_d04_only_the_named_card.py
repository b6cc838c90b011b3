"""D04: a layout that names one card changes that card alone, whatever the others are doing."""

import json

import pytest

from tests.nodeagent.drivers.test_every_card import ACTS

FOUR = [("1g.6gb", start) for start in range(4)]
TWO = [("2g.12gb", 0), ("2g.12gb", 2)]
SIZES = {"1g.6gb": (1, 5952), "2g.12gb": (2, 11968)}


def layout(card, places, tag):
    return [
        {
            "uid": f"{tag}-{card}-{profile}@{start}",
            "card": card,
            "mode": "mig",
            "profile": profile,
            "memory_mib": SIZES[profile][1],
            "compute_milli": 250,
            "start": start,
            "size": SIZES[profile][0],
        }
        for profile, start in places
    ]


@pytest.fixture
def play(machine, tmp_path):
    world = machine("A30", "A30")
    return lambda *acts: world.run(ACTS, json.dumps([str(tmp_path), acts, True]))


def lies(found):
    return sorted((row["card"], row["profile"], row["start"], row["state"]) for row in found)


def ready(card, places):
    return [(card, profile, start, "ready") for profile, start in sorted(places)]


def test_each_card_is_cut_alone_and_a_busy_one_is_the_only_one_that_refuses(play):
    reset = [["script", "reset"], ["script"]]
    second = layout("GPU-1", FOUR, "a")
    both = layout("GPU-0", TWO, "b") + second
    enter_1 = [["set_mode", "GPU-1", "mig"], *reset]
    enter_0 = [["set_mode", "GPU-0", "mig"]]
    first = play(*enter_1, ["converge", second], ["modes"], ["slices"])
    assert first[-2] == {"GPU-0": "whole", "GPU-1": "mig"}
    assert lies(first[-1]) == ready("GPU-1", FOUR)
    # Entering the mode on the other card needs a reset of that card alone; the stand-in resets all.
    then = play(*enter_0, *reset, ["converge", both], ["slices"])
    assert lies(then[-1]) == ready("GPU-0", TWO) + ready("GPU-1", FOUR)
    new = layout("GPU-0", FOUR, "c") + layout("GPU-1", TWO, "c")
    busy = [["script", "fail nvmlComputeInstanceDestroy 19 0"], ["converge", new], ["slices"]]
    came = play(*busy)
    # What could not be removed is told as failed, and stays until nothing uses it any more.
    kept = [(card, profile, start, "failed") for card, profile, start, _ in ready("GPU-0", TWO)]
    assert lies(came[-1]) == kept + ready("GPU-1", TWO)
    refused = {target for kind, target, _ in came[1] if kind == "delete_slice"}
    assert refused == {f"b-GPU-0-2g.12gb@{start}" for start in (0, 2)}
    freed = play(["script"], ["converge", new], ["slices"])
    assert lies(freed[-1]) == ready("GPU-0", FOUR) + ready("GPU-1", TWO)
