"""D20: a quota cut below what is in use has one written way back, and oddities one rule."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import Event, Workload
from pool.rules.quotatree.oddities import Level, Oddity, findings
from pool.services.quotas import quota_set
from pool.services.workloads import workload_stop
from tests import factories as make
from tests import rows
from tests.pool.obedient import Obedient
from tests.pool.place import Place, seen
from tests.portal.callers import caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def place():
    """Eight cards, of which a project uses six, one whole card a job."""
    part = rows.partition()
    node = Obedient(rows.node(cards=8))
    into = rows.project()
    words = {"label": "A100-80GB", "partition": part}
    quota = rows.quota(limit=8_000_000, project=into, **words)
    made = Place(node, quota, into)
    made.jobs = [made.submit(need={"whole": True}, asked_micro=1_000_000) for _ in range(6)]
    assert made.held == 6_000_000
    return made


def cut(place, cards, **words):
    given = {"tenant": place.into, "partition": place.quota.partition, "unit": "cards_micro"}
    given |= {"card_model": "A100-80GB", "actor": make.by(rows.user())}
    return quota_set(limit=cards * 1_000_000, reason="cut", **(given | words))


def test_a_cut_below_use_shows_over_by_starts_nothing_and_stops_nothing(place):
    row = cut(place, 4)
    assert (row.limit_value, row.held, row.ceiling) == (4_000_000, 6_000_000, 6_000_000)
    told = Event.objects.filter(kind="quota.changed").last().data
    assert (told["over_by"], told["before"], told["after"]) == (2_000_000, 8_000_000, 4_000_000)
    who = caller(rows.member(place.into, role="lead"))
    (shown,) = who.get("quotas?kind=limit").json()["results"]
    assert (shown["available"], shown["over_by"]) == (0, 2_000_000)
    late = place.submit(need={"whole": True}, asked_micro=1_000_000)
    assert late.state == "queued"
    states = set(Workload.objects.exclude(pk=late.pk).values_list("state", flat=True))
    assert states <= {"placed", "starting", "running"}
    for number, job in enumerate(place.jobs[:3], 1):
        workload_stop(workload=seen(job), actor=make.by(rows.user()))
        place.node.turn()
        run_rounds()
        place.quota.refresh_from_db()
        assert place.quota.ceiling == max(4_000_000, place.quota.held)
        if number < 3:
            assert seen(late).state == "queued"
    assert seen(late).state == "placed"
    assert place.held == 4_000_000


def test_a_level_above_or_below_that_does_not_fit_is_saved_and_the_strictest_counts(place):
    """One rule for both: nothing is refused, everything odd is told, the strictest level binds."""
    cut(place, 3, tenant=place.into.organization)
    member = place.jobs[0].owner
    cut(place, 9, user=member)
    levels = [
        Level(key="o", parent=None, held=6, said={"limit": 3}),
        Level(key="p", parent="o", held=6, said={"limit": 8}),
        Level(key="m", parent="p", held=6, said={"limit": 9}),
    ]
    told = {(one.key, one.what, one.by) for one in findings(levels)}
    assert told == {
        ("o", Oddity.OVER, 3),
        ("p", Oddity.ABOVE_PARENT, 5),
        ("m", Oddity.ABOVE_PARENT, 1),
    }
    late = place.submit(need={"whole": True}, asked_micro=1_000_000, owner=member)
    assert late.state == "queued"
    assert Event.objects.filter(kind="quota.changed").count() == 2
