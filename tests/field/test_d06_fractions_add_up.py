"""D06: shares by memory and by fraction fill a card of 46,068 MiB to the last one that fits."""

import pytest

from tests.field.cases import LONG
from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("cases")]


def share(cases, **need):
    asked = {"modes": ["mps"], "isolation": "process", "cpu_milli": 500, **need}
    return cases.submit(LONG, expected_seconds=600, need=asked, partitions=["graphics"])


def settled(cases, uids, runs):
    """So many run, and the others wait with their reason."""

    def states():
        return [cases.work(uid)["state"] for uid in uids]

    until(lambda: states().count("running") == runs, seconds=240, what=f"{runs} run")
    rest = [row for uid in uids if (row := cases.work(uid))["state"] != "running"]
    until(
        lambda: all(cases.work(row["uid"])["waits"] for row in rest),
        seconds=60,
        what="the others are told why",
    )
    rest = [cases.work(row["uid"]) for row in rest]
    assert {row["state"] for row in rest} <= {"queued"}
    assert len(rest) == len(uids) - runs
    return rest


def test_twenty_three_times_2000_mib_run_and_the_next_starts_when_one_ends(cases):
    uids = [share(cases, memory_mib=2000, compute_percent=4) for _ in range(24)]
    (last,) = settled(cases, uids, 23)
    short = last["waits"]["shortage"]
    assert (short["unit"], short["needed"], short["free"]) == ("memory_mib", 2000, 68)
    ended = next(uid for uid in uids if uid != last["uid"])
    cases.as_("member")("POST", f"workloads/{ended}/cancel")
    cases.all_in_state([last["uid"]], "running", seconds=180)


@pytest.mark.parametrize(("percent", "asked", "runs"), [(33, 4, 3), (34, 3, 2), (10, 11, 10)])
def test_fractions_fill_the_card_without_drift(cases, percent, asked, runs):
    uids = [share(cases, share_percent=percent) for _ in range(asked)]
    assert len(settled(cases, uids, runs)) == asked - runs
