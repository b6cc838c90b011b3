"""The recent demand as the score reads it: the same in every process."""

import os
import subprocess
import sys

SAID = """
from pool.scheduling.board import build
from pool.scheduling.model import Demand, Need
from pool.scheduling.score import fragments
from tests.builders import snapshot
labels = ("A30", "L40S", "A100-80GB", "H100-80GB")
needs = [Need(memory_gb=n, labels=frozenset(labels[: n % 4 + 1])) for n in range(1, 9)]
world = snapshot().node("n1")
for label in labels[:2]:
    world = world.card(label, modes=("mps", "whole"))
world = world.have(demand=tuple(Demand(need=n, weight=1.0 / n.memory_gb) for n in needs))
print(fragments(build(world.made)).mix.weight.tolist())
"""


def test_two_processes_weigh_the_same_demand_in_the_same_order():
    told = {
        subprocess.run(
            [sys.executable, "-c", SAID],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
