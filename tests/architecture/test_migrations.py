"""The models and the migrations say the same."""

import io

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations import AddField
from django.db.migrations.loader import MigrationLoader


@pytest.mark.django_db
def test_no_model_waits_for_a_migration():
    said = io.StringIO()
    call_command("makemigrations", check=True, dry_run=True, stdout=said)
    assert "No changes detected" in said.getvalue()


FIRST_SHARED = {"pool": "0039", "portal": "0003"}
"""From here on processes of the release before may still run beside the new columns."""


def added_later():
    """Every column that a migration adds from there on, with its field."""
    for (app, name), found in MigrationLoader(None).disk_migrations.items():
        if app in FIRST_SHARED and name >= FIRST_SHARED[app]:
            for one in found.operations:
                if isinstance(one, AddField):
                    yield f"{app}.{name}: {one.model_name}.{one.name}", one.field


def test_a_new_column_lets_processes_write_that_do_not_know_it_yet():
    columns = dict(added_later())
    assert len(columns) >= 5
    strict = [
        name
        for name, field in columns.items()
        if not (field.null or field.many_to_many or field.has_db_default())
    ]
    assert strict == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("table", "column"),
    [("pool_request", "given"), ("pool_request", "image"), ("portal_gatewaypass", "reads")],
)
def test_the_database_itself_keeps_the_default(table, column):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_default FROM information_schema.columns"
            " WHERE table_name = %s AND column_name = %s",
            [table, column],
        )
        assert cursor.fetchone()[0] is not None
