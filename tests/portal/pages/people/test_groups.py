"""Groups of directories and their roles, as a platform admin maps, changes and removes them."""

import pytest
from django.urls import reverse

from pool.events import SYSTEM
from pool.models import Event, GroupRole, Membership
from pool.services.people.groups import group_role_set
from portal.access.directory import DirectoryAway, Person
from portal.pages.people import groups
from tests import rows

WORDS = {"directory": "ldap", "group": "Vision", "role": "member", "place": "project:vision"}


@pytest.fixture
def listed(monkeypatch, settings):
    """A directory with two people in every group; one of them works here already."""
    settings.LDAP_URL = "ldap://127.0.0.1"
    people = [Person("uid=vision-member", "vision-member", "Mem Ber"), Person("uid=zoe", "Zoe", "")]
    monkeypatch.setattr(groups, "group_people", lambda _: people)


@pytest.fixture
def row(world):
    Membership.objects.create(
        user=rows.user(username="by-group"), project=world.own.project, role="lead", source="ldap"
    )
    return group_role_set(
        source="ldap", group="heads", role="lead", project=world.own.project, actor=SYSTEM
    )


def text_of(answer):
    return answer.content.decode()


def test_a_group_is_mapped_after_a_look_at_who_is_affected(visit, world, listed):
    admin = visit("platform_admin")
    before = GroupRole.objects.count()
    looked = admin.send("/groups/", WORDS)
    assert looked.status_code == 200
    assert "1 person gains the role" in text_of(looked) and "Zoe" in text_of(looked)
    assert "1 has it already" in text_of(looked)
    assert GroupRole.objects.count() == before
    assert admin.send("/groups/", WORDS | {"sure": "yes"}).status_code == 303
    made = GroupRole.objects.get(group="Vision")
    assert (made.source, made.role, made.project) == ("ldap", "member", world.own.project)
    told = Event.objects.filter(kind="group_role.changed").latest("id")
    assert told.data["what"] == "added"
    assert "Vision" in text_of(admin.open("/groups/?q=vis"))
    assert "No group has this in its name" in text_of(admin.open("/groups/?q=nobody"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"place": "project:nowhere"}, "No such place"),
        ({"place": "vision"}, "No such place"),
        ({"role": "org_admin"}, "Choose from"),
        ({"group": " "}, "required"),
    ],
)
def test_wrong_words_are_said_beside_their_fields(visit, world, words, said):
    answer = visit("platform_admin").send("/groups/", WORDS | words)
    assert answer.status_code == 422
    assert said in text_of(answer)


def test_a_look_says_why_it_cannot_tell(visit, world, settings, monkeypatch):
    admin = visit("platform_admin")
    assert "only when somebody logs in" in text_of(
        admin.send("/groups/", WORDS | {"directory": "oidc"})
    )
    assert "No directory is set up" in text_of(admin.send("/groups/", WORDS))
    settings.LDAP_URL = "ldap://127.0.0.1"

    def away(_):
        raise DirectoryAway("gone")

    monkeypatch.setattr(groups, "group_people", away)
    assert "does not answer" in text_of(admin.send("/groups/", WORDS))


def test_a_mapping_is_changed_and_removed_with_who_holds_its_role_in_sight(visit, world, row):
    admin = visit("platform_admin")
    page = text_of(admin.open(f"/groups/{row.uid}/"))
    assert "by-group" in page and "1 person holds the role by it" in page
    looked = text_of(admin.send(f"/groups/{row.uid}/", WORDS))
    assert "holds the role by the mapping as it was" in looked
    assert admin.send(f"/groups/{row.uid}/", WORDS | {"sure": "yes"}).status_code == 303
    assert not GroupRole.objects.filter(group="heads").exists()
    new = GroupRole.objects.get(group="Vision")
    assert admin.send(f"/groups/{new.uid}/remove/").status_code == 303
    assert not GroupRole.objects.filter(pk=new.pk).exists()
    whats = Event.objects.filter(kind="group_role.changed").order_by("id")
    assert [one.data["what"] for one in whats][-3:] == ["added", "removed", "removed"]


def test_only_platform_admins_see_groups_at_all(visit, world, row):
    for role in ("org_admin", "lead", "member", "stranger"):
        for path in ("/groups/", f"/groups/{row.uid}/", f"/groups/{row.uid}/remove/"):
            assert visit(role).send(path, WORDS).status_code == 403
    assert visit("platform_admin").open("/groups/gr-none/").status_code == 404
    assert "Groups and roles" in text_of(visit("platform_admin").open("/people/"))
    assert "Groups and roles" not in text_of(visit("org_admin").open("/people/"))


def test_many_mappings_come_page_by_page(visit, world):
    many = [GroupRole(source="ldap", group=f"cn=g{n}", role="platform_admin") for n in range(40)]
    GroupRole.objects.bulk_create(many)
    page = visit("platform_admin").open(reverse("groups")).content.decode()
    assert "cn=g39" in page and "cn=g1<" not in page and "before=" in page
