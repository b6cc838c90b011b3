"""What-ifs that are over long ago go; what is shared, young, or still replayed stays."""

from datetime import timedelta

import pytest
from django.db import IntegrityError

from pool.clock import now
from pool.models import Event, Study, Trace
from pool.services.whatif import runs
from pool.services.whatif.runs import studies_forget
from tests import rows

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def _over(user, name, age, **given):
    study = rows.study(owner=user, name=name, state="failed", **given)
    Study.objects.filter(pk=study.pk).update(ended_at=now() - age)
    return study


def test_old_private_what_ifs_go_and_periods_that_nothing_replays_a_month_later(pool):
    _place, _project, user = pool
    gone = _over(user, "old", 366 * DAY)
    _over(user, "shared", 366 * DAY, share="platform")
    _over(user, "young", 364 * DAY)
    rows.study(owner=user, name="waits")
    assert studies_forget() == 1
    assert set(Study.objects.values_list("name", flat=True)) == {"shared", "young", "waits"}
    told = Event.objects.get(kind="study.deleted")
    assert told.subject == f"study:{gone.uid}" and told.actor_kind == "system"
    bare = Trace.objects.filter(pk=gone.trace_id)
    assert bare.exists(), "its period is kept for a month"
    bare.update(created_at=now() - 31 * DAY)
    Trace.objects.exclude(pk=gone.trace_id).update(created_at=now() - 400 * DAY)
    assert studies_forget() == 1 and not bare.exists()
    assert Trace.objects.count() == 3, "what a what-if replays stays"
    assert studies_forget() == 0


def test_so_many_go_in_one_night_at_the_most(pool, monkeypatch):
    _place, _project, user = pool
    for number in range(3):
        rows.study(owner=user, name=f"s{number}").delete()
    assert Trace.objects.filter(studies=None).count() == 3
    Trace.objects.update(created_at=now() - 31 * DAY)
    monkeypatch.setattr(runs, "MOST_FORGOTTEN", 2)
    assert (studies_forget(), studies_forget(), studies_forget()) == (2, 1, 0)


def test_a_period_that_a_what_if_takes_up_meanwhile_stays(pool, monkeypatch):
    """The database says so only when all is written: then nothing goes, and the night goes on."""
    _place, _project, user = pool
    rows.study(owner=user, name="s").delete()
    Trace.objects.update(created_at=now() - 31 * DAY)

    def taken_up(_row):
        raise IntegrityError("it is referred to")

    monkeypatch.setattr(Trace, "delete", taken_up)
    assert studies_forget() == 0 and Trace.objects.count() == 1
    assert not Event.objects.filter(kind="trace.deleted").exists()
