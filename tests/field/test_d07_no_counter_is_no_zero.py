"""D07: where nobody counts SM, a missing value or a steady 0 makes no notebook look idle."""

import pytest
from django.test import Client

from nodeagent.protocol.vocabulary import Fidelity
from pool.clock import now
from pool.models import Event, Hold, IdleRule, Membership, Sample
from pool.selectors.memberships import standing
from pool.selectors.notebooks.hogs import hog_list
from pool.selectors.telemetry.series import series_of
from pool.services.telemetry.rollups import rollups_due
from tests.field.notebooks import Desk

pytestmark = pytest.mark.django_db

SAYS = {"not supported": (None, Fidelity.UNAVAILABLE), "a steady 0": (0.0, Fidelity.MEASURED)}


@pytest.fixture(params=SAYS)
def desk(request):
    """On a slice of an Ampere card, 90 % of its memory held by a process that lives."""
    IdleRule.objects.create(idle_seconds=600, warn_minutes=[2])
    made = Desk.laid()
    made.sm, made.fidelity = SAYS[request.param]
    assert made.turn().state == "running"
    hold = Hold.objects.get(slice__isnull=False)
    assert (hold.mode, hold.card.facts["architecture"]) == ("mig", "ampere")
    made.memory = 0.9 * hold.memory_mib
    made.facts |= {"jobs": 1}
    made.judge()
    return made


def half_an_hour(desk):
    for _ in range(30):
        assert desk.judge(moved=60).state == "running"


def test_the_notebook_lives(desk):
    half_an_hour(desk)
    assert desk.known.verdict == "active"
    assert not Event.objects.filter(kind__in=["notebook.warned", "notebook.reclaimed"]).exists()
    judged = Event.objects.filter(kind="notebook.judged").order_by("-id")[0]
    because = {one["signal"]: one["moves"] for one in judged.data["because"]}
    assert because["sm"] is None
    assert because["jobs"] is True


def test_without_any_sign_of_life_it_takes_twice_the_time_and_says_what_is_not_known(desk):
    desk.facts |= {"jobs": 0}
    desk.judge(moved=700)
    assert (desk.known.verdict, desk.known.limit_s) == ("holding", 1200)
    sm = next(one for one in desk.known.evidence if one["signal"] == "sm")
    assert (sm["moves"], sm["value"]) == (None, None)


def test_nothing_anywhere_says_0(desk):
    half_an_hour(desk)
    attempt = desk.known.attempt_id
    assert not Sample.objects.filter(attempt_id=attempt, sm_mean__isnull=False).exists()
    rollups_due()
    found = series_of(
        since=desk.known.ready_at, until=now(), metrics=("sm", "memory_mib"), attempts=[attempt]
    )
    assert {means[0] for _at, means, _peaks in found.points} == {None}
    assert found.known["sm"] == 0
    owner = desk.work.owner
    Membership.objects.get_or_create(user=owner, project=desk.work.project, role="member")
    page = Client()
    page.force_login(owner)
    shown = page.get(f"/notebooks/{desk.work.uid}/").content.decode()
    assert "not known" in shown
    assert "0.0 %" not in shown
    assert not hog_list(standing=standing(user=owner), now=now())
