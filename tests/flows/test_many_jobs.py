"""Fifty short jobs at once: each runs once, everything is given back and counted."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("stack")]

MANY = 50

HELD = "SELECT coalesce(sum(held), 0) FROM pool_quota WHERE kind <> 'entitlement'"
OPEN = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
SPANS = """
SELECT coalesce(sum(extract(epoch FROM upper(h.held) - lower(h.held)) * 1000000), 0)::bigint
FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id JOIN pool_workload w ON w.id = a.workload_id
WHERE w.uid = ANY(%s)
"""
USAGE = """
SELECT coalesce(sum(u.reserved_us), 0)::bigint, coalesce(bool_or(u.running), false),
       coalesce(sum(u.amount_micro), 0)::bigint
FROM billing_usage u JOIN pool_workload w ON w.id = u.workload_id WHERE w.uid = ANY(%s)
"""
OVERLAPS = """
SELECT count(*) FROM pool_hold a JOIN pool_hold b
ON a.slice_id = b.slice_id AND a.id < b.id AND a.held && b.held
"""
LYING_ON_EACH_OTHER = """
SELECT count(*) FROM pool_slice a JOIN pool_slice b
ON a.card_id = b.card_id AND a.id < b.id AND a.span && b.span AND a.lived && b.lived
"""


def one(house, query, *values):
    return house.rows(query, *values)[0][0]


def test_fifty_jobs_of_three_seconds_run_once_each_and_leave_nothing_behind(house):
    lines = [f"echo ran >> {house.marks}/job-{n}; sleep 3" for n in range(MANY)]
    with ThreadPoolExecutor(16) as hands:
        uids = list(hands.map(house.submit, lines))
    done = house.ended(uids, seconds=180)
    assert {row["state"] for row in done.values()} == {"succeeded"}
    assert {row["exit_code"] for row in done.values()} == {0}
    assert {len(row["attempts"]) for row in done.values()} == {1}
    ran = [(house.marks / f"job-{n}").read_text() for n in range(MANY)]
    assert ran == ["ran\n"] * MANY

    until(lambda: one(house, OPEN) == 0, what="all holds are closed")
    assert one(house, HELD) == 0
    assert one(house, OVERLAPS) == 0
    assert one(house, LYING_ON_EACH_OTHER) == 0
    until(lambda: not house.shims, what="no shim is left")

    spans = one(house, SPANS, uids)
    until(
        lambda: house.rows(USAGE, uids)[0][:2] == (spans, False),
        what="usage sums to the spans of the holds, to the microsecond",
    )
    amount = house.rows(USAGE, uids)[0][2]
    assert amount == sum(house.work(uid)["cost"]["amount_micro"] for uid in uids) > 0

    listed = [row["uid"] for row in house.as_("member").every("workloads?page_size=20")]
    assert len(set(listed)) == len(listed)
    assert set(uids) <= set(listed)
