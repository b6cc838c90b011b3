"""Live pages and notebooks shut with the log-in: expired sessions, missing second factors."""

from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session

from pool.clock import now
from pool.models import Delegation, Membership
from portal.access.second_factor import lacking
from portal.access.sessions import session_lives, sessions_forget
from portal.live.reading import sight, still_reads
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def session():
    made = SessionStore()
    made.create()
    return made.session_key


def expired(key):
    Session.objects.filter(pk=key).update(expire_date=now() - timedelta(seconds=1))


def test_a_session_that_has_expired_is_over_though_its_row_is_there_until_it_is_tidied(session):
    person = rows.member(rows.project())
    assert sight(person.pk, session) is not None
    assert sessions_forget() == 0
    expired(session)
    assert not session_lives(session)
    assert sight(person.pk, session) is None
    assert not still_reads(person.pk, None, session, "wl-1")
    assert sessions_forget() == 1


def test_live_pages_want_the_second_factor_that_pages_want(session, settings):
    admin = rows.user()
    Membership.objects.create(user=admin, role="platform_admin")
    assert sight(admin.pk, session) is not None
    settings.MFA_REQUIRED_ROLES = ["platform_admin"]
    assert sight(admin.pk, session) is None


def test_a_deputy_needs_the_second_factor_of_the_role_that_is_lent(settings):
    settings.MFA_REQUIRED_ROLES = ["org_admin"]
    project = rows.project()
    chief, deputy = rows.user(), rows.member(project)
    Membership.objects.create(user=chief, role="org_admin", organization=project.organization)
    assert not lacking(deputy)
    span = (now() - timedelta(hours=1), now() + timedelta(hours=1))
    lent = Delegation.objects.create(person=chief, deputy=deputy, span=span)
    assert lacking(deputy)
    Delegation.objects.filter(pk=lent.pk).update(ended_at=now())
    assert not lacking(deputy)
