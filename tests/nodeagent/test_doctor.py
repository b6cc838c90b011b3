"""The doctor looks at a node, changes nothing, and says what it saw in words or in JSON."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.fakes import programs
from tests.fakes.nvml.world import ROOT
from tests.nodeagent.drivers.conftest import machine, nvml_library

__all__ = ["machine", "nvml_library"]


@pytest.fixture
def folder():
    """State and work folders that job accounts can reach."""
    with tempfile.TemporaryDirectory(prefix="gpupool-doctor-test-") as made:
        Path(made).chmod(0o711)
        yield Path(made)


def doctor(world, folder, *flags, path=""):
    environment = world.environment(PATH=f"{path}:{os.environ['PATH']}", FAKES=path)
    command = [sys.executable, "-m", "nodeagent", "doctor", *flags]
    places = ["--state-dir", str(folder / "state"), "--work-dir", str(folder / "work")]
    return subprocess.run(
        [*command, *places],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_node_is_described_card_by_card_with_what_would_be_carved(machine, folder, tmp_path):
    world = machine("H100-80GB", "H100-80GB", "A30")
    world.script("set util 0 5", "set gpm.2 * 7")
    tools = tmp_path / "bin"
    programs.put(tools, "nvidia-smi", programs.SMI)
    programs.put(tools, "nvidia-cuda-mps-control", programs.MPS)
    ended = doctor(world, folder, "--json", "--carve", path=str(tools))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = json.loads(ended.stdout)
    assert said["ok"]
    found = {one["what"]: one for one in said["findings"]}
    assert found["cards"]["words"] == "3 by nvml: 2 x H100-80GB, 1 x A30"
    one = found["card 0 H100-80GB"]["data"]
    assert (one["mode"], one["health"], one["errors"]) == ("whole", "ok", [])
    assert "sm_mean" in one["measured"] and "sm_mean" in found["card 2 A30"]["data"]["unknown"]
    cut = found["card 2 would be carved"]
    assert "4 x 1g.6gb" in cut["words"] and "with a reset by an administrator" in cut["words"]
    assert [a["mode"] for a in cut["data"]["abilities"]] == ["whole", "mig", "mps", "timeslice"]
    assert "compute by none" in cut["words"], "what is not enforced is said"
    assert "never run on a real card" in found["tried"]["words"]
    assert found["containers"]["data"]["engine"] == "" or found["containers"]["ok"]
    assert programs.calls(tools) == [], "it only looks"
    assert (folder / "state").is_dir() and not list((folder / "state").iterdir())
    mode = "pynvml.nvmlDeviceGetMigMode(pynvml.nvmlDeviceGetHandleByIndex(0))"
    assert world.run(f"import json, pynvml; pynvml.nvmlInit(); print(json.dumps({mode}))") == [0, 0]


def test_work_of_somebody_else_on_a_card_is_bad_and_the_exit_code_says_so(machine, folder):
    world = machine("H100-80GB", "A30")
    world.script(f"proc 1 -1 -1 {os.getpid()} 500")
    ended = doctor(world, folder)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 1
    (bad,) = [line for line in lines if line.startswith("BAD")]
    assert "card 1 A30" in bad and f"({os.getpid()})" in bad
    assert any("could be carved, were --carve given" in line for line in lines)


def test_a_machine_without_cards_says_so_in_one_line(tmp_path, folder):
    class Bare:
        def environment(self, **more):
            return os.environ | {"PYTHONPATH": str(ROOT)} | more

    ended = doctor(Bare(), folder)
    assert ended.returncode == 1
    assert "BAD cards: no NVIDIA, AMD or Ascend card answers" in ended.stdout


def test_unknown_words_on_the_command_line_are_bad_use(machine, folder):
    assert doctor(machine("A30"), folder, "--nonsense").returncode == 2
