"""Organizations, projects, people and roles: made, changed, let go."""

import pytest

from pool.errors import Invalid, NotYours
from pool.events import SYSTEM
from pool.lifecycle.roles import Role
from pool.models import Event, Membership, Organization, Project, User
from pool.services.memberships import membership_add, membership_remove
from pool.services.tenants import (
    organization_create,
    project_create,
    project_resume,
    project_suspend,
)
from pool.services.users import user_create, user_disable, user_enable
from portal.access.tokens import token_find, token_issue
from tests import factories as make

pytestmark = pytest.mark.django_db


def new_organization(**words):
    return organization_create(**({"slug": "acme", "name": "Acme", "actor": SYSTEM} | words))


def new_project(organization, **words):
    given = {"slug": "vision", "name": "Vision", "actor": SYSTEM}
    return project_create(organization=organization, **(given | words))


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"slug": ""}, "slug"),
        ({"slug": "Acme"}, "slug"),
        ({"slug": "-a"}, "slug"),
        ({"slug": "a" * 64}, "slug"),
        ({"slug": "名"}, "slug"),
        ({"slug": None}, "slug"),
        ({"name": " "}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"zone": "../etc/passwd"}, "zone"),
        ({"currency": "euro"}, "currency"),
    ],
)
def test_wrong_organizations_are_refused_by_field(words, field):
    with pytest.raises(Invalid) as refused:
        new_organization(**words)
    assert list(refused.value.detail) == [field]
    assert not Organization.objects.exists() and not Event.objects.exists()


def test_a_slug_is_taken_once():
    home = new_organization()
    new_project(home)
    with pytest.raises(Invalid, match="acme is taken"):
        new_organization()
    with pytest.raises(Invalid, match="vision is taken"):
        new_project(new_organization(slug="other"))


def test_every_project_has_its_own_accounts_and_trust_group():
    home = new_organization()
    rows = [new_project(home, slug=slug) for slug in ("a", "b", "c")]
    assert [row.uid_base for row in rows] == [200_000, 210_000, 220_000]
    assert len({row.trust_group_id for row in rows}) == 3


def test_suspending_and_resuming_are_told_once():
    project = new_project(new_organization())
    for _ in range(2):
        assert project_suspend(project=project, reason="budget", actor=SYSTEM).suspended
    for _ in range(2):
        assert not project_resume(project=project, actor=SYSTEM).suspended
    kinds = list(Event.objects.values_list("kind", flat=True))
    assert (kinds.count("project.suspended"), kinds.count("project.resumed")) == (1, 1)
    with pytest.raises(Invalid):
        project_suspend(project=project, reason="", actor=SYSTEM)


def test_a_project_that_is_not_there_is_nobodys():
    with pytest.raises(NotYours):
        project_resume(project=Project(pk=999), actor=SYSTEM)


@pytest.mark.parametrize(
    ("words", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "x" * 151}, "username"),
        ({"username": "MEI"}, "username"),
        ({"password": "12345"}, "password"),
        ({"email": "nobody"}, "email"),
        ({"display_name": "x" * 121}, "display_name"),
    ],
)
def test_wrong_people_are_refused_by_field(words, field):
    make.user("mei")
    with pytest.raises(Invalid) as refused:
        user_create(**({"username": "new", "actor": SYSTEM} | words))
    assert list(refused.value.detail) == [field]
    assert User.objects.count() == 1


def test_without_a_password_nobody_can_log_in():
    assert not user_create(username="robot", actor=SYSTEM).has_usable_password()


def test_a_leaver_cannot_use_a_token_and_may_come_back():
    user = user_create(username="mei", actor=SYSTEM)
    _, plain = token_issue(user=user, name="script", actor=SYSTEM)
    for _ in range(2):
        user_disable(user=user, actor=SYSTEM)
    assert token_find(plain) is None
    user_enable(user=user, actor=SYSTEM)
    assert token_find(plain).user == user
    assert Event.objects.filter(kind="user.disabled").count() == 1


def test_the_last_platform_admin_stays():
    pat = make.user("pat", Role.PLATFORM_ADMIN)
    role = pat.memberships.get()
    with pytest.raises(Invalid, match="last platform admin"):
        membership_remove(membership=role, actor=SYSTEM)
    with pytest.raises(Invalid, match="last platform admin"):
        user_disable(user=pat, actor=SYSTEM)
    make.user("pia", Role.PLATFORM_ADMIN)
    membership_remove(membership=role, actor=SYSTEM)
    with pytest.raises(NotYours):
        membership_remove(membership=role, actor=SYSTEM)


def test_a_role_is_given_once_and_told_once():
    project, mei = make.project(), make.user("mei")
    for _ in range(2):
        membership_add(user=mei, role=Role.MEMBER, project=project, actor=SYSTEM)
    assert Membership.objects.count() == 1
    event = Event.objects.get(kind="membership.changed")
    assert (event.project_id, event.data["role"], event.data["what"]) == (
        project.pk,
        "member",
        "added",
    )


@pytest.mark.parametrize(
    ("role", "where"),
    [
        ("platform_admin", "project"),
        ("org_admin", "project"),
        ("lead", "organization"),
        ("member", None),
        ("king", "project"),
        (None, "project"),
    ],
)
def test_a_role_in_the_wrong_place_is_refused(role, where):
    project = make.project()
    place = {"project": project, "organization": project.organization}.get(where)
    words = {where: place} if where else {}
    with pytest.raises(Invalid):
        membership_add(user=make.user(), role=role, actor=SYSTEM, **words)
    assert not Membership.objects.exists()
