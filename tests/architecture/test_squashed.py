"""Databases that began before the squashed migrations, in the midst of them, or after: each goes on
by its own way, and all come to the same tables. Only the loader is asked: no database is needed."""

from types import SimpleNamespace

import pytest
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader

OURS = ("pool", "billing", "portal")
SQUASHED = {("pool", "0001_to_0038"), ("billing", "0001_to_0004")}
STEPS = {
    key: frozenset(MigrationLoader(None, replace_migrations=False).disk_migrations[key].replaces)
    for key in SQUASHED
}


def single_steps():
    """All migrations but the squashed ones, in an order in which they were once applied."""
    loader = MigrationLoader(None, replace_migrations=False)
    plan = []
    for leaf in loader.graph.leaf_nodes():
        plan += [one for one in loader.graph.forwards_plan(leaf) if one not in plan]
    return [one for one in plan if one not in SQUASHED]


def known(monkeypatch, applied):
    """What Django makes of a database with these migrations, and what it would still do."""
    rows = dict.fromkeys(applied)
    recorder = SimpleNamespace(applied_migrations=lambda: rows)
    monkeypatch.setattr("django.db.migrations.loader.MigrationRecorder", lambda _: recorder)
    loader = MigrationLoader(SimpleNamespace(alias="default"))
    loader.check_consistent_history(loader.connection)
    todo = []
    for leaf in loader.graph.leaf_nodes():
        todo += [
            one
            for one in loader.graph.forwards_plan(leaf)
            if one not in loader.applied_migrations and one not in todo
        ]
    return loader, todo


def differences(one, other):
    """What would have to be done to get from the tables of one to those of the other."""
    return MigrationAutodetector(one, other)._detect_changes()


def test_a_new_database_takes_the_squashed_way_alone(monkeypatch):
    _loader, todo = known(monkeypatch, [])
    assert set(todo) >= SQUASHED
    for steps in STEPS.values():
        assert not steps & set(todo)


def test_a_database_with_every_single_step_has_nothing_left_to_do(monkeypatch):
    loader, todo = known(monkeypatch, single_steps())
    assert todo == []
    fresh, _todo = known(monkeypatch, [])
    assert differences(loader.project_state(), fresh.project_state()) == {}


@pytest.mark.parametrize("last", ["0001_tables", "0005_watch", "0020_notices", "0037_folders"])
def test_a_database_in_the_midst_goes_on_step_by_step_to_the_same_tables(monkeypatch, last):
    plan = single_steps()
    at = next(n for n, (app, name) in enumerate(plan) if app == "pool" and name.startswith(last))
    loader, todo = known(monkeypatch, plan[: at + 1])
    assert ("pool", "0001_to_0038") not in todo
    left = {one for one in STEPS["pool", "0001_to_0038"] if one not in plan[: at + 1]}
    assert left <= set(todo)
    fresh, _todo = known(monkeypatch, [])
    assert differences(loader.project_state(), fresh.project_state()) == {}


def test_a_database_that_began_squashed_is_as_one_that_took_every_step(monkeypatch):
    others = [one for one in single_steps() if one[0] not in OURS]
    loader, todo = known(monkeypatch, [*others, *SQUASHED, *set().union(*STEPS.values())])
    assert not (set().union(*STEPS.values()) | SQUASHED) & set(todo)
    later = [one for one in single_steps() if one[0] in OURS and one in todo]
    assert later, "what came after the squash is still to be done"
    whole, _todo = known(monkeypatch, single_steps())
    assert differences(loader.project_state(), whole.project_state()) == {}
