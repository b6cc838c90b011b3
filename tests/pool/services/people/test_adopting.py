"""Whose names accounts bear: known again after an upgrade, and said by an administrator."""

from importlib import import_module

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from pool.events import SYSTEM, Actor
from pool.models import Event, User
from pool.services.users import user_create

pytestmark = pytest.mark.django_db

MOVED = import_module("pool.migrations.0037_folders_and_people_as_named")
LDAP = Actor("system", "ldap", "ldap")
FILE = Actor("system", "configuration", "configuration")


def source_of(name):
    return User.objects.get(username=name).source


def test_accounts_that_the_directory_or_a_file_made_are_known_again_and_no_others():
    user_create(username="ada", actor=LDAP)
    user_create(username="filed", actor=FILE)
    user_create(username="local", actor=SYSTEM)
    user_create(username="worded", actor=LDAP, password="a long word of its own 1")
    user_create(username="robot", actor=FILE, service_account=True)
    user_create(username="signed", actor=LDAP, source="oidc")
    with connection.schema_editor() as editor:
        MOVED.people_known_again(None, editor)
    found = {name: source_of(name) for name in ("ada", "filed", "local", "worded", "robot")}
    assert found == {"ada": "ldap", "filed": "file", "local": "", "worded": "", "robot": ""}
    assert source_of("signed") == "oidc"


def test_an_administrator_says_that_an_account_is_the_directorys():
    row = user_create(username="ada", actor=SYSTEM)
    for _ in range(2):
        call_command("directory_adopt", "ada")
    assert source_of("ada") == "ldap"
    told = Event.objects.filter(kind="user.changed", subject=f"user:{row.uid}")
    assert [one.data["source"] for one in told] == [["", "ldap"]]


def test_a_robot_an_account_with_a_password_and_nobody_are_not_adopted():
    user_create(username="robot", actor=SYSTEM, service_account=True)
    user_create(username="worded", actor=SYSTEM, password="a long word of its own 1")
    for name in ("robot", "worded", "nobody"):
        with pytest.raises(CommandError):
            call_command("directory_adopt", name)
    assert not User.objects.exclude(source="").exists()
