"""Every state machine is whole, and the database knows the same states."""

import re

import pytest
from django.apps import apps
from django.db import connection

from pool.management.commands.states import drawn, lifecycles
from tests.architecture.house import ROOT

MACHINES = lifecycles()
UNDER_WAY = {
    *("placed", "starting", "preempting", "stopping", "unreachable"),
    *("planned", "creating", "cleaning", "deleting", "joining", "draining", "silent"),
}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda one: one.name)
def test_every_state_has_a_row_and_can_be_reached(machine):
    kind = type(machine.first)
    assert set(machine.moves) == set(kind)
    reached, edge = set(), {machine.first, *machine.also_first}
    while edge:
        reached |= edge
        edge = {after for state in edge for after in machine.moves[state]} - reached
    assert reached == set(kind)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda one: one.name)
def test_every_state_that_passes_has_a_deadline_and_a_way_out(machine):
    passing = {state for state in machine.moves if str(state) in UNDER_WAY} - machine.final
    assert passing <= set(machine.passing)
    for state, rule in machine.passing.items():
        assert machine.moves[state], f"{state} would never end"
        assert re.search(r"\d|until|, then ", rule), f"the deadline of {state} says when"


@pytest.mark.parametrize("machine", MACHINES, ids=lambda one: one.name)
def test_no_life_is_without_an_end_or_a_rest(machine):
    """From every state some state can be reached that may last for ever."""
    rest = set(machine.moves) - set(machine.passing)
    for state in machine.moves:
        reached, edge = set(), {state}
        while edge:
            reached |= edge
            edge = {after for one in edge for after in machine.moves[one]} - reached
        assert reached & rest


@pytest.mark.django_db
@pytest.mark.parametrize("machine", MACHINES, ids=lambda one: one.name)
def test_the_database_knows_exactly_the_states_of_the_table(machine):
    constraint = f"{machine.name}_state_known"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = %s", [constraint]
        )
        found = cursor.fetchone()
    has_table = any(model.__name__.lower() == machine.name for model in apps.get_models())
    assert found or not has_table, f"no constraint {constraint}"
    if found:
        assert set(re.findall(r"'([a-z_]+)'", found[0])) == {str(s) for s in machine.moves}


def test_the_picture_of_the_states_is_the_one_drawn_from_the_tables():
    assert (ROOT / "docs/states.md").read_text(encoding="utf-8") == drawn(), "run `make docs`"
