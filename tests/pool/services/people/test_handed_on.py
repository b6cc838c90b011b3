"""What a leaver's folders and schedules become in the hands of an heir."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.events import SYSTEM
from pool.models import Attempt, Event, Node, Notice, Storage, StorageUse
from pool.rules.catalogue import Mounted, Told, root_of
from pool.selectors.catalogue.desired import given_on, watched
from pool.selectors.notebooks.shares import share_open
from pool.services.catalogue.giving import work_submit
from pool.services.catalogue.judging import Given, given_kept
from pool.services.catalogue.secrets import secret_set
from pool.services.catalogue.storage import storage_create
from pool.services.notebooks.shares import notebook_share
from pool.services.people.leavers import leavers_due, user_leave
from pool.services.series.firing import schedule_run_now
from pool.services.series.schedules import schedule_change, schedule_resume
from tests import rows
from tests.portal.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.handmade_books]


@pytest.fixture
def world():
    return World()


@pytest.fixture
def heir(world):
    return rows.member(world.own.project, username="heir")


def given_to_heir(world, heir):
    user_leave(user=world.own.owner, actor=SYSTEM, heir=heir)
    leavers_due()


def roots():
    return {one.path for one in watched()}


def test_a_handed_on_folder_lies_below_the_same_root_and_is_for_one_person(world, heir):
    person = world.own.owner
    mine = storage_create(
        name="mine", user=person, kind="scratch", path="/data/{user}", create=True, actor=SYSTEM
    )
    before = (root_of(mine.path), roots())
    given_to_heir(world, heir)
    mine.refresh_from_db()
    assert (mine.user, root_of(mine.path), roots()) == (heir, *before)
    node = world.node
    Node.objects.filter(pk=node.pk).update(host=node.host | {"mounts": ["/data"]})
    made = work_submit(
        user=heir,
        project=world.own.project,
        template_version=world.version,
        command=["true"],
        actor=SYSTEM,
        given=Given(mounts=[Mounted(mine.uid, "data")]),
    )
    use = StorageUse.objects.get(workload=made)
    assert use.path == f"/data/{person.username}"
    run = Attempt.objects.create(workload=made, number=1, node=node)
    (mount,) = given_on(attempts=[run])[run.pk].mounts
    assert (mount.root, mount.tail, mount.shared) == ("/data", person.username, False)


def test_a_folder_handed_on_twice_is_still_the_first_ones(world, heir):
    person = world.own.owner
    row = storage_create(
        name="mine", user=person, kind="scratch", path="/data/{user}", create=True, actor=SYSTEM
    )
    given_to_heir(world, heir)
    user_leave(user=heir, actor=SYSTEM, heir=rows.member(world.own.project, username="next"))
    leavers_due()
    assert Storage.objects.get(pk=row.pk).named_for == person.username


def test_an_heirs_schedule_runs_without_the_leavers_secrets_and_the_heir_is_told(world, heir):
    row, person = world.own.schedule, world.own.owner
    hidden, _ = secret_set(name="MINE", value="mine", user=person, actor=SYSTEM)
    told = [Told(hidden.uid, "MINE"), Told(world.own.secret.uid, "TOKEN")]
    row.given = given_kept(Given(secrets=told))
    row.save()
    given_to_heir(world, heir)
    row.refresh_from_db()
    assert row.owner == heir
    assert [one["name"] for one in row.given["secrets"]] == ["TOKEN"]
    (notice,) = Notice.objects.filter(user=heir, about=f"schedule:{row.uid}")
    assert notice.values["count"] == 1
    schedule_change(schedule=row, user=heir, actor=SYSTEM, cron="0 3 * * *")
    run = schedule_run_now(schedule=row, actor=SYSTEM)
    assert (run.outcome, run.workload.owner) == ("started", heir), run.why


def test_who_resumes_a_schedule_without_an_owner_does_so_without_the_leavers_secrets(world):
    row, person = world.own.schedule, world.own.owner
    hidden, _ = secret_set(name="MINE", value="mine", user=person, actor=SYSTEM)
    row.given = given_kept(Given(secrets=[Told(hidden.uid, "MINE")]))
    row.save()
    user_leave(user=person, actor=SYSTEM)
    leavers_due()
    lead = world.own.people["lead"].user
    row.refresh_from_db()
    taken = schedule_resume(schedule=row, user=lead, actor=SYSTEM)
    taken.refresh_from_db()
    assert (taken.owner, taken.given["secrets"]) == (lead, [])
    told = Event.objects.get(kind="owner.changed", subject=f"schedule:{row.uid}")
    assert told.data == {"before": person.uid, "after": lead.uid}


def test_whoever_inherits_the_same_schedule_again_is_told_again(world, heir):
    row, person = world.own.schedule, world.own.owner
    for count in (1, 2):
        hidden, _ = secret_set(name=f"MINE{count}", value="mine", user=person, actor=SYSTEM)
        row.owner, row.given = person, given_kept(Given(secrets=[Told(hidden.uid, "MINE")]))
        row.save()
        person.is_active, person.left_at = True, None
        person.save()
        given_to_heir(world, heir)
        row.refresh_from_db()
        assert row.owner == heir
        assert Notice.objects.filter(user=heir, about=f"schedule:{row.uid}").count() == count


def test_a_given_thing_that_is_gone_bars_no_other_change(world):
    row = world.own.schedule
    row.given = given_kept(Given(secrets=[Told("sc-gone", "TOKEN")]))
    row.save()
    schedule_change(schedule=row, user=row.owner, actor=SYSTEM, cron="0 3 * * *")
    row.refresh_from_db()
    assert row.cron == "0 3 * * *"


def test_an_heirs_notebook_is_shared_no_more(world, heir):
    person, project = world.own.owner, world.own.project
    book = rows.workload(into=project, owner=person, kind="notebook", state="stopped")
    until = now() + timedelta(days=3)
    share = notebook_share(workload=book, user=person, until=until, actor=SYSTEM)
    given_to_heir(world, heir)
    book.refresh_from_db()
    share.refresh_from_db()
    assert (book.owner, share_open(workload=book)) == (heir, None)
    assert share.ended_at is not None
    told = Event.objects.filter(kind="notebook.shared").order_by("pk")
    assert [one.data["shared"] for one in told] == [True, False]
