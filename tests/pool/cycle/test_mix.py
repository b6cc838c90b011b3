"""The recent mix of needs is read from the books, and cards are chosen by it."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle import mix
from pool.cycle.commit import commit
from pool.cycle.snapshot import take
from pool.models import Hold, LearnedBandwidth, TemplateVersion, Workload
from pool.scheduling.plan import plan
from tests import rows

pytestmark = pytest.mark.django_db

SMALL = {"parts": 1, "compute_milli": 250, "memory_gb": 20, "modes": ["mps"]}
WHOLE = {"parts": 1, "whole": True}


def ended(need, times=1, *, days=0):
    for _ in range(times):
        row = rows.workload(need=need, state="succeeded", queued_at=None)
        Workload.objects.filter(pk=row.pk).update(submitted_at=now() - timedelta(days=days))


def counts():
    return {(one.need.whole, one.need.memory_gb): one.weight for one in mix.recent()}


def test_work_of_the_last_days_counts_by_how_often_its_need_was_seen():
    ended(SMALL, 3)
    ended(WHOLE)
    ended(WHOLE, days=8)
    assert counts() == {(False, 20): 3.0, (True, None): 1.0}


def test_the_queue_counts_once_however_old_it_is():
    row = rows.workload(need=WHOLE)
    assert counts() == {(True, None): 1.0}
    Workload.objects.filter(pk=row.pk).update(submitted_at=now() - timedelta(days=30))
    assert counts() == {(True, None): 1.0}


def test_only_the_most_frequent_kinds_are_kept(monkeypatch):
    monkeypatch.setattr(mix, "KINDS", 1)
    ended(SMALL)
    ended(WHOLE, 2)
    assert counts() == {(True, None): 2.0}


def test_a_need_that_cannot_be_read_is_left_out():
    ended({"parts": "many"})
    ended(SMALL)
    assert counts() == {(False, 20): 1.0}


@pytest.mark.parametrize(
    ("declared", "learned", "heavy"),
    [("heavy", None, 1), ("light", True, 0), ("measured", True, 1), ("measured", None, 0)],
)
def test_work_that_is_heavy_on_bandwidth_counts_as_heavy_in_the_demand(declared, learned, heavy):
    ended(SMALL)
    version = TemplateVersion.objects.get()
    TemplateVersion.objects.filter(pk=version.pk).update(bandwidth=declared)
    if learned is not None:
        showed = {"heavy": learned, "runs": 3, "heavy_runs": 3, "percent": 71, "learned_at": now()}
        LearnedBandwidth.objects.create(version=version, **showed)
    assert [one.need.heavy_bandwidth for one in mix.recent()] == [bool(heavy)]


@pytest.mark.parametrize(("policy", "chosen"), [("fragmentation", "poor"), ("binpack", "rich")])
def test_where_the_policy_says_so_a_start_spares_what_the_recent_demand_needs(policy, chosen):
    """Whole cards with many cores are asked for: light work goes where those could never run."""
    rows.partition(policy=policy)
    rows.node(name="rich", cpu=64_000)
    rows.node(name="poor", cpu=2_000)
    for _ in range(5):
        rows.workload(need=WHOLE, state="succeeded", queued_at=None, cpu_milli=16_000)
    work = rows.workload(need=SMALL)
    commit(plan(take(now())))
    hold = Hold.objects.get(placement__attempt__workload=work, slice__isnull=False)
    assert hold.node.name == chosen
