"""D09: one bad card does not spoil the node: the others report, and there is one alert."""

import pytest

from pool.cycle.round import run_rounds
from pool.models import Alert
from tests import rows
from tests.pool.place import seen

pytestmark = pytest.mark.django_db


def test_seven_cards_go_on_while_the_eighth_is_partial_lost_and_hanging(bench, monkeypatch):
    monkeypatch.setattr("nodeagent.drivers.simulated.driver.LOOK_S", 0.1)
    part = rows.partition()
    node = bench(*["A100-80GB"] * 8)
    into = rows.project()
    rows.quota(limit=8_000_000, label="A100-80GB", project=into, partition=part)
    for error, state in (
        ("not_supported", "partial"),
        ("lost", "lost"),
        ("hang", "silent"),
        ("lost", "lost"),
    ):
        node.script(f"faults: [{{at: health, card: 3, error: {error}}}]\n")
        node.turn()
        states = [node.card(index).state for index in range(8)]
        assert states == ["ready"] * 3 + [state] + ["ready"] * 4
    (alert,) = Alert.objects.all()
    assert (alert.key, alert.state) == (f"card:{node.card(3).uid}", "firing")
    jobs = [rows.workload(into=into, need={"parts": 1, "whole": True}) for _ in range(8)]
    for _ in range(3):
        run_rounds()
        node.turn()
    assert sorted(seen(job).state for job in jobs) == ["queued"] + ["running"] * 7
    node.script("")
    for _ in range(2):
        node.turn()
        run_rounds()
    node.turn()
    alert.refresh_from_db()
    assert alert.state == "resolved" and node.card(3).state == "ready"
    assert {seen(job).state for job in jobs} == {"running"}
