"""The REST twin of the main flow: the example script, as a stranger runs it."""

import subprocess
import sys

import pytest

from tests.architecture.house import ROOT

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("stack")]


def test_the_example_script_asks_is_approved_runs_and_tells_the_cost(house):
    ran = subprocess.run(
        [
            *(sys.executable, "-I", "-S", str(ROOT / "docs" / "examples" / "first_job.py")),
            *("--url", house.stack.url, "--credentials", str(house.data / "credentials.json")),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "exit code 0" in ran.stdout.lower()
    assert "cost" in ran.stdout.lower()


def test_the_example_script_fails_when_a_step_fails(house, tmp_path):
    wrong = tmp_path / "credentials.json"
    text = (house.data / "credentials.json").read_text()
    for row in house.people:
        text = text.replace(row["token"], "not-a-token")
    wrong.write_text(text)
    ran = subprocess.run(
        [
            *(sys.executable, "-I", "-S", str(ROOT / "docs" / "examples" / "first_job.py")),
            *("--url", house.stack.url, "--credentials", str(wrong)),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode != 0
