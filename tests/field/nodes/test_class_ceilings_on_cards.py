"""Class ceilings of a partition, from the page of an administrator down to what limits a job."""

import pytest

from nodeagent.drivers.shares import Share
from nodeagent.drivers.sharing.mps import Mps
from pool.cycle.round import run_rounds
from pool.selectors.desired import desired_of
from tests import rows
from tests.nodeagent.drivers.test_sharing import CARD, bench, search
from tests.pool.obedient import Obedient
from tests.pool.place import Place, seen

__all__ = ["bench"]

pytestmark = pytest.mark.django_db

CEILINGS = {
    "card_sum": [{"purposes": ["finetuning"], "compute_milli": 800}],
    "per_workload": [{"purposes": ["inference"], "compute_milli": 500}],
}


@pytest.fixture
def place():
    """One card that is shared by MPS, under the ceilings of requirement P7."""
    part = rows.partition(modes=["mps"], ceilings=CEILINGS)
    into = rows.project()
    quota = rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
    return Place(Obedient(rows.node()), quota, into)


def asked(place, work_class, milli):
    version = rows.template(work_class=work_class)
    need = {"parts": 1, "memory_gb": 8, "compute_milli": milli}
    return place.submit(need=need, version=version)


def threads(place, bench, tmp_path):
    """What each share's job is told of the card's threads, in per cent, by its size."""
    mps = Mps(tmp_path / "mps", search(bench))
    told = []
    for one in desired_of(node=place.node.row).slices:
        held = Share(one.card, one.mode, one.profile, one.memory_mib, one.compute_milli, "")
        told.append(int(mps.environment(CARD, one.uid, held)["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"]))
    return sorted(told)


def test_fine_tuning_gets_four_fifths_of_the_threads_and_a_burst_finds_the_rest(
    place, bench, tmp_path
):
    tunings = [asked(place, "finetuning", 200) for _ in range(5)]
    place.node.turn()
    assert sorted(seen(one).state for one in tunings) == ["queued"] + ["running"] * 4
    assert threads(place, bench, tmp_path) == [20] * 4
    burst = asked(place, "inference", 200)
    run_rounds()
    place.node.turn()
    assert seen(burst).state == "running"
    assert threads(place, bench, tmp_path) == [20] * 5


def test_one_replica_never_has_more_than_half_of_the_threads(place, bench, tmp_path):
    greedy, half = asked(place, "inference", 600), asked(place, "inference", 500)
    run_rounds()
    place.node.turn()
    assert (seen(greedy).state, seen(half).state) == ("queued", "running")
    assert threads(place, bench, tmp_path) == [50]
