"""Many at once against the real database: nothing is given twice, no limit is passed."""

import threading

import pytest
from django.db import connection

from pool.clock import now
from pool.cycle.audit import breaches_now
from pool.cycle.commit import commit
from pool.cycle.round import run_rounds
from pool.cycle.snapshot import take
from pool.errors import QuotaExceeded, Stale
from pool.events import SYSTEM
from pool.models import Attempt, Hold, Node, Placement, Quota, Workload
from pool.scheduling.plan import plan
from pool.services.observed import report_take
from pool.services.placements import placement_open
from pool.services.workloads import workload_stop
from tests import rows
from tests.pool.obedient import Obedient

pytestmark = pytest.mark.django_db(transaction=True)
WHOLE = {"parts": 1, "whole": True}


def together(*acts):
    """Run all at once, each on its own connection; what they raised, in their order."""
    gate = threading.Barrier(len(acts))
    raised = [None] * len(acts)

    def run(number, act):
        try:
            gate.wait(timeout=30)
            act()
        except Exception as error:
            raised[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    return raised


@pytest.fixture
def node():
    rows.partition()
    return Obedient(rows.node())


def test_one_card_and_fifty_jobs_at_once_exactly_one_runs(node):
    into = rows.project()
    people = [rows.member(into), rows.member(into)]
    version = rows.template(need=WHOLE)
    part = node.row.cards.get().partition
    for tenant in (
        {"organization": into.organization},
        {"project": into},
        *({"project": into, "user": one} for one in people),
    ):
        rows.quota(limit=1_000_000, label="A100-80GB", partition=part, **tenant)

    def submit(number):
        rows.workload(into=into, owner=people[number % 2], version=version)
        run_rounds()

    raised = together(*(lambda n=n: submit(n) for n in range(50)))
    run_rounds()
    assert raised == [None] * 50
    assert Workload.objects.filter(state="placed").count() == 1
    assert Workload.objects.filter(state="queued").count() == 49
    assert Hold.objects.filter(held__upper_inf=True, card__isnull=False).count() == 1
    project_row = Quota.objects.get(project=into, user=None)
    assert project_row.held == 1_000_000
    assert breaches_now() == []


def test_the_same_plan_committed_by_four_at_once_opens_each_start_once(node):
    for _ in range(4):
        rows.workload()
    made = plan(take(now()))
    assert len(made.placed) == 4
    assert together(*(lambda: commit(made) for _ in range(4))) == [None] * 4
    assert Placement.objects.count() == 4
    assert breaches_now() == []


def test_a_limit_is_never_passed_by_starts_at_once(node):
    for _ in range(3):
        rows.node()
    into = rows.project()
    for _ in range(4):
        rows.workload(into=into, version=rows.template(need=WHOLE))
    made = plan(take(now()))
    assert len(made.placed) == 4
    part = node.row.cards.get().partition
    quota = rows.quota(limit=2_000_000, label="A100-80GB", project=into, partition=part)

    def start(placed):
        placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)

    raised = together(*(lambda one=one: start(one) for one in made.placed))
    assert sum(isinstance(one, QuotaExceeded) for one in raised) == 2
    assert Quota.objects.get(pk=quota.pk).held == 2_000_000
    assert breaches_now() == []


def test_a_start_and_a_cancel_at_once_end_in_one_of_the_two(node):
    for _ in range(5):
        work = rows.workload()
        (placed,) = plan(take(now())).placed

        def start(placed=placed):
            placement_open(workload_id=placed.workload, placed=placed, actor=SYSTEM)

        def cancel(work=work):
            workload_stop(workload=work, actor=SYSTEM)

        raised = together(start, cancel)
        work.refresh_from_db()
        if raised[0] is None:
            assert work.state == "stopping"
            node.turn()
        else:
            assert isinstance(raised[0], Stale)
        work.refresh_from_db()
        assert work.state == "cancelled"
    assert not Hold.objects.filter(held__upper_inf=True).exists()


def test_the_same_end_reported_by_many_at_once_is_taken_in_once(node):
    into = rows.project()
    part = node.row.cards.get().partition
    quota = rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
    work = rows.workload(into=into)
    run_rounds()
    node.pull()
    node.finish(work)
    report = node.report()

    def tell():
        report_take(node=Node.objects.get(pk=node.row.pk), report=report)

    assert together(*(tell for _ in range(6))) == [None] * 6
    work.refresh_from_db()
    assert work.state == "succeeded"
    assert Quota.objects.get(pk=quota.pk).held == 0
    assert Attempt.objects.get().state == "ended"


def test_ends_and_starts_on_one_card_at_once_never_meet(node):
    into = rows.project()
    part = node.row.cards.get().partition
    rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
    rows.quota(limit=1_000_000, label="A100-80GB", organization=into.organization, partition=part)
    for _ in range(14):
        rows.workload(into=into)
    run_rounds()
    for _ in range(6):
        if not Workload.objects.filter(state__in=["placed", "running", "queued"]).exists():
            break
        node.pull()
        for uid, one in list(node.work.items()):
            node.end(uid, one.workload)
        report = node.report()
        node.work = {}

        def tell(report=report):
            report_take(node=Node.objects.get(pk=node.row.pk), report=report)

        assert together(tell, run_rounds, tell, run_rounds) == [None] * 4
        run_rounds()
        assert breaches_now() == []
    assert Workload.objects.filter(state="succeeded").count() == 14
    assert set(Quota.objects.values_list("held", flat=True)) == {0}
