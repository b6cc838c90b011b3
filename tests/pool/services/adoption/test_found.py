"""Books older than the work on a node: it is told, kept apart, adopted or ended by a person."""

from dataclasses import replace as changed
from datetime import timedelta

import pytest
from msgspec.structs import replace

from nodeagent.execute import origin_of
from nodeagent.protocol.vocabulary import WorkFound
from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.round import run_rounds
from pool.errors import IllegalMove, Invalid, QuotaExceeded
from pool.events import SYSTEM
from pool.lifecycle.found import FoundState
from pool.models import Alert, Attempt, Card, Event, FoundWork, Hold, Placement, Slice, Workload
from pool.models.catalogue.secrets import Secret
from pool.models.catalogue.uses import SecretUse
from pool.sealing import seal
from pool.selectors.catalogue.desired import given_on
from pool.selectors.desired import desired_of
from pool.services.adoption.adopt import Home, found_adopt, found_stop
from pool.services.adoption.seen import _turn
from pool.services.installation import epoch_raise
from tests import rows
from tests.pool.place import free, seen, settled

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    return settled()


@pytest.fixture
def stranger(place):
    """A workload that runs and that a restored backup does not hold."""
    work = place.submit(need={"profile": "1g.10gb"})
    wish = place.node.turn()
    wish = desired_of(node=place.node.row)
    place.node.turn()
    (one,) = wish.work
    forgotten(place, work)
    before = place.node.work[one.attempt]
    place.node.work[one.attempt] = replace(before, origin=origin_of(one, wish))
    place.uid, place.attempt, place.slice = work.uid, one.attempt, one.slices[0]
    return place


def forgotten(place, work, *, whole=True):
    """The books as before its start, in a new epoch."""
    slices = list(Hold.objects.filter(slice__isnull=False).values_list("slice", flat=True))
    Hold.objects.all().delete()
    Placement.objects.all().delete()
    Attempt.objects.all().delete()
    Slice.objects.filter(pk__in=slices).delete()
    if whole:
        Workload.objects.filter(pk=work.pk).delete()
    else:
        Workload.objects.filter(pk=work.pk).update(
            state="queued", attempts_made=0, started_at=None, deadline=None
        )
    place.quota.held = 0
    place.quota.save()
    epoch_raise(reason="a restored backup", actor=SYSTEM)


def home(place, **words):
    version = rows.template()
    who = rows.member(place.into)
    return Home(project=place.into, owner=who, template_version=version, **words)


def test_it_is_told_once_and_its_card_is_nobodys_while_it_runs(stranger):
    for _ in range(3):
        stranger.node.tell()
    (row,) = FoundWork.objects.all()
    assert (row.state, row.attempt, row.told_workload) == (
        "running",
        stranger.attempt,
        stranger.uid,
    )
    assert Alert.objects.get(key__startswith="found:").state == "firing"
    assert Event.objects.filter(kind="found_work.seen").count() == 1
    assert Card.objects.get(uuid=row.cards[0]).state == "contested"
    stranger.node.end(stranger.attempt, stranger.uid, code=3)
    assert stranger.node.tell().closed == (stranger.attempt,)
    assert (seen(row).state, row.exit_code) == (FoundState.OVER, 3)
    stranger.node.slices = {}
    stranger.node.tell()
    assert Card.objects.get(uuid=row.cards[0]).state == "ready"
    assert Alert.objects.get(key__startswith="found:").state == "resolved"


def test_its_card_is_nobodys_as_soon_as_its_node_tells_as_what_it_was_started(stranger):
    """The node tells that it is there before it has the wish in which it is missing."""
    whole = stranger.node.work[stranger.attempt]
    stranger.node.work[stranger.attempt] = replace(whole, origin=None)
    stranger.node.tell()
    (row,) = FoundWork.objects.all()
    assert (row.cards, row.origin) == ([], None)
    with pytest.raises(Invalid, match="in a moment"):
        found_adopt(found=row, home=home(stranger), actor=SYSTEM)
    FoundWork.objects.update(found_at=now() - timedelta(minutes=2))
    with pytest.raises(Invalid, match="any more"):
        found_adopt(found=seen(row), home=home(stranger), actor=SYSTEM)
    stranger.node.work[stranger.attempt] = whole
    stranger.node.tell()
    assert seen(row).origin is not None
    assert Card.objects.get(uuid=row.cards[0]).state == "contested"
    assert found_adopt(found=row, home=home(stranger), actor=SYSTEM).uid == stranger.uid


def test_a_person_adopts_it_and_it_ends_as_any_work_with_all_given_back(stranger):
    stranger.node.tell()
    (row,) = FoundWork.objects.all()
    work = found_adopt(found=row, home=home(stranger, name="kept"), actor=SYSTEM)
    assert (work.uid, seen(work).state, seen(row).state) == (stranger.uid, "placed", "adopted")
    assert stranger.held > 0
    wish = stranger.node.pull()
    assert [(one.attempt, str(one.wanted)) for one in wish.work] == [(stranger.attempt, "run")]
    assert [one.uid for one in wish.slices] == [stranger.slice]
    stranger.node.tell()
    assert seen(work).state == "running"
    assert Card.objects.get(uuid=row.cards[0]).state == "ready"
    assert breaches_now() == []
    stranger.node.finish(work, code=0)
    stranger.node.tell()
    assert seen(work).state == "succeeded"
    free(stranger)


def test_a_person_ends_it_by_the_nodes_next_wish(stranger):
    stranger.node.tell()
    (row,) = FoundWork.objects.all()
    for _ in range(2):
        found_stop(found=row, actor=SYSTEM, reason="nobody knows it")
    assert stranger.node.pull().closed == (stranger.attempt,)
    assert stranger.node.tell().closed == (stranger.attempt,)
    assert seen(row).state == "over"
    with pytest.raises(IllegalMove):
        found_stop(found=row, actor=SYSTEM)
    assert stranger.node.pull().closed == ()


def test_it_is_not_adopted_over_a_limit_nor_for_a_stranger_nor_unknown(stranger):
    stranger.node.tell()
    (row,) = FoundWork.objects.all()
    stranger.quota.limit_value = stranger.quota.ceiling = 1
    stranger.quota.save()
    right = home(stranger)
    with pytest.raises(QuotaExceeded):
        found_adopt(found=row, home=right, actor=SYSTEM)
    with pytest.raises(Invalid, match="owner"):
        found_adopt(found=row, home=changed(right, owner=rows.user()), actor=SYSTEM)
    row.origin = None
    with pytest.raises(Invalid, match="found"):
        found_adopt(found=row, home=right, actor=SYSTEM)
    assert not Workload.objects.exists()
    assert seen(row).state == "running"


def test_what_waits_in_the_old_books_is_adopted_by_itself_and_never_started_again(place):
    work = place.submit(need={"profile": "1g.10gb"})
    place.node.turn()
    wish = desired_of(node=place.node.row)
    place.node.turn()
    (one,) = wish.work
    forgotten(place, work, whole=False)
    run_rounds()
    assert seen(work).state == "queued"
    before = place.node.work[one.attempt]
    place.node.work[one.attempt] = replace(before, origin=origin_of(one, wish))
    place.node.tell()
    assert seen(work).state == "placed"
    assert Attempt.objects.get().uid == one.attempt
    place.node.turn()
    assert seen(work).state == "running"
    run_rounds()
    assert Attempt.objects.count() == 1
    assert FoundWork.objects.get().workload == work


def test_an_end_that_nobody_knew_is_kept_and_the_node_may_forget_it(place):
    place.node.turn()
    place.node.found("at-old", "wl-old", WorkFound.RUNNING)
    place.node.end("at-old", "wl-old", code=7)
    assert place.node.tell().closed == ("at-old",)
    row = FoundWork.objects.get()
    assert (row.state, row.exit_code) == ("over", 7)
    assert not Alert.objects.filter(key__startswith="found:").exists()


def waiting(place, **changes):
    """Work that the old books keep in the queue, and its node tells as running with `changes`."""
    work = place.submit(need={"profile": "1g.10gb"})
    place.node.turn()
    wish = desired_of(node=place.node.row)
    place.node.turn()
    (one,) = wish.work
    forgotten(place, work, whole=False)
    before = place.node.work[one.attempt]
    origin = replace(origin_of(one, wish), **changes)
    place.node.work[one.attempt] = replace(before, origin=origin)
    return work


@pytest.mark.parametrize(
    "changes",
    [
        {"command": ("sh", "-c", "cat secrets")},
        {"image": "other/image"},
        {"account": "uid:0"},
        {"project": "another"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_node_does_not_get_waiting_work_by_saying_that_it_runs_it(place, changes):
    work = waiting(place, **changes)
    place.node.tell()
    assert seen(work).state == "queued"
    assert not Attempt.objects.filter(workload=work).exists()
    assert Alert.objects.get(key__startswith="found:").state == "firing", "a person decides"


def test_a_node_that_ran_the_work_before_is_believed(place):
    work = waiting(place, command=("changed", "since"))
    Attempt.objects.create(
        workload=work, number=7, node=place.node.row, state="ended", exit_reason="own_error"
    )
    place.node.tell()
    assert seen(work).state != "queued"


def test_what_a_node_took_by_its_word_is_told_no_secrets(place):
    work = waiting(place)
    place.node.tell()
    (attempt,) = Attempt.objects.filter(workload=work)
    Workload.objects.filter(pk=work.pk).update(state="placed")
    sealed = {"sealed": seal("hush"), "set_at": now()}
    secret = Secret.objects.create(project=work.project, name="TOKEN", **sealed)
    SecretUse.objects.create(workload=work, secret=secret, form="env", name="TOKEN")
    (given,) = given_on(attempts=[seen(attempt)]).values()
    assert (given.env, given.files) == ({}, {})


def test_adoption_that_is_refused_is_not_tried_with_each_report_for_ever():
    ages = [timedelta(seconds=600 + at) for at in range(0, 60, 10)]
    assert _turn(FoundWork(found_at=now() - timedelta(seconds=30)))
    assert sum(_turn(FoundWork(found_at=now() - age)) for age in ages) == 1
