"""The end of the stack takes running jobs along, and the next start runs them again."""

import pytest

from tests.house import House, fleet_of
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


def test_the_end_takes_running_jobs_along_and_the_next_start_runs_them_again(house):
    """A planned stop is no fault of the job: it uses no retry and is not billed."""
    note = house.marks / "pid"
    uid = house.submit(f"echo $$ > {note}; exec sleep 600", expected_seconds=900)
    house.all_in_state([uid], "running")
    job = int(until(lambda: note.exists() and note.read_text(), what="the job says its pid"))
    note.unlink()
    below = house.stack.below()
    assert house.stack.stop() == 0
    assert gone(job)
    assert all(gone(pid) for pid in below)
    house.stack = RunningStack(house.data, "--work-dir", str(house.root / "work")).ready()
    again = int(until(lambda: note.exists() and note.read_text(), seconds=90, what="it runs again"))
    assert again != job
    first, second = sorted(house.work(uid)["attempts"], key=lambda one: one["number"])
    assert (first["state"], first["exit_reason"]) == ("ended", "node_stopped")
    assert second["ended_at"] is None
    assert house.rows("SELECT billable FROM pool_attempt WHERE uid = %s", first["uid"]) == [
        (False,)
    ]
    house.as_("member")("POST", f"workloads/{uid}/stop", {})
    house.ended([uid])
    until(
        lambda: house.rows("SELECT count(*) FROM pool_hold WHERE upper_inf(held)") == [(0,)],
        what="every hold is closed",
    )
