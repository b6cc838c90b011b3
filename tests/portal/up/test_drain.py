"""The end of the stack takes running jobs along, and the next start knows what became of them."""

import pytest

from tests.house import FINAL, House, fleet_of
from tests.portal.up.test_supervisor import gone
from tests.stack import RunningStack
from tests.waiting import until

pytestmark = pytest.mark.flow


@pytest.fixture
def house():
    made = House(fleet=fleet_of("only", cards=1))
    try:
        made.stack.ready()
        yield made
    finally:
        made.over()


def test_the_end_takes_running_jobs_along_and_the_next_start_tells_what_became_of_them(house):
    uid = house.submit(f"echo $$ > {house.marks}/pid; exec sleep 600", expected_seconds=900)
    house.all_in_state([uid], "running")
    job = int(until(lambda: (house.marks / "pid").exists() and (house.marks / "pid").read_text()))
    below = house.stack.below()
    assert house.stack.stop() == 0
    assert gone(job)
    assert all(gone(pid) for pid in below)
    house.stack = RunningStack(house.data, "--work-dir", str(house.root / "work")).ready()
    row = house.ended([uid])[uid]
    assert row["state"] in FINAL
    assert row["exit_reason"] == "node_stopped"
    until(
        lambda: house.rows("SELECT count(*) FROM pool_hold WHERE upper_inf(held)") == [(0,)],
        what="every hold is closed",
    )
