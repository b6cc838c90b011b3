"""What the tests of what-ifs stand on."""

import pytest

from tests import rows


@pytest.fixture
def pool():
    """Two machines with four cards each, a project, and somebody who runs the platform."""
    place = rows.partition(slug="main")
    for name in ("n1", "n2"):
        rows.node(cards=4, name=name)
    project = rows.project(slug="vision")
    return place, project, rows.user(username="pat")
