"""A ticket is good once and for a minute; a cookie for one notebook, as long as its login lives."""

from datetime import timedelta

import pytest
from django.contrib.sessions.backends.db import SessionStore

from pool.clock import now
from pool.errors import Forbidden
from pool.events import SYSTEM
from pool.services.notebooks.shares import notebook_share
from portal.access.passes import guest_of, passes_forget, ticket_issue, ticket_spend
from portal.models import GatewayPass
from tests import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def work():
    return rows.workload(kind="notebook", command=["jupyter", "lab"])


@pytest.fixture
def session():
    made = SessionStore()
    made.create()
    return made


def entered(work, session):
    """The cookie of the owner, who has used a ticket."""
    plain = ticket_issue(workload=work, user=work.owner, session_key=session.session_key)
    return ticket_spend(plain=plain, uid=work.uid)


def test_a_ticket_is_spent_once(work, session):
    plain = ticket_issue(workload=work, user=work.owner, session_key=session.session_key)
    assert ticket_spend(plain=plain, uid="wl-other") is None
    cookie = ticket_spend(plain=plain, uid=work.uid)
    assert cookie
    assert ticket_spend(plain=plain, uid=work.uid) is None
    assert guest_of(cookie=cookie, uid=work.uid).user == work.owner.pk


def test_a_ticket_is_old_after_a_minute(work, session):
    plain = ticket_issue(workload=work, user=work.owner, session_key=session.session_key)
    GatewayPass.objects.update(ticket_until=now() - timedelta(seconds=1))
    assert ticket_spend(plain=plain, uid=work.uid) is None


def test_a_cookie_opens_no_other_notebook(work, session):
    other = rows.workload(kind="notebook", into=work.project, owner=work.owner)
    assert guest_of(cookie=entered(work, session), uid=other.uid) is None


def test_a_logout_shuts_the_door(work, session):
    cookie = entered(work, session)
    session.delete()
    assert guest_of(cookie=cookie, uid=work.uid) is None


def test_who_loses_the_project_is_out(work, session):
    cookie = entered(work, session)
    work.owner.memberships.all().delete()
    assert guest_of(cookie=cookie, uid=work.uid) is None


@pytest.mark.parametrize("role", ["lead", "member", "viewer"])
def test_nobody_gets_a_ticket_to_another_s_notebook(work, session, role):
    other = rows.member(work.project, role=role)
    with pytest.raises(Forbidden):
        ticket_issue(workload=work, user=other, session_key=session.session_key)


def test_a_job_cannot_be_entered(session):
    job = rows.workload()
    with pytest.raises(Forbidden):
        ticket_issue(workload=job, user=job.owner, session_key=session.session_key)


def test_old_passes_are_forgotten(work, session):
    entered(work, session)
    assert passes_forget() == 0
    GatewayPass.objects.update(until=now() - timedelta(seconds=1))
    assert passes_forget() == 1


def test_what_one_owner_shared_is_not_the_word_of_the_next(work, session):
    viewer = rows.member(work.project, role="viewer")
    notebook_share(workload=work, user=work.owner, until=now() + timedelta(days=3), actor=SYSTEM)
    words = {"workload": work, "user": viewer, "session_key": session.session_key, "reads": True}
    cookie = ticket_spend(plain=ticket_issue(**words), uid=work.uid, reads=True)
    assert guest_of(cookie=cookie, uid=work.uid, reads=True)
    work.owner = rows.member(work.project)
    work.save(update_fields=["owner"])
    assert guest_of(cookie=cookie, uid=work.uid, reads=True) is None
    with pytest.raises(Forbidden):
        ticket_issue(**words)
