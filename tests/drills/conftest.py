"""The one stack that all drills of a run share."""

import pytest

from tests.house import House


@pytest.fixture(scope="package")
def house():
    """A real stack with eight simulated cards, empty of work at first."""
    made = House()
    try:
        made.stack.ready()
        yield made
    finally:
        made.over()
