"""Which driver a machine gets, by what is installed on it."""

import pytest

from nodeagent.drivers import choose
from nodeagent.drivers.listed import ListedDriver
from nodeagent.drivers.nvml.driver import NvmlDriver
from tests.fakes import programs


@pytest.mark.parametrize(
    ("installed", "nvidia", "kind", "name"),
    [
        ((), False, NvmlDriver, "nvml"),
        (("amd-smi",), False, ListedDriver, "amd"),
        (("rocm-smi",), False, ListedDriver, "amd"),
        (("npu-smi",), False, ListedDriver, "ascend"),
        (("npu-smi", "amd-smi"), True, NvmlDriver, "nvml"),
    ],
)
def test_the_vendor_is_found_by_its_library_or_its_program(
    monkeypatch, tmp_path, installed, nvidia, kind, name
):
    for one in installed:
        programs.put(tmp_path / "bin", one, "#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(choose, "_has_nvidia", lambda: nvidia)
    monkeypatch.setattr(choose, "amd_installed", lambda: False)
    found = choose.driver(None, tmp_path, None, choose.Wishes(exporter="http://127.0.0.1:1/"))
    assert isinstance(found, kind) and found.name == name
