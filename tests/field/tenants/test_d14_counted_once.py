"""D14: what comes twice, three times or too late is counted once, at every level and moment."""

import random
from functools import partial

import pytest
from django.db.models import Sum

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.commit import commit
from pool.cycle.snapshot import take
from pool.models import Event, Hold, Placement, Quota, Workload
from pool.scheduling.plan import plan
from pool.services.observed import report_take
from tests import rows
from tests.pool.obedient import Obedient
from tests.races.test_rounds import together

pytestmark = pytest.mark.django_db(transaction=True)

JOBS = 100
CARD = 1_000_000
WHOLE = {"parts": 1, "whole": True}


@pytest.fixture
def node():
    rows.partition()
    return Obedient(rows.node(cards=JOBS))


@pytest.fixture
def people(node):
    """Two projects of one organization with two members each, and a limit for every one of them."""
    home = rows.organization()
    part = node.row.cards.first().partition
    words = {"limit": JOBS * CARD, "label": "A100-80GB", "partition": part}
    rows.quota(organization=home, **words)
    found = []
    for _ in range(2):
        project = rows.project(organization=home)
        rows.quota(project=project, **words)
        for _ in range(2):
            found.append((project, rows.member(project)))
            rows.quota(project=project, user=found[-1][1], **words)
    return found


def counted_once():
    """Used is what lives now, for members, projects and the organization, and they add up."""
    live = Hold.objects.filter(held__upper_inf=True, slice__isnull=False).count() * CARD
    of = Quota.objects.aggregate
    levels = (
        Quota.objects.filter(organization__isnull=False).aggregate(held=Sum("held"))["held"],
        Quota.objects.filter(project__isnull=False, user=None).aggregate(held=Sum("held"))["held"],
        Quota.objects.filter(user__isnull=False).aggregate(held=Sum("held"))["held"],
    )
    assert levels == (live, live, live), of(held=Sum("held"))
    for row in Quota.objects.filter(user=None, project__isnull=False):
        below = Quota.objects.filter(project=row.project, user__isnull=False)
        assert below.aggregate(held=Sum("held"))["held"] == row.held
    assert breaches_now() == []
    return live // CARD


def test_starts_and_reports_that_come_again_and_out_of_order_count_once(node, people):
    version = rows.template(need=WHOLE)
    for number in range(JOBS):
        into, owner = people[number % len(people)]
        rows.workload(into=into, owner=owner, version=version, asked_micro=CARD, cpu_milli=500)
    made = plan(take(now()))
    assert len(made.placed) == JOBS
    assert together(*(lambda: commit(made) for _ in range(3))) == [None] * 3
    commit(made)
    assert counted_once() == JOBS

    started = []
    node.pull()
    for _ in range(2):
        started.append(node.report())
        node.tell()
    chance = random.Random(14)
    chance.shuffle(started)
    tells = [lambda one=one: report_take(node=node.row, report=one) for one in started * 3]
    assert together(*tells) == [None] * len(tells)
    assert set(Workload.objects.values_list("state", flat=True)) == {"running"}
    assert counted_once() == JOBS

    ending = list(Workload.objects.order_by("?"))
    for part in (ending[:30], ending[30:]):
        for work in part:
            node.finish(work)
        over = node.report()
        tells = [partial(report_take, node=node.row, report=over) for _ in range(3)]
        assert together(*tells) == [None] * 3
        report_take(node=node.row, report=started[0])
        node.tell()
        assert counted_once() == Workload.objects.filter(ended_at=None).count()
    assert counted_once() == 0
    assert Placement.objects.count() == JOBS
    for kind in ("placement.opened", "placement.closed"):
        told = Event.objects.filter(kind=kind).values_list("subject", flat=True)
        assert (len(told), len(set(told))) == (JOBS, JOBS), kind
