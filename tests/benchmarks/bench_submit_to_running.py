"""How long from the click to the process: submitted over REST, running on the node."""

import statistics
import time

import pytest

from tests.house import House, fleet_of
from tests.waiting import until

MANY = 50


@pytest.fixture(scope="module")
def one_card():
    """A stack with one card, so that another size always means to cut it anew."""
    made = House(fleet=fleet_of("sim-a", cards=1))
    try:
        yield made.ready()
    finally:
        made.over()


def took(house, name, need):
    """Seconds from before the call to the first line of the job's own process."""
    mark = house.marks / name
    begun = time.time()
    uid = house.submit(f"date +%s.%N > {mark}.new; mv {mark}.new {mark}", need=need)
    until(mark.exists, what="the job has run")
    house.ended([uid])
    until(
        lambda: house.rows("SELECT count(*) FROM pool_hold WHERE upper_inf(held)") == [(0,)],
        what="given back",
    )
    return float(mark.read_text()) - begun


def told(what, seconds):
    cuts = statistics.quantiles(seconds, n=20)
    print(  # noqa: T201
        f"\nsubmit → process running, {what}: median {statistics.median(seconds):.3f} s,"
        f" p95 {cuts[18]:.3f} s, worst {max(seconds):.3f} s (n = {len(seconds)})"
    )


def test_submit_to_running_without_and_with_a_recarve(one_card):
    small, half = {"profile": "1g.10gb"}, {"profile": "3g.40gb"}
    took(one_card, "warm", small)
    same = [took(one_card, f"same-{n}", small) for n in range(MANY)]
    cut = [
        took(one_card, f"cut-{n}", half if n % 2 == 0 else {"profile": "7g.80gb"})
        for n in range(MANY)
    ]
    told("no re-carve (0.3 s wanted)", same)
    told("with a re-carve (1 s wanted)", cut)
    assert len(same) == len(cut) == MANY
