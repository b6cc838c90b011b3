"""D02: a step of a re-carve that hangs ends with its cause, and asking again really tries again."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import Event, Slice
from tests import rows
from tests.pool.place import Place, seen

pytestmark = pytest.mark.django_db

MIG = {"parts": 1, "profile": "1g.10gb"}


@pytest.fixture
def place(bench, monkeypatch):
    monkeypatch.setattr("nodeagent.execute.CALL_LIMIT_S", 0.05)
    monkeypatch.setattr("nodeagent.execute.RETRY_S", (0.0,))
    part = rows.partition()
    node = bench(*["A100-80GB"] * 8)
    into = rows.project()
    quota = rows.quota(limit=8_000_000, label="A100-80GB", project=into, partition=part)
    return Place(node, quota, into)


def test_a_step_that_hangs_once_is_tried_again_by_itself(place):
    place.node.script("faults: [{at: mode, error: hang, times: 1}]\n")
    job = place.submit(need=MIG)
    for _ in range(3):
        place.node.turn()
    assert Slice.objects.get().state == "ready"
    assert seen(job).state == "running"


def test_one_that_hangs_for_long_fails_with_its_cause_and_the_same_wish_works_later(place):
    place.node.script("faults: [{at: mode, error: hang}]\n")
    job = place.submit(need=MIG)
    for _ in range(4):
        place.node.turn()
        run_rounds()
    refused = [one for one in place.node.outcomes if not one.ok]
    assert {str(one.step) for one in refused} == {"set_mode"}
    assert {one.reason for one in refused} == {"no answer within 0.05 s"}
    told = Event.objects.filter(kind="slice.moved", data__to="failed").values_list(
        "data", flat=True
    )
    assert told and all("no answer within" in row["reason"] for row in told)
    assert not any(one.state == "ready" for one in place.node.slices.values())
    place.node.script("")
    again = place.submit(need=MIG)
    for _ in range(4):
        place.node.turn()
        run_rounds()
    assert seen(again).state == "running"
    assert {row.state for row in Slice.objects.exclude(state="gone")} == {"ready"}
    assert seen(job).state not in ("placed", "starting"), "nothing is stuck half-way"
    assert all(one.health == "ok" for one in place.node.report().cards), "monitoring goes on"
