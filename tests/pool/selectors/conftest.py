"""A small world for the selectors' tests."""

import pytest

from tests.factories import World


@pytest.fixture
def world(db):
    """One project with people, eight cards and three templates."""
    return World()
