"""The shipped rules and dashboard ask only for metrics that the portal tells, or could tell."""

import json
import re
from pathlib import Path

import pytest
import yaml

from portal.metrics.collector import DECIDED
from portal.metrics.pool import ERRORS, GAUGES

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = yaml.safe_load((DEPLOY / "prometheus" / "gpupool.rules.yaml").read_text())
BOARD = json.loads((DEPLOY / "grafana" / "gpupool.json").read_text())

KNOWN = {
    "gpupool_nodes",
    "gpupool_cards",
    "gpupool_slices",
    "gpupool_workloads",
    "gpupool_project_held_cards",
    "gpupool_card_memory_total_bytes",
    "gpupool_queue_waiting",
    "gpupool_queue_length",
    "gpupool_queue_oldest_seconds",
    "gpupool_round_duration_seconds_bucket",
    "gpupool_round_last_seconds",
    "gpupool_slice_sm_active_ratio",
    "gpupool_slice_memory_used_bytes",
    "gpupool_workload_sm_active_ratio",
    "gpupool_workload_memory_used_bytes",
    "gpupool_workload_memory_held_bytes",
    "gpupool_alerts",
    "gpupool_deliveries",
    "gpupool_sessions",
    "gpupool_events_total",
    "gpupool_rounds_behind",
    "gpupool_readings_age_seconds",
    *(metric for metric, _words, _divisor in GAUGES.values()),
    *(f"{metric}_total" for metric, _words in ERRORS.values()),
    *(f"gpupool_round_{name}_total" for name in DECIDED),
}


def asked(expression):
    return set(re.findall(r"gpupool_[a-z_]+", expression))


@pytest.mark.django_db
def test_the_names_known_here_are_those_that_the_portal_tells(client):
    text = client.get("/metrics").content.decode()
    told = set(re.findall(r"^# TYPE (gpupool_[a-z_]+)", text, re.M))
    bare = {name.removesuffix("_bucket") for name in KNOWN}
    first = {"gpupool_round_last_seconds", "gpupool_readings_age_seconds"}
    assert bare - told <= first, "those need a first round, and a first reading"


def test_every_rule_asks_for_metrics_that_exist_and_says_what_it_means():
    rules = [rule for group in RULES["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 10
    for rule in rules:
        assert asked(rule["expr"]) and asked(rule["expr"]) <= KNOWN, rule["alert"]
        assert rule["labels"]["family"] in {"hardware", "performance"}
        assert rule["labels"]["severity"] in {"info", "warning", "critical"}
        assert rule["annotations"]["summary"]


def test_every_panel_asks_for_metrics_that_exist_and_none_lies_on_another():
    taken = set()
    for panel in BOARD["panels"]:
        for target in panel["targets"]:
            assert asked(target["expr"]) and asked(target["expr"]) <= KNOWN, panel["title"]
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken and at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
