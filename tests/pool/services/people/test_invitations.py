"""An invitation is one link, one use, one role, until a date."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection

from pool import clock
from pool.errors import Invalid, NotYours, TooMany
from pool.events import SYSTEM, Actor
from pool.models import Event, Invitation, Membership, User
from pool.services.memberships import membership_change, membership_remove
from pool.services.people import invitations
from pool.services.people.invitations import (
    invitation_accept,
    invitation_find,
    invitation_join,
    invitation_revoke,
    invitation_send,
)
from pool.services.people.leavers import user_leave
from pool.services.users import user_disable, user_enable
from tests import rows

pytestmark = pytest.mark.django_db


def sent(**given):
    project = given.pop("project", None) or rows.project()
    host = rows.member(project, role="lead")
    words = {"email": "ada@example.org", "role": "member", "project": project} | given
    return invitation_send(user=host, actor=Actor.of(host), **words)


def test_whoever_holds_the_link_joins_once():
    row, secret = sent()
    user = invitation_join(secret=secret, username="ada", password="a fine long word 7")
    assert user.email == "ada@example.org"
    assert Membership.objects.get(user=user).project == row.project
    row.refresh_from_db()
    assert row.accepted_by == user
    assert invitation_find(secret) is None
    with pytest.raises(NotYours):
        invitation_join(secret=secret, username="eve", password="a fine long word 7")
    assert not User.objects.filter(username="eve").exists()
    assert secret not in str(list(Event.objects.values_list("data", flat=True)))


def test_a_person_with_an_account_accepts_and_a_service_account_cannot():
    row, secret = sent(role="lead")
    robot = rows.user(service_account=True, service_project=row.project)
    with pytest.raises(Invalid):
        invitation_accept(secret=secret, user=robot, actor=SYSTEM)
    person = rows.user()
    invitation_accept(secret=secret, user=person, actor=Actor.of(person))
    assert Membership.objects.filter(user=person, role="lead").count() == 1


def test_late_revoked_replaced_and_wrong_links_open_nothing(monkeypatch):
    row, secret = sent()
    again, newer = invitation_send(
        email="ADA@example.org",
        role="member",
        project=row.project,
        user=row.invited_by,
        actor=SYSTEM,
    )
    assert invitation_find(secret) is None
    assert invitation_find(newer) == again
    assert invitation_find("") is None
    invitation_revoke(invitation=again, actor=SYSTEM)
    assert invitation_find(newer) is None
    _late, third = sent(email="bob@example.org", seconds=3600)
    real = clock.now
    monkeypatch.setattr(invitations, "now", lambda: real() + timedelta(hours=1, seconds=1))
    assert invitation_find(third) is None


def test_a_weak_password_or_taken_name_leaves_the_link_open():
    _row, secret = sent()
    taken = rows.user(username="Ada")
    for name, password in (("ada", "a fine long word 7"), ("eve", "1234")):
        with pytest.raises(Invalid):
            invitation_join(secret=secret, username=name, password=password)
    assert invitation_find(secret) is not None
    assert User.objects.filter(username__iexact="ada").get() == taken


def let_go(host, project):
    user_leave(user=host, actor=SYSTEM)


def removed(host, project):
    membership_remove(membership=host.memberships.get(project=project), actor=SYSTEM)


def demoted(host, project):
    held = host.memberships.get(project=project)
    membership_change(membership=held, role="member", actor=SYSTEM)


def demoted_to_a_role_already_held(host, project):
    Membership.objects.create(user=host, project=project, role="viewer")
    held = host.memberships.get(project=project, role="lead")
    membership_change(membership=held, role="viewer", actor=SYSTEM)


@pytest.mark.parametrize("end", [let_go, removed, demoted, demoted_to_a_role_already_held])
def test_who_manages_people_no_more_does_not_come_back_by_a_link_of_their_own(end):
    row, secret = sent(role="lead")
    _other, kept = sent(project=row.project, email="bob@example.org")
    end(row.invited_by, row.project)
    assert invitation_find(secret) is None
    with pytest.raises(NotYours):
        invitation_join(secret=secret, username="back", password="a fine long word 7")
    user_enable(user=row.invited_by, actor=SYSTEM)
    assert invitation_find(secret) is None
    told = Event.objects.get(kind="invitation.revoked")
    assert told.subject == f"invitation:{row.uid}"
    assert invitation_find(kept) is not None


def test_an_invitation_stays_where_another_role_of_its_sender_still_covers_it():
    row, secret = sent()
    host = row.invited_by
    place = row.project.organization
    above = Membership.objects.create(user=host, organization=place, role="org_admin")
    removed(host, row.project)
    assert invitation_find(secret) == row
    membership_remove(membership=above, actor=SYSTEM)
    assert invitation_find(secret) is None


def test_links_of_somebody_who_is_disabled_rest_even_when_found_just_before(monkeypatch):
    row, secret = sent()
    found = invitation_find(secret)
    user_disable(user=row.invited_by, actor=SYSTEM)
    assert invitation_find(secret) is None
    monkeypatch.setattr(invitations, "invitation_find", lambda _secret: found)
    with pytest.raises(NotYours):
        invitation_accept(secret=secret, user=rows.user(), actor=SYSTEM)
    monkeypatch.undo()
    user_enable(user=row.invited_by, actor=SYSTEM)
    assert invitation_find(secret) == row


@pytest.mark.parametrize(
    "wrong",
    [
        {"email": "no address"},
        {"role": "platform_admin"},
        {"role": "org_admin"},
        {"seconds": 60},
        {"seconds": 10**9},
        {"message": "x" * 501},
    ],
)
def test_wrong_words_are_refused(wrong):
    with pytest.raises(Invalid):
        sent(**wrong)
    assert not Invitation.objects.exists()


def test_a_place_has_at_most_two_hundred_open_invitations(monkeypatch):
    monkeypatch.setattr(invitations, "MOST_OPEN", 2)
    project = rows.project()
    for name in ("a", "b"):
        sent(email=f"{name}@example.org", project=project)
    with pytest.raises(TooMany):
        sent(email="c@example.org", project=project)


@pytest.mark.django_db(transaction=True)
def test_two_who_use_one_link_at_once_are_one():
    _row, secret = sent()

    def join(name):
        try:
            return invitation_join(secret=secret, username=name, password="a fine long word 7")
        except NotYours:
            return None
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        came = [one for one in pool.map(join, ["a1", "a2", "a3", "a4"]) if one is not None]
    assert len(came) == 1
    assert User.objects.filter(username__in=["a1", "a2", "a3", "a4"]).count() == 1
