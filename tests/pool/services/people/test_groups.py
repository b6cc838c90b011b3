"""Roles that a directory brings come and go with its groups; those given by hand stay."""

import pytest

from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Membership
from pool.services.memberships import membership_add, membership_change
from pool.services.people.accounts import account_create
from pool.services.people.groups import (
    directory_read,
    group_role_remove,
    group_role_set,
    person_groups_read,
)
from tests import rows

pytestmark = pytest.mark.django_db


def roles(user):
    return sorted(Membership.objects.filter(user=user).values_list("role", "source"))


def test_a_person_holds_what_their_groups_say_and_nothing_longer():
    project, person = rows.project(), rows.user()
    group_role_set(source="ldap", group="Vision", role="member", project=project, actor=SYSTEM)
    group_role_set(
        source="ldap",
        group="heads",
        role="org_admin",
        organization=project.organization,
        actor=SYSTEM,
    )
    membership_add(user=person, role="viewer", project=project, actor=SYSTEM)
    read = person_groups_read(
        user=person, source="ldap", groups=["vision", "heads", "other"], actor=SYSTEM
    )
    assert (read.given, read.taken) == (2, 0)
    assert roles(person) == [("member", "ldap"), ("org_admin", "ldap"), ("viewer", "")]
    again = person_groups_read(user=person, source="ldap", groups=["heads"], actor=SYSTEM)
    assert (again.given, again.taken) == (0, 1)
    person_groups_read(user=person, source="oidc", groups=[], actor=SYSTEM)
    assert roles(person) == [("org_admin", "ldap"), ("viewer", "")]


def test_whoever_the_directory_lists_no_more_loses_what_it_brought():
    project = rows.project()
    here, gone = rows.user(), rows.user()
    rule = group_role_set(source="ldap", group="v", role="member", project=project, actor=SYSTEM)
    both = {here.username: ["v"], gone.username: ["v"], "nobody-here": ["v"]}
    assert directory_read(source="ldap", people=both, actor=SYSTEM).given == 2
    assert directory_read(source="ldap", people={here.username: ["v"]}, actor=SYSTEM).taken == 1
    assert roles(gone) == []
    group_role_remove(group_role=rule, actor=SYSTEM)
    directory_read(source="ldap", people={here.username: ["v"]}, actor=SYSTEM)
    assert roles(here) == []


def test_the_last_platform_admin_stays_whatever_the_directory_says():
    person = rows.user()
    group_role_set(source="ldap", group="root", role="platform_admin", actor=SYSTEM)
    person_groups_read(user=person, source="ldap", groups=["root"], actor=SYSTEM)
    read = person_groups_read(user=person, source="ldap", groups=[], actor=SYSTEM)
    assert (read.taken, read.kept) == (0, 1)
    assert roles(person) == [("platform_admin", "ldap")]


def test_a_changed_role_is_one_given_by_hand():
    project, person = rows.project(), rows.user()
    row = membership_add(user=person, role="viewer", project=project, source="ldap", actor=SYSTEM)
    membership_change(membership=row, role="lead", actor=SYSTEM)
    person_groups_read(user=person, source="ldap", groups=[], actor=SYSTEM)
    assert roles(person) == [("lead", "")]
    with pytest.raises(Invalid):
        membership_change(membership=row, role="org_admin", actor=SYSTEM)


def test_a_service_account_is_of_one_project_and_never_leads():
    project = rows.project()
    robot = account_create(project=project, username="ci", role="member", actor=SYSTEM)
    assert robot.service_project == project
    assert not robot.has_usable_password()
    for wrong in ({"role": "lead"}, {"username": "CI"}):
        with pytest.raises(Invalid):
            account_create(
                **{"project": project, "username": "ci2", "role": "member"} | wrong, actor=SYSTEM
            )
