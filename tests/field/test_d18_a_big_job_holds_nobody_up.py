"""D18: a job that cannot fit now does not hold up a small one that fits beside it."""

import pytest

from tests.field.cases import LONG
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("cases")]


def whole(cases, parts=1, seconds=3600):
    need = {"whole": True, "parts": parts, "topology": "node", "cpu_milli": 1000 * parts}
    words = {"template": "train-whole-card", "need": need, "partitions": ["h100"]}
    return cases.submit(LONG, expected_seconds=seconds, **words)


def test_the_small_job_starts_on_the_other_node_and_the_big_one_keeps_its_place(cases):
    filling = [whole(cases, seconds=300) for _ in range(6)]
    cases.all_in_state(filling, "running", seconds=180)
    where = cases.places(filling)
    stays = next(uid for uid in filling if where[uid][0] == "wide-a")
    for uid in filling:
        if uid != stays:
            cases.as_("member")("POST", f"workloads/{uid}/cancel")
    held = "SELECT count(*) FROM pool_hold WHERE upper_inf(held) AND card_id IS NOT NULL"
    until(lambda: cases.rows(held) == [(1,)], seconds=60, what="four and one card are free")
    big = whole(cases, parts=5, seconds=600)
    until(lambda: cases.work(big)["waits"], seconds=60, what="the big job is told why")
    small = whole(cases, seconds=600)
    cases.all_in_state([small], "running", seconds=180)
    assert cases.places([small])[small][0] == "wide-b"
    row = cases.work(big)
    assert (row["state"], row["waits"]["position"]) == ("queued", 1)
    assert row["waits"]["starts_s"] is not None
    short = row["waits"]["shortage"]
    assert (short["needed"], short["free"]) == (5, 4)
