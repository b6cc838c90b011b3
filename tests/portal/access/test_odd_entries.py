"""Odd entries of a directory or a provider: told, left out, and nobody else's matter."""

import pytest

from pool.errors import PoolError
from pool.events import SYSTEM
from pool.models import Membership, User
from pool.services.people.groups import group_role_set
from portal.access import directory, single_sign_on
from portal.access.directory import Person, directory_sync
from portal.access.single_sign_on import free_name
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def lists(monkeypatch):
    """A directory that lists these people."""

    def listing(*people):
        class Answers:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                return None

        monkeypatch.setattr(directory, "_open", lambda *_: Answers())
        monkeypatch.setattr(directory, "_groups", lambda _: [])
        monkeypatch.setattr(directory, "_people", lambda *_: iter(people))
        monkeypatch.setattr(directory, "_with_groups", lambda person, _: person)

    return listing


def person(name, **words):
    return Person(f"uid={name}", name, groups=("vision",), **words)


def test_one_odd_entry_keeps_nobody_from_their_roles(lists):
    project = rows.project(slug="vision")
    group_role_set(source="ldap", group="vision", role="member", project=project, actor=SYSTEM)
    gone = rows.user(username="gone", source="ldap")
    Membership.objects.create(user=gone, project=project, role="member", source="ldap")
    lists(
        person("with blank"),
        person("ada", email="not an address", display_name="Ada\nLovelace"),
        person("\x00"),
        person("bob", email="bob@example.org", display_name="Bob"),
    )
    read = directory_sync()
    assert (read.created, read.given, read.taken) == (2, 2, 1)
    ada, bob = User.objects.get(username="ada"), User.objects.get(username="bob")
    assert (ada.email, ada.display_name, ada.source) == ("", "", "ldap")
    assert (bob.email, bob.display_name) == ("bob@example.org", "Bob")


def test_one_person_whose_roles_cannot_be_read_keeps_no_other(lists, monkeypatch):
    project = rows.project(slug="vision")
    group_role_set(source="ldap", group="vision", role="member", project=project, actor=SYSTEM)
    lists(person("ada"), person("bob"))
    real = directory.person_groups_read

    def fails(*, user, **words):
        if user.username == "ada":
            raise PoolError
        return real(user=user, **words)

    monkeypatch.setattr("pool.services.people.groups.person_groups_read", fails)
    assert directory_sync().given == 1
    assert Membership.objects.get().user.username == "bob"


def test_names_of_a_provider_are_apart_from_those_of_a_directory(settings):
    rows.user(username="taken")
    rows.user(username="other", unix_account="shared")
    assert free_name("chief") == "chief"
    assert [free_name("taken"), free_name("shared"), free_name("  ")] == [
        "taken-2",
        "shared-2",
        "person",
    ]
    settings.LDAP_URL = "ldap://127.0.0.1"
    assert [free_name("chief"), free_name("\n")] == ["sso-chief", "sso-person"]


def test_a_person_with_an_odd_name_at_the_provider_comes_in_without_it():
    row = single_sign_on._made(username="ada", display_name="Ada\nL", email="ada@example.org")
    assert (row.display_name, row.email, row.source) == ("", "", "oidc")
