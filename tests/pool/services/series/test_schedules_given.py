"""What the runs of a schedule use: named once, by its owner, and given to each of them."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.errors import Forbidden, Invalid, Stale
from pool.events import SYSTEM
from pool.models import Event, Node, Request, Secret
from pool.rules.catalogue import Mounted, Told
from pool.services.catalogue.judging import Given
from pool.services.catalogue.secrets import secret_remove, secret_set
from pool.services.decisions import request_approve, request_decisions_due
from pool.services.series.firing import schedule_run_now
from pool.services.series.schedules import schedule_change
from tests import rows
from tests.pool.many import many
from tests.pool.services.series.test_schedules import schedule

pytestmark = pytest.mark.django_db


def given(place, **more):
    """A secret of the owner's as a variable, a folder beside the command."""
    folder = rows.storage(name="data", path="/srv/data")
    host = place.node.row.host | {"mounts": ["/srv/data"]}
    Node.objects.filter(pk=place.node.row.pk).update(host=host)
    secret, _new = secret_set(name="TOKEN", value="s3cret", user=place.owner, actor=SYSTEM)
    words = {"mounts": [Mounted(folder.uid, "data")], "secrets": [Told(secret.uid, "TOKEN")]}
    return Given(**words | more)


def test_what_the_runs_use_is_named_once_and_given_to_each_of_them():
    place = many()
    row = schedule(place, given=given(place))
    assert "s3cret" not in str(row.given)
    run = schedule_run_now(schedule=row, actor=SYSTEM)
    assert run.outcome == "started", run.why
    work = run.workload
    assert [(use.at, use.path) for use in work.storage_uses.all()] == [("data", "/srv/data")]
    assert [(use.name, use.form) for use in work.secret_uses.all()] == [("TOKEN", "env")]
    assert "/srv/data" in work.need["storage"]


def test_a_secret_that_is_gone_keeps_a_run_from_starting_and_the_history_says_so():
    place = many()
    row = schedule(place, given=given(place))
    secret_remove(secret=Secret.objects.get(), actor=SYSTEM, force=True)
    run = schedule_run_now(schedule=row, actor=SYSTEM)
    assert (run.outcome, run.workload) == ("refused", None)
    assert "secret" in run.why.lower()


def test_a_schedule_is_refused_what_its_owner_may_not_use_and_changes_only_by_its_owner():
    place = many()
    other, _new = secret_set(name="HERS", value="x", user=rows.member(place.project), actor=SYSTEM)
    with pytest.raises(Invalid):
        schedule(place, given=Given(secrets=[Told(other.uid, "HERS")]))
    row = schedule(place)
    with pytest.raises(Invalid):
        changed = Given(secrets=[Told(other.uid, "HERS")])
        schedule_change(schedule=row, user=place.owner, actor=SYSTEM, given=changed)
    with pytest.raises(Forbidden):
        schedule_change(schedule=row, user=rows.user(), actor=SYSTEM, given=Given())
    row.refresh_from_db()
    assert row.given["secrets"] == []


def test_whoever_decides_looks_again_when_the_runs_use_other_things():
    place = many(allowance=0)
    row = schedule(place)
    lead = rows.member(place.project, role="lead")
    asked, words = row.request, {"user": lead, "actor": SYSTEM, "weights": {"cost": 0}}
    read = asked.revision
    request_approve(request=asked, revision=read, delay_s=10, **words)
    schedule_change(schedule=row, user=place.owner, actor=SYSTEM, given=given(place))
    asked.refresh_from_db()
    assert (asked.revision, asked.pending_decision, asked.pending_until) == (read + 1, None, None)
    assert asked.given["secrets"]
    with pytest.raises(Stale):
        request_approve(request=asked, revision=read, **words)
    told = Event.objects.filter(kind="request.changed").latest("pk")
    assert told.data["changed"] == ["given"]
    Request.objects.update(pending_until=now() - timedelta(seconds=1))
    assert request_decisions_due(actor=SYSTEM) == 0
    assert Request.objects.get().state == "submitted"


def test_the_same_things_again_leave_the_decision_as_it_is():
    place = many(allowance=0)
    row = schedule(place)
    asked = row.request
    schedule_change(schedule=row, user=place.owner, actor=SYSTEM, given=Given(), cron="0 3 * * *")
    before, asked = asked.revision, Request.objects.get()
    assert asked.revision == before
