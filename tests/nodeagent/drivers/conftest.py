"""The stand-in management library, compiled once, and machines that have it."""

import pytest

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
