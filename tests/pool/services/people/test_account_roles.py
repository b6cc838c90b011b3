"""A service account stays what it was made for, whoever gives it roles."""

import pytest

from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import Membership
from pool.services.memberships import membership_add, membership_change
from pool.services.people.accounts import account_create
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    home = rows.project(slug="home")
    return account_create(project=home, username="robot", role="member", actor=SYSTEM)


def test_it_is_never_more_than_a_member_nor_anywhere_else(account):
    home = account.service_project
    elsewhere = rows.project(slug="elsewhere", organization=home.organization)
    for place in (
        {"role": "lead", "project": home},
        {"role": "member", "project": elsewhere},
        {"role": "org_admin", "organization": home.organization},
        {"role": "platform_admin"},
    ):
        with pytest.raises(Invalid):
            membership_add(user=account, actor=SYSTEM, **place)
    (row,) = Membership.objects.filter(user=account)
    with pytest.raises(Invalid):
        membership_change(membership=row, role="lead", actor=SYSTEM)
    assert membership_change(membership=row, role="viewer", actor=SYSTEM).role == "viewer"
