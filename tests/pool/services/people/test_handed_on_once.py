"""Handing on while others act: each thing is read anew under its lock, and goes over once."""

import pytest

from pool.events import SYSTEM
from pool.models import Attempt, Event, Membership, Notice, Storage, Workload
from pool.rules.arrays import Array
from pool.rules.catalogue import Mounted, Told
from pool.selectors.memberships import standing
from pool.services.catalogue.judging import Given, given_from, given_kept
from pool.services.catalogue.secrets import secret_set
from pool.services.catalogue.storage import storage_create
from pool.services.memberships import membership_change
from pool.services.people import belongings, closing, leavers
from pool.services.people.belongings import belongings_hand_over
from pool.services.people.closing import project_archive, project_reopen
from pool.services.people.leavers import leavers_due, user_leave
from pool.services.series.firing import schedule_run_now
from pool.services.series.schedules import schedule_resume
from pool.services.users import user_enable
from pool.services.workloads import workload_submit
from tests import rows
from tests.pool.many import many
from tests.pool.services.series.test_schedules import schedule
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def world():
    return World()


@pytest.fixture
def heir(world):
    return rows.member(world.own.project, username="heir")


def folder(person):
    return storage_create(name="mine", user=person, kind="scratch", path="/d/{user}", actor=SYSTEM)


def test_what_another_sweep_handed_on_meanwhile_is_not_handed_on_again(world, heir):
    person = world.own.owner
    row = folder(person)
    belongings_hand_over(user=person, heir=heir, actor=SYSTEM)
    told = Event.objects.filter(kind="owner.changed", subject=f"storage:{row.uid}")
    assert told.count() == 1
    heirs = standing(user=heir)
    assert belongings._given("user", person, heir, heirs, SYSTEM, row) is False
    row.refresh_from_db()
    assert (row.name, told.count()) == ("mine", 1)


def test_an_heir_who_has_left_too_gets_nothing(world, heir):
    row = folder(world.own.owner)
    user_leave(user=heir, actor=SYSTEM)
    heir.refresh_from_db()
    assert belongings_hand_over(user=world.own.owner, heir=heir, actor=SYSTEM) == 0
    assert Storage.objects.get(pk=row.pk).user == world.own.owner


def test_who_is_taken_back_in_the_middle_of_a_sweep_keeps_the_rest(world, heir, monkeypatch):
    own, person = world.own, world.own.owner

    def back(**_who):
        user_enable(user=person, actor=SYSTEM)
        return 0

    monkeypatch.setattr(leavers, "belongings_hand_over", back)
    user_leave(user=person, actor=SYSTEM, heir=heir)
    leavers_due()
    for row in (own.request, own.schedule, own.workload, own.lease.request):
        row.refresh_from_db()
    assert (own.request.requester, own.schedule.owner) == (person, person)
    assert own.lease.request.requester == person
    assert own.workload.state != "cancelled"


def test_a_project_reopened_in_the_middle_of_its_winding_down_keeps_the_rest(world, monkeypatch):
    own = world.own
    first = closing._withdrawn

    def reopened(actor, request):
        first(actor, request)
        project_reopen(project=own.project, actor=SYSTEM)

    monkeypatch.setattr(closing, "_withdrawn", reopened)
    project_archive(project=own.project, actor=SYSTEM, wind_down=True)
    closing.closings_due()
    for row in (own.lease, own.workload, own.schedule):
        row.refresh_from_db()
    assert (own.lease.state, own.schedule.state) == ("active", "active")
    assert own.workload.state != "cancelled"


def test_of_a_leavers_array_what_runs_goes_on_and_what_never_ran_is_cancelled_once():
    place = many()
    made = workload_submit(
        user=place.owner,
        project=place.project,
        template_version=place.version,
        command=["true"],
        array=Array("0-3"),
        actor=SYSTEM,
    )
    first = made.children.order_by("array_index").first()
    Workload.objects.filter(pk=first.pk).update(state="running")
    Attempt.objects.create(workload=first, number=1, node=place.node.row)
    user_leave(user=place.owner, actor=SYSTEM)
    leavers_due()
    states = list(made.children.order_by("array_index").values_list("state", flat=True))
    assert states == ["running", "cancelled", "cancelled", "cancelled"]
    made.refresh_from_db()
    assert (made.state, made.stop_reason) == ("active", "")
    events = Event.objects.count()
    leavers_due()
    assert Event.objects.count() == events


def test_who_becomes_the_same_once_more_hears_it_again(world):
    row = Membership.objects.get(user=world.own.people["lead"].user)
    told = Notice.objects.filter(user=row.user, kind="people")
    before = told.count()
    for role in ("member", "lead", "member", "lead"):
        membership_change(membership=row, role=role, actor=SYSTEM)
        row.refresh_from_db()
    assert told.count() == before + 4


def test_who_resumes_a_schedule_is_told_that_personal_things_stayed_behind(world, heir):
    row, person = world.own.schedule, world.own.owner
    hidden, _ = secret_set(name="MINE", value="mine", user=person, actor=SYSTEM)
    kept = [Told(hidden.uid, "MINE"), Told(world.own.secret.uid, "T")]
    mounts = [Mounted(folder(person).uid, "mine"), Mounted(world.own.storage.uid, "data")]
    row.given = given_kept(Given(mounts, kept))
    row.save()
    user_leave(user=person, actor=SYSTEM)
    leavers_due()
    row.refresh_from_db()
    schedule_resume(schedule=row, user=heir, actor=SYSTEM)
    row.refresh_from_db()
    left = given_from(row.given)
    assert [one.at for one in left.mounts] == ["data"]
    assert [one.name for one in left.secrets] == ["T"]
    assert Notice.objects.filter(user=heir, about=f"schedule:{row.uid}").exists()


def test_an_heirs_schedule_keeps_the_folder_that_came_along(world, heir):
    row, person = world.own.schedule, world.own.owner
    row.given = given_kept(Given([Mounted(folder(person).uid, "mine")]))
    row.save()
    user_leave(user=person, actor=SYSTEM, heir=heir)
    leavers_due()
    row.refresh_from_db()
    assert (row.owner, [one.at for one in given_from(row.given).mounts]) == (heir, ["mine"])


def test_the_first_refused_run_of_a_schedule_is_told_to_its_owner_and_those_after_it_are_not():
    place = many()
    secret, _new = secret_set(name="TOKEN", value="x", user=place.owner, actor=SYSTEM)
    other = rows.member(place.project)
    row = schedule(place, given=Given(secrets=[Told(secret.uid, "TOKEN")]))
    assert schedule_run_now(schedule=row, actor=SYSTEM).outcome == "started"
    hers = type(secret).objects.filter(pk=secret.pk)
    hers.update(user=other)
    told = Notice.objects.filter(user=place.owner, about=f"schedule:{row.uid}")
    assert not told.exists()
    for _ in range(3):
        assert schedule_run_now(schedule=row, actor=SYSTEM).outcome == "refused"
    assert told.count() == 1
    hers.update(user=place.owner)
    assert schedule_run_now(schedule=row, actor=SYSTEM).outcome == "started"
    hers.update(user=other)
    schedule_run_now(schedule=row, actor=SYSTEM)
    assert told.count() == 2
