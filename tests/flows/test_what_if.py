"""A what-if on the running stack: the real worker of its own queue, beside a job that starts."""

import pytest

from tests.waiting import until

pytestmark = [pytest.mark.flow, pytest.mark.xdist_group("stack")]

LINES = "submit_s,duration_s,gpus,team\n" + "".join(
    f"{at * 200},{600 + at * 7 % 900},{1 + at % 4},{'vision' if at % 3 else 'speech'}\n"
    for at in range(600)
)
PLACES = """
SELECT p.slug, c.label, count(*) FROM pool_card c JOIN pool_partition p ON p.id = c.partition_id
GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1
"""


def _asked(admin, record, name, place, count):
    slug, label, _there = place
    changes = {"cards": [{"partition": slug, "model": label, "count": count}]}
    return admin("POST", "what-ifs", {"name": name, "record": record, "changes": changes})["uid"]


def _over(admin, uid):
    """The what-if once it is over."""

    def look():
        row = admin.patient("GET", f"what-ifs/{uid}")
        return row if row and row["state"] in {"done", "failed", "cancelled"} else None

    return until(look, seconds=240.0, what=f"{uid} over")


def test_a_what_if_runs_in_its_own_worker_while_jobs_go_on_and_can_be_cancelled(house):
    admin = house.as_("platform_admin")
    record = admin("POST", "records", {"name": "made", "text": LINES})
    (place,) = house.rows(PLACES)
    first = _asked(admin, record["uid"], "three times as many", place, place[2] * 3)
    until(
        lambda: admin("GET", f"what-ifs/{first}")["state"] != "waiting",
        seconds=60.0,
        what="taken up",
    )
    second = _asked(admin, record["uid"], "left at once", place, place[2] * 2)
    assert admin("POST", f"what-ifs/{second}/cancel")["state"] == "cancelled"
    job = house.submit("true")
    assert house.ended([job])[job]["state"] == "succeeded"
    done = _over(admin, first)
    assert done["state"] == "done", done
    told = admin("GET", f"what-ifs/{first}/comparison")
    assert told["after"]["jobs"] == told["before"]["jobs"] == 600
    assert told["after"]["p95_wait_s"] <= told["before"]["p95_wait_s"]
    assert {row["team"] for row in told["teams"]} == {"vision", "speech"}
    again = admin("POST", f"what-ifs/{first}/copy", {"name": "once more"})["uid"]
    twice = _over(admin, again)
    assert twice["digest"] == done["digest"]
    seal = admin("GET", f"what-ifs/{again}/comparison")["digest_after"]
    assert seal == told["digest_after"]
    for uid in (first, second, again):
        admin("DELETE", f"what-ifs/{uid}")
    admin("DELETE", f"records/{record['uid']}")
