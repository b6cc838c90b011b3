"""An array of twenty, three at a time, through the real agent; then the job that waits for it."""

import threading

import pytest

from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("stack")]

PIECES, THROTTLE = 20, 3
HELD = """
SELECT count(*) FROM pool_workload w JOIN pool_workload p ON p.id = w.parent_id
WHERE p.uid = %s
  AND w.state IN ('placed', 'starting', 'running', 'preempting', 'stopping', 'unreachable')
"""
SPANS = """
SELECT w.uid, min(lower(h.held)), max(upper(h.held))
FROM pool_hold h JOIN pool_placement p ON p.id = h.placement_id
JOIN pool_attempt a ON a.id = p.attempt_id JOIN pool_workload w ON w.id = a.workload_id
LEFT JOIN pool_workload o ON o.id = w.parent_id
WHERE coalesce(o.uid, w.uid) = ANY(%s) GROUP BY w.uid
"""


LINE = "echo $GPUPOOL_ARRAY_INDEX of $GPUPOOL_ARRAY_COUNT; sleep 0.3"


def why(house, uid):
    """The reason for which some work waits, once it was told."""
    return ((house.work(uid) or {}).get("waits") or {}).get("reason")


def log_of(house, uid):
    return house.as_("member")("GET", f"workloads/{uid}/logs").strip()


def most_at_once(spans):
    """The most pieces that held something at one moment, by the books' own spans."""
    edges = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    found = now = 0
    for _, step in edges:
        now += step
        found = max(found, now)
    return found


def test_an_array_runs_throttled_and_the_job_after_it_runs_last(house):
    array = house.submit(LINE, array={"count": PIECES, "throttle": THROTTLE}, name="sweep")
    after = house.submit("echo merged", after=[{"workload": array}], name="merge")
    over, seen = threading.Event(), []

    def look():
        while not over.is_set():
            seen.append(house.rows(HELD, array)[0][0])
            over.wait(0.05)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        until(lambda: why(house, after) == "after", what="it waits for it")
        done = house.ended([array, after], seconds=240)
    finally:
        over.set()
        watcher.join()
    assert (done[array]["state"], done[after]["state"]) == ("succeeded", "succeeded")
    assert done[array]["array"]["done"] == PIECES
    assert max(seen) == THROTTLE
    pieces = house.as_("member").every(f"workloads?piece_of={array}")
    said = {row["array_index"]: log_of(house, row["uid"]) for row in pieces}
    assert said == {index: f"{index} of {PIECES}" for index in range(PIECES)}
    assert log_of(house, after) == "merged"
    spans = {uid: (start, end) for uid, start, end in house.rows(SPANS, [array, after])}
    last = spans.pop(after)
    assert len(spans) == PIECES
    assert most_at_once(spans.values()) <= THROTTLE
    assert all(end <= last[0] for _, end in spans.values())


def test_a_piece_that_fails_ends_what_waits_and_is_tried_again_alone(house):
    fails_once = "[ $GPUPOOL_ARRAY_INDEX != 1 ] || [ $GPUPOOL_ATTEMPT_NUMBER != 1 ]"
    array = house.submit(fails_once, array={"count": 3}, name="shaky")
    after = house.submit("true", after=[{"workload": array}])
    done = house.ended([array, after])
    assert (done[array]["state"], done[after]["state"]) == ("failed", "dependency_failed")
    member = house.as_("member")
    assert member("POST", f"workloads/{array}/retry", {})["state"] == "active"
    until(lambda: house.work(array)["state"] == "succeeded", seconds=60, what="all pieces are done")
    counts = house.work(array)["array"]
    assert (counts["done"], counts["failed"]) == (3, 0)


def test_a_schedule_runs_through_the_real_agent(house):
    member = house.as_("member")
    made = member(
        "POST",
        "schedules",
        {
            "project": house.project,
            "template": "finetune-20g-30",
            "need": {"profile": "1g.10gb"},
            "command": ["echo", "ran"],
            "expected_seconds": 60,
            "cron": "* * * * *",
            "name": "minutely",
        },
    )
    path = f"schedules/{made['uid']}"

    def started():
        found = member("GET", f"{path}/history")["results"]
        return [row for row in found if row["outcome"] == "started"]

    first = until(started, seconds=90, what="the next full minute has come")[-1]
    member("POST", f"{path}/pause", {"reason": "once is enough"})
    house.ended([first["workload"]])
    # The last words of a log may come a moment after the end.
    until(lambda: log_of(house, first["workload"]) == "ran", what="its log is there")
    assert member("DELETE", path) in (None, "")
