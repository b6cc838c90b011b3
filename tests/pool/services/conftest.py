"""A small world for the services' tests."""

import pytest

from tests.worlds import World


@pytest.fixture
def world(db):
    """One project with people, eight cards and three templates."""
    return World()
