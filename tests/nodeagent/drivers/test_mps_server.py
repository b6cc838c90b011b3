"""The server of MPS is a process on the card: it is the pool's own, and nobody else's is."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.fakes import programs
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_measured import wanted
from tests.nodeagent.drivers.test_nvml import OWNER

DAEMON = "#!/bin/sh\nsleep 600 & echo $!; wait\n"
"""As the control daemon does: it stays, and starts the server below it."""

NAMES = ("nvidia-cuda-mps-control", "train.py")


@pytest.fixture
def node(machine, tmp_path):
    """A machine whose card is in MPS: what it says of its health while these processes use it."""
    world = machine("H100-80GB")
    folder = tmp_path / "bin"
    programs.put(folder, "nvidia-smi", programs.SMI)
    programs.put(folder, "nvidia-cuda-mps-control", programs.MPS)
    path = f"{folder}:{os.environ['PATH']}"

    def play(*acts):
        given = json.dumps([str(tmp_path), acts, True])
        return world.run(ACTS, given, PATH=path, FAKES=str(folder))

    play(["set_mode", "GPU-0", "mps"], ["create_slice", SHARE])
    play.pipe = next((tmp_path / "mps").glob("*/pipe"))
    play.using = lambda *pids: play(
        ["script", *(f"proc 0 -1 -1 {pid} 300" for pid in pids)], ["health"]
    )[1][0]
    return play


SHARE = wanted("a", "mps", profile="share", memory_mib=20000, compute_milli=250)


@pytest.fixture
def started(tmp_path):
    """Starts a program of a name that has a child: (its number, the child's)."""
    made = []

    def start(name):
        program = programs.put(tmp_path / "started", name, DAEMON)
        process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        made.append((process, int(process.stdout.readline())))
        return process.pid, made[-1][1]

    yield start
    for process, child in made:
        os.kill(child, 9)
        process.kill()
        process.communicate()


def note(pipe: Path, pid: int) -> None:
    (pipe / "nvidia-cuda-mps-control.pid").write_text(f"{pid}\n")


def test_the_server_of_the_cards_own_daemon_is_no_stranger(node, started):
    daemon, server = started(NAMES[0])
    assert node.using(server)["health"] == "contested", "whose it is nobody has said"
    note(node.pipe, daemon)
    assert node.using(server, daemon)["health"] == "ok"


def test_a_stranger_beside_the_server_is_still_one_with_his_name(node, started):
    daemon, server = started(NAMES[0])
    note(node.pipe, daemon)
    _, stranger = started(NAMES[1])
    told = node.using(server, stranger)
    assert (told["health"], told["foreign"]) == (
        "contested",
        [f"sleep ({stranger}){OWNER}"],
    )


@pytest.mark.parametrize("words", ["", "no number", "99999999"])
def test_a_daemon_that_is_gone_or_was_never_noted_vouches_for_nobody(node, started, words):
    _, server = started(NAMES[0])
    (node.pipe / "nvidia-cuda-mps-control.pid").write_text(words)
    assert node.using(server)["health"] == "contested"


def test_another_program_under_the_daemons_old_number_vouches_for_nobody(node, started):
    other, child = started(NAMES[1])
    note(node.pipe, other)
    assert node.using(child)["health"] == "contested"


def test_the_daemon_of_another_card_vouches_for_nothing_here(node, started, tmp_path):
    daemon, server = started(NAMES[0])
    elsewhere = tmp_path / "mps" / "other" / "pipe"
    elsewhere.mkdir(parents=True)
    note(elsewhere, daemon)
    assert node.using(server)["health"] == "contested"
