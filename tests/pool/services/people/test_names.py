"""Names of people, their Unix accounts and addresses: nobody comes by another's."""

import pytest

from pool.clock import now
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Project, User
from pool.selectors.desired import UIDS_OF_A_PROJECT
from pool.services.memberships import membership_add
from pool.services.people.accounts import account_create
from pool.services.users import KEPT, user_create, user_disable, user_edit, user_enable
from tests import rows

pytestmark = pytest.mark.django_db


def test_a_user_name_is_never_another_s_unix_account_nor_the_other_way_round():
    rows.user(username="ada", unix_account="lovelace")
    with pytest.raises(Invalid):
        user_create(username="Lovelace", actor=SYSTEM)
    bob = user_create(username="bob", actor=SYSTEM)
    with pytest.raises(Invalid):
        user_edit(user=bob, actor=SYSTEM, allowed=KEPT, unix_account="ada")
    assert user_edit(user=bob, actor=SYSTEM, allowed=KEPT, unix_account="bob").unix_account == "bob"


def test_a_service_account_has_no_address():
    robot = account_create(project=rows.project(), username="ci", role="member", actor=SYSTEM)
    with pytest.raises(Invalid):
        user_edit(user=robot, actor=SYSTEM, allowed=KEPT, email="me@example.org")
    with pytest.raises(Invalid):
        user_create(username="r2", email="me@example.org", service_account=True, actor=SYSTEM)


def test_a_service_account_of_an_archived_project_stays_asleep():
    project = rows.project()
    robot = account_create(project=project, username="ci", role="member", actor=SYSTEM)
    user_disable(user=robot, actor=SYSTEM)
    Project.objects.filter(pk=project.pk).update(archived_at=now(), suspended=True)
    with pytest.raises(Invalid):
        user_enable(user=robot, actor=SYSTEM)
    Project.objects.filter(pk=project.pk).update(archived_at=None)
    assert user_enable(user=robot, actor=SYSTEM).is_active


def test_two_people_of_a_project_never_share_a_number_among_its_unix_accounts():
    project = rows.project()
    ada = rows.user(username="ada")
    bob = rows.user(username="bob", pk=ada.pk + UIDS_OF_A_PROJECT)
    membership_add(user=ada, role="member", project=project, actor=SYSTEM)
    with pytest.raises(Invalid, match="share an account with ada"):
        membership_add(user=bob, role="member", project=project, actor=SYSTEM)
    User.objects.filter(pk=bob.pk).update(unix_account="bob")
    membership_add(user=User.objects.get(pk=bob.pk), role="member", project=project, actor=SYSTEM)
