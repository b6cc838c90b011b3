"""Arrows between the floors go down only."""

import subprocess
import sys

from tests.architecture.house import ROOT

CHECK = "import sys; from importlinter import cli; sys.exit(cli.lint_imports(no_cache=True))"


def test_every_contract_between_the_floors_is_kept():
    said = subprocess.run(
        [sys.executable, "-c", CHECK], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert " 0 broken" in said.stdout
