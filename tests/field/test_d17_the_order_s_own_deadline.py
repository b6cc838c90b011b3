"""D17: an order given during the start keeps its deadline, and a later order works as well."""

import pytest

from tests.field.yielding import WAIT

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("giving")]

STARTED = """
SELECT a.started_at, a.ended_at FROM pool_attempt a JOIN pool_workload w ON w.id = a.workload_id
WHERE w.uid = %s ORDER BY a.number
"""


def test_a_start_that_finishes_during_its_notice_is_stopped_at_the_order_s_deadline(giving):
    faults = next(giving.house.data.rglob("n2/cards.json")).with_name("faults.yaml")
    faults.write_text("start_delay_s: 3\n")
    admin, owner = giving.house.as_("platform_admin"), giving.house.as_("member")
    try:
        work = giving.submit("field-short", f"trap '' TERM; {WAIT}")
        giving.house.all_in_state([work], "starting")
        told = admin("POST", f"workloads/{work}/preempt", {"reason": "during the start"})
        owner("POST", f"workloads/{work}/declare", {"expected_seconds": 7200})
        giving.until(lambda: giving.house.work(work)["attempts_made"] == 2, "it was tried again")
        (order,) = giving.orders(work)
        ordered, deadline, released = order[5:8]
        assert told["deadline"].startswith(f"{deadline:%Y-%m-%dT%H:%M:%S}")
        assert (deadline - ordered).total_seconds() == pytest.approx(6, abs=0.01)
        started, ended = giving.house.rows(STARTED, work)[0]
        assert ordered < started < deadline <= ended <= released
        giving.running(work)
        again = admin("POST", f"workloads/{work}/preempt", {"reason": "once more"})
        assert again["uid"] != told["uid"]
        giving.until(lambda: len(giving.orders(work)) == 2 and giving.orders(work)[1][7], "left")
        second = giving.orders(work)[1]
        assert second[7] >= second[6], "not before the second order's deadline either"
        assert second[3] == "released"
    finally:
        faults.write_text("start_delay_s: 0\n")
