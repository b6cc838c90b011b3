"""Nested limits as one bar."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from portal.pages.gauges import gauges

PROJECT = SimpleNamespace(organization_id=1)


def row(kind, limit, held=0, project=None):
    return SimpleNamespace(
        kind=kind,
        limit_value=limit,
        held=held,
        project=project and PROJECT,
        project_id=project,
        organization_id=None if project else 1,
        partition=SimpleNamespace(),
        partition_id=1,
        card_model="A100-80GB",
    )


def test_a_project_lies_inside_its_organization():
    rows = [row("limit", 8, held=4), row("limit", 4, held=2, project=7), row("allowance", 2, 1, 7)]
    (one,) = gauges(rows)
    assert (one.own_width, one.above_width, one.limit_at, one.free_at) == (250, 500, 500, 250)


def test_a_project_without_limits_has_no_bar():
    assert gauges([row("limit", 8)]) == []
    assert gauges([row("limit", 0, project=7)]) == []


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 200), st.integers(0, 200))
def test_nothing_leaves_the_bar(limit, above, held, above_held):
    rows = [row("limit", above, above_held), row("limit", limit, held, 7)]
    for one in gauges(rows):
        places = (one.own_width, one.above_width, one.limit_at or 0, one.free_at or 0)
        assert all(0 <= place <= 1000 for place in places)
