"""A partition with one node of two cards, and a project that reserves them."""

import pytest

from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.services.calendar.asker import Asker


@pytest.fixture
def part():
    return rows.partition(modes=["whole", "mig", "mps"])


@pytest.fixture
def node(part):
    return Obedient(rows.node(cards=2))


@pytest.fixture
def asker(node):
    return Asker()
