"""Somebody leaves: what ends now, what ends later, and who has the rest."""

from datetime import timedelta

import pytest

from pool import clock
from pool.errors import Invalid
from pool.events import SYSTEM
from pool.models import (
    Attempt,
    Delegation,
    Event,
    Membership,
    Notice,
    NoticeHook,
    SecretUse,
    Storage,
    User,
)
from pool.selectors.catalogue.desired import given_on
from pool.selectors.notebooks.wanted import home_of
from pool.selectors.people.living import person_living
from pool.services.catalogue.secrets import secret_set
from pool.services.catalogue.storage import storage_create
from pool.services.people import leavers
from pool.services.people.belongings import belongings_hand_over
from pool.services.people.leavers import leavers_due, user_leave
from pool.services.users import user_enable
from pool.services.workloads import workload_resume
from tests import rows
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def world():
    return World()


def test_waiting_work_is_cancelled_running_work_winds_down_and_the_heir_gets_the_rest(
    world, monkeypatch
):
    own, person = world.own, world.own.owner
    running = own.work(state="running", name="long")
    rest = own.work(kind="notebook", state="stopped", name="paper")
    heir = rows.member(own.project, username="heir")
    seen = person_living(user=person)
    assert (seen.workloads, seen.holding, seen.notebooks, seen.schedules) == (1, 1, 1, 1)

    user_leave(user=person, actor=SYSTEM, heir=heir, seconds=3600)
    assert leavers_due() == 0
    for row in (person, own.workload, running, rest, own.request, own.schedule):
        row.refresh_from_db()
    assert (person.is_active, person.heir) == (False, heir)
    assert not Membership.objects.filter(user=person).exists()
    assert (own.workload.state, running.state) == ("cancelled", "running")
    assert (rest.owner, own.request.requester, own.schedule.owner) == (heir, heir, heir)
    assert own.request.state == "submitted"
    own.lease.request.refresh_from_db()
    assert own.lease.request.requester == heir
    assert running.owner == person

    later = clock.now() + timedelta(seconds=3601)
    monkeypatch.setattr(leavers, "now", lambda: later)
    assert leavers_due() == 0
    running.refresh_from_db()
    assert running.state == "stopping"
    type(running).objects.filter(pk=running.pk).update(state="cancelled")
    assert leavers_due() == 1
    person.refresh_from_db()
    assert person.winds_down_at is None
    assert leavers_due() == 0


@pytest.fixture
def rest(world):
    """A resting notebook that is told a secret of its owner and one of its project."""
    mine, _ = secret_set(name="MINE", value="mine", user=world.own.owner, actor=SYSTEM)
    row = world.own.work(kind="notebook", state="stopped", name="paper")
    for secret in (mine, world.own.secret):
        SecretUse.objects.create(workload=row, secret=secret, name=secret.name)
    return row


def given_when_placed(world, work):
    type(work).objects.filter(pk=work.pk).update(state="placed", deadline="2099-01-01T00:00Z")
    run = Attempt.objects.create(workload_id=work.pk, number=1, node=world.node)
    return given_on(attempts=[run])[run.pk]


def test_an_heir_resumes_a_notebook_without_the_secrets_of_who_left(world, rest):
    heir = rows.member(world.own.project, username="heir")
    user_leave(user=world.own.owner, actor=SYSTEM, heir=heir)
    leavers_due()
    rest.refresh_from_db()
    assert rest.owner == heir
    workload_resume(workload=rest, actor=SYSTEM)
    given = given_when_placed(world, rest)
    assert (given.env, given.missing) == ({"TOKEN": "hush"}, [])


def test_a_node_is_told_a_personal_secret_only_for_its_persons_own_work(world, rest):
    type(rest).objects.filter(pk=rest.pk).update(owner=rows.member(world.own.project))
    given = given_when_placed(world, rest)
    assert (given.env, given.missing) == ({"TOKEN": "hush"}, ["MINE"])


def test_without_an_heir_requests_are_withdrawn_and_schedules_pause(world):
    own = world.own
    user_leave(user=own.owner, actor=SYSTEM)
    leavers_due()
    own.request.refresh_from_db()
    own.schedule.refresh_from_db()
    assert (own.request.state, own.schedule.state) == ("withdrawn", "paused")
    own.lease.refresh_from_db()
    assert own.lease.state == "active"


def test_no_time_stops_running_work_at_once(world):
    running = world.own.work(state="running")
    user_leave(user=world.own.owner, actor=SYSTEM, seconds=0)
    leavers_due()
    running.refresh_from_db()
    assert running.state == "stopping"


def test_an_approver_who_inherits_never_becomes_the_requester_of_what_they_approved(world):
    own = world.own
    lead = own.people["lead"].user
    user_leave(user=own.owner, actor=SYSTEM, heir=lead)
    leavers_due()
    own.lease.request.refresh_from_db()
    assert own.lease.request.requester == own.owner


def test_an_heir_must_be_somebody_else_who_works_there(world):
    own = world.own
    gone = rows.member(own.project, is_active=False)
    robot = own.account
    for heir in (own.owner, gone, robot, world.other.owner, own.people["viewer"].user):
        with pytest.raises(Invalid):
            user_leave(user=own.owner, actor=SYSTEM, heir=heir)
    own.owner.refresh_from_db()
    assert own.owner.is_active
    for seconds in (-1, 604_801, True):
        with pytest.raises(Invalid):
            user_leave(user=own.owner, actor=SYSTEM, seconds=seconds)


def test_the_last_platform_admin_stays_and_leaving_twice_is_leaving_once(world):
    with pytest.raises(Invalid):
        user_leave(user=world.admin.user, actor=SYSTEM)
    for _ in range(2):
        user_leave(user=world.own.owner, actor=SYSTEM)
    assert Event.objects.filter(kind="user.left").count() == 1


def test_who_is_taken_back_has_no_role_and_no_heir(world):
    person = world.own.owner
    user_leave(user=person, actor=SYSTEM)
    user_enable(user=person, actor=SYSTEM)
    back = User.objects.get(pk=person.pk)
    assert (back.is_active, back.left_at, back.winds_down_at) == (True, None, None)
    assert not back.memberships.exists()


def test_what_ran_and_came_back_to_the_queue_keeps_its_time_what_never_ran_does_not(world):
    back = world.own.work(name="preempted")
    Attempt.objects.create(workload=back, number=1, node=world.node, state="ended")
    user_leave(user=world.own.owner, actor=SYSTEM, seconds=3600)
    leavers_due()
    for row in (back, world.own.workload):
        row.refresh_from_db()
    assert (back.state, world.own.workload.state) == ("queued", "cancelled")


def test_doors_of_a_leaver_close_at_once(world):
    person, lead = world.own.owner, world.own.people["lead"].user
    span = (clock.now(), clock.now() + timedelta(days=3))
    lent = Delegation.objects.create(person=lead, deputy=person, span=span)
    NoticeHook.objects.create(user=person, url="https://example.org/in", secret="x")
    user_leave(user=person, actor=SYSTEM)
    lent.refresh_from_db()
    assert lent.ended_at is not None
    assert not NoticeHook.objects.filter(user=person).exists()


def test_a_leavers_own_folders_go_to_the_heir_under_a_free_name_and_stay_where_they_are(world):
    person = world.own.owner
    heir = rows.member(world.own.project, username="heir")
    words = {"kind": "scratch", "path": "/data/{user}", "create": True, "actor": SYSTEM}
    storage_create(name="Mine", user=heir, **words)
    storage_create(name="mine", user=person, **words)
    storage_create(name="other", user=person, **words)
    user_leave(user=person, actor=SYSTEM, heir=heir)
    leavers_due()
    rows_now = Storage.objects.filter(user=heir).order_by("pk")
    assert [(one.name, one.path, one.named_for) for one in rows_now] == [
        ("Mine", "/data/{user}", ""),
        (f"mine-{person.username}", "/data/{user}", person.username),
        ("other", "/data/{user}", person.username),
    ]
    assert not Storage.objects.filter(user=person).exists()
    told = Event.objects.filter(kind="owner.changed", subject__startswith="storage")
    assert told.count() == 2


def test_an_heirs_notebook_opens_with_the_files_of_who_left(world):
    person = world.own.owner
    heir = rows.member(world.own.project, username="heir")
    paper = world.own.work(kind="notebook", state="stopped", name="paper")
    before = home_of(paper)
    user_leave(user=person, actor=SYSTEM, heir=heir)
    leavers_due()
    paper.refresh_from_db()
    assert (paper.owner, home_of(paper)) == (heir, before)
    own = rows.workload(into=world.own.project, owner=heir, kind="notebook", state="stopped")
    assert home_of(own) != before


def test_the_heir_the_leads_and_nobody_else_are_told(world):
    person, lead = world.own.owner, world.own.people["lead"].user
    heir = rows.member(world.own.project, username="heir")
    for _ in range(2):
        user_leave(user=person, actor=SYSTEM, heir=heir)
    told = Notice.objects.filter(kind="people").values_list("user", "about")
    assert sorted(told) == sorted(
        [(heir.pk, f"user:{person.uid}"), (lead.pk, f"project:{world.own.project.uid}")]
    )


def test_an_organizations_environment_goes_only_to_somebody_of_it(world):
    person, row = world.own.owner, world.own.environment
    type(row).objects.filter(pk=row.pk).update(owner=person)
    stranger = world.other.people["member"].user
    for heir, owner in ((stranger, person), (world.own.people["viewer"].user, None)):
        belongings_hand_over(user=person, heir=heir, actor=SYSTEM)
        row.refresh_from_db()
        assert row.owner == (owner or heir)
