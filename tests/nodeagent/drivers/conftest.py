"""The stand-in management library, compiled once, and machines that have it."""

import os
import subprocess

import pytest

from nodeagent.records import Record
from nodeagent.runners.adoption import labels
from tests.fakes.nvml.world import World, build


@pytest.fixture(scope="session")
def nvml_library(tmp_path_factory):
    """The folder of the compiled library."""
    return build(tmp_path_factory.mktemp("nvml"))


@pytest.fixture
def machine(nvml_library, tmp_path):
    """Makes a machine with cards of the given models."""

    def made(*models):
        folder = tmp_path / "world"
        folder.mkdir()
        return World(nvml_library, folder, models)

    return made


@pytest.fixture
def people(tmp_path):
    """A process of a job of the pool, and one that the pool did not start."""
    shim = labels(Record("at-1", tmp_path), "any")
    ours = subprocess.Popen(["sh", "-c", "env -i sleep 600 & echo $!; wait"], env=shim, stdout=-1)
    stranger = subprocess.Popen(["sleep", "600"])
    job = int(ours.stdout.readline())
    yield job, stranger.pid
    os.kill(job, 9)
    ours.communicate()
    stranger.kill()
    stranger.wait()
