"""Why work waits and what would start it, on the live pool; the changes do what they say."""

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.cycle.waiting import UNITS, waiting_explain
from pool.models import LearnedBandwidth, Workload
from pool.scheduling.suggest import Change
from tests import rows
from tests.pool.cycle.test_commit import lease_of

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}


@pytest.fixture
def pool():
    rows.partition()


def offered(work):
    return {one["change"]: one["amount"] for one in waiting_explain(workload=work).changes}


def test_fewer_cards_are_offered_and_with_them_it_starts(pool):
    rows.node(cards=3)
    rows.workload(need=WHOLE)
    run_rounds()
    work = rows.workload(need=WHOLE | {"parts": 3})
    told = waiting_explain(workload=work)
    assert told.waits["level"] == "busy"
    assert told.changes == ({"change": "fewer_cards", "amount": 2, "unit": "parts"},)
    Workload.objects.filter(pk=work.pk).update(need=WHOLE | {"parts": 2})
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"


def test_less_of_the_host_is_offered_where_the_cards_are_free(pool):
    rows.node(cpu=8_000)
    work = rows.workload(need=WHOLE, cpu_milli=10_000)
    assert offered(work) == {"less_cpu": 5_000}
    Workload.objects.filter(pk=work.pk).update(cpu_milli=5_000)
    run_rounds()
    work.refresh_from_db()
    assert work.state == "placed"


def test_another_model_is_offered_without_a_number_but_not_to_work_on_a_lease(pool):
    rows.node()
    need = WHOLE | {"labels": ["H200"]}
    into = rows.project()
    free = rows.workload(into=into, need=need)
    bound = rows.workload(into=into, need=need, lease=lease_of(into, copies=1))
    assert offered(free) == {"other_model": None}
    assert offered(bound) == {}


def test_work_on_one_node_may_span_nodes_whose_agents_can_meet(pool):
    for number in range(2):
        rows.node(address=f"10.0.0.{number + 1}")
    work = rows.workload(need=WHOLE | {"parts": 2})
    assert offered(work) == {"across_nodes": None, "fewer_cards": 1}


def test_work_is_not_told_to_span_nodes_whose_agents_know_no_gangs(pool):
    for _ in range(2):
        rows.node()
    work = rows.workload(need=WHOLE | {"parts": 2})
    assert offered(work) == {"fewer_cards": 1}


def test_what_is_held_back_is_told_no_change(pool):
    rows.node(cards=2)
    into = rows.project()
    lease = lease_of(into, copies=1)
    rows.workload(into=into, lease=lease)
    run_rounds()
    second = rows.workload(into=into, lease=lease)
    told = waiting_explain(workload=second)
    assert (told.waits["reason"], told.changes) == ("held_back", ())


def test_what_would_start_and_what_does_not_wait_have_nothing_to_explain(pool):
    rows.node()
    work = rows.workload()
    assert waiting_explain(workload=work).waits is None
    run_rounds()
    assert waiting_explain(workload=work).waits is None


def test_an_explanation_reads_the_pool_once_and_writes_nothing(pool, django_assert_num_queries):
    rows.node()
    work = rows.workload(need=WHOLE | {"parts": 4})
    look, what_its_bandwidth_rests_on = 12, 1
    with django_assert_num_queries(look + what_its_bandwidth_rests_on):
        assert offered(work) == {"fewer_cards": 1}
    work.refresh_from_db()
    assert (work.state, work.waits, work.need["parts"]) == ("queued", None, 4)


def test_every_change_that_carries_a_number_says_what_it_counts():
    bare = {Change.OTHER_MODEL, Change.OTHER_MODE, Change.ACROSS_NODES}
    assert set(Change) - set(UNITS) == bare


@pytest.mark.parametrize("own", [True, False])
def test_work_that_was_learned_to_be_heavy_is_told_what_showed_it(pool, own):
    rows.node(cpu=8_000)
    work = rows.workload(need=WHOLE, cpu_milli=10_000)
    version = work.template_version
    version.bandwidth = "measured"
    version.save(update_fields=["bandwidth"])
    assert waiting_explain(workload=work).bandwidth is None
    showed = {"runs": 6, "heavy_runs": 4, "percent": 71.5, "learned_at": now()}
    everybody = {"heavy": not own, **showed, "runs": 9}
    LearnedBandwidth.objects.create(version=version, **everybody)
    if own:
        LearnedBandwidth.objects.create(version=version, owner=work.owner, heavy=True, **showed)
    told = waiting_explain(workload=work)
    assert told.bandwidth == {
        "runs": 6 if own else 9,
        "heavy_runs": 4,
        "percent": 71.5,
        "own": own,
    }
