"""A change is planned again when it is applied: it starts the work, or nothing happens."""

import pytest

from pool.clock import now
from pool.cycle import changing
from pool.cycle.changing import change_apply
from pool.cycle.round import run_rounds
from pool.cycle.waiting import waiting_explain
from pool.errors import HelpsNoMore, Invalid, Stale
from pool.events import SYSTEM
from pool.models import Event, LearnedBandwidth, Partition, Workload
from tests import rows
from tests.pool.cycle.test_commit import lease_of

pytestmark = pytest.mark.django_db

WHOLE = {"parts": 1, "whole": True}


@pytest.fixture
def pool():
    rows.partition(modes=["whole", "mig"])


def apply(work, change, amount=None):
    return change_apply(workload=work, change=change, amount=amount, actor=SYSTEM)


def placed(*works):
    run_rounds()
    states = dict(Workload.objects.values_list("pk", "state"))
    return [states[work.pk] == "placed" for work in works]


def crowded(parts=3):
    """Three cards, one taken, and work that wants too many."""
    rows.node(cards=3)
    rows.workload(need=WHOLE)
    run_rounds()
    return rows.workload(need=WHOLE | {"parts": parts}, cpu_milli=30_000, ram_mib=3_000)


def test_every_offered_change_starts_the_work_when_it_is_applied(pool):
    work = crowded()
    (offer,) = waiting_explain(workload=work).changes
    apply(work, offer["change"], offer["amount"])
    work.refresh_from_db()
    assert (work.need["parts"], work.cpu_milli, work.ram_mib) == (2, 20_000, 2_000)
    assert work.asked_micro == 2_000_000
    told = Event.objects.get(kind="workload.changed").data
    assert (told["change"], told["amount"]) == ("fewer_cards", 2)
    assert told["values"]["cpu_milli"] == [30_000, 20_000]
    assert placed(work) == [True]


def test_a_change_that_helps_no_more_is_refused_with_the_new_reason_and_writes_nothing(pool):
    work = crowded()
    rows.workload(need=WHOLE, expected_seconds=600)
    run_rounds()
    with pytest.raises(HelpsNoMore) as refused:
        apply(work, "fewer_cards", 2)
    assert refused.value.detail["why"] == "waits"
    assert refused.value.detail["waits"]["level"] == "busy"
    work.refresh_from_db()
    assert work.need["parts"] == 3
    apply(work, "fewer_cards", 1)
    assert placed(work) == [True]


def test_a_change_of_work_at_a_limit_that_the_planner_does_not_count_is_refused(pool):
    into = rows.project()
    rows.node(cards=3)
    first = rows.workload(into=into, need=WHOLE)
    where = {"project": into, "partition": first.partitions.get()}
    rows.quota(limit=1, unit="workloads", **where)
    run_rounds()
    work = rows.workload(into=into, need=WHOLE | {"parts": 3}, cpu_milli=30_000, ram_mib=3_000)
    with pytest.raises(HelpsNoMore) as refused:
        apply(work, "fewer_cards", 2)
    assert refused.value.detail["waits"]["reason"] == "quota"
    work.refresh_from_db()
    assert work.need["parts"] == 3


def test_a_change_that_would_take_anothers_start_is_refused(pool):
    into = rows.project()
    rows.node(cards=3)
    rows.workload(into=into, need=WHOLE)
    run_rounds()
    work = rows.workload(into=into, need=WHOLE | {"parts": 3}, priority="high")
    rows.workload(into=into, need=WHOLE | {"parts": 1}, expected_seconds=1)
    with pytest.raises(HelpsNoMore) as refused:
        apply(work, "fewer_cards", 2)
    assert refused.value.detail == {"why": "others", "others": 1}


def test_a_change_is_judged_with_the_bandwidth_that_was_learned(pool, monkeypatch):
    work = crowded()
    version = work.template_version
    version.bandwidth = "measured"
    version.save(update_fields=["bandwidth"])
    words = {"heavy": True, "runs": 3, "heavy_runs": 3, "percent": 90, "learned_at": now()}
    LearnedBandwidth.objects.create(version=version, **words)
    judged = []
    real = changing.waiting_of
    monkeypatch.setattr(
        changing, "waiting_of", lambda *given: judged.append(real(*given)) or judged[-1]
    )
    apply(work, "fewer_cards", 2)
    (after,) = judged
    assert after.need.heavy_bandwidth


def test_work_that_would_start_by_itself_or_waits_no_more_is_not_changed(pool):
    rows.node()
    work = rows.workload(need=WHOLE, expected_seconds=7200)
    with pytest.raises(Stale):
        apply(work, "shorter", 60)
    assert placed(work) == [True]
    with pytest.raises(Stale):
        apply(work, "shorter", 60)


@pytest.mark.parametrize(
    ("change", "amount"),
    [
        ("nonsense", 1),
        ("fewer_cards", 3),
        ("fewer_cards", 0),
        ("fewer_cards", None),
        ("shorter", 10**9),
        ("less_cpu", 30_000),
        ("less_memory", 5),
        ("less_compute", -1),
    ],
)
def test_a_change_that_is_none_or_asks_for_more_is_refused(pool, change, amount):
    work = crowded()
    with pytest.raises(Invalid):
        apply(work, change, amount)


def test_work_on_a_lease_gets_no_other_model(pool):
    rows.node()
    into = rows.project()
    need = WHOLE | {"labels": ["H200"]}
    bound = rows.workload(into=into, need=need, lease=lease_of(into, copies=1))
    with pytest.raises(HelpsNoMore):
        apply(bound, "other_model")
    free = rows.workload(into=into, need=need)
    apply(free, "other_model")
    assert placed(free) == [True]


@pytest.mark.parametrize(
    ("others", "starts"), [({}, False), ({"A100-80GB": 500_000}, False), ({"": 1_000_000}, True)]
)
def test_work_on_an_allowance_gets_another_model_only_where_it_admits_it(pool, others, starts):
    rows.node()
    into = rows.project()
    partition = Partition.objects.get()
    for label, limit in {"H200": 1_000_000, **others}.items():
        given = {"project": into, "partition": partition, "label": label}
        rows.quota(kind="allowance", limit=limit, **given)
    need = WHOLE | {"labels": ["H200"]}
    work = rows.workload(into=into, need=need, entitlement="allowance", asked_micro=1_000_000)
    offers = [one["change"] for one in waiting_explain(workload=work).changes]
    assert offers == (["other_model"] if starts else [])
    if not starts:
        with pytest.raises(HelpsNoMore) as refused:
            apply(work, "other_model")
        assert refused.value.detail == {"why": "barred"}
    else:
        apply(work, "other_model")
    assert placed(work) == [starts]


def test_less_of_the_host_is_written_where_both_row_and_need_say_it(pool):
    rows.node(cpu=8_000)
    need = WHOLE | {"cpu_milli": 10_000}
    work = rows.workload(need=need, cpu_milli=10_000)
    apply(work, "less_cpu", 5_000)
    work.refresh_from_db()
    assert (work.cpu_milli, work.need["cpu_milli"]) == (5_000, 5_000)
    assert placed(work) == [True]
