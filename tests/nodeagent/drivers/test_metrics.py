"""The table of metrics says of each kind of card what is measured, and the drivers keep to it."""

import json

import pytest

from nodeagent.drivers.published import read
from nodeagent.protocol.samples import Reading
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_measured import load, mig_slice, wanted

TABLE = read("metrics.json")
ROWS = [f"set gpm.{n} 0 5" for n in (2, 3, 10, 20, 21, 60, 61)]
ROWS += [f"set gpm.{n}.1 0 5" for n in (2, 3, 10, 20, 21)]


def measured(source):
    place = TABLE["sources"].index(source)
    return {row["name"] for row in TABLE["metrics"] if row["fidelity"][place] == "measured"}


def told(row):
    names = {row_["name"] for row_ in TABLE["metrics"]}
    return {name for name in names if row[name] is not None}


def test_every_metric_is_a_field_of_a_reading_and_has_a_unit_and_a_word_for_each_source():
    for row in TABLE["metrics"]:
        assert row["name"] in Reading.__struct_fields__ and row["unit"]
        assert len(row["fidelity"]) == len(TABLE["sources"])
        assert set(row["fidelity"]) <= {"measured", "estimated", "unavailable"}


@pytest.mark.parametrize(
    ("model", "source", "acts"),
    [
        ("H100-80GB", "nvidia_whole", [["create_slice", wanted("a", "whole")]]),
        ("A100-80GB", "nvidia_whole_ampere", [["create_slice", wanted("a", "whole")]]),
        (
            "H100-80GB",
            "nvidia_mig_hopper",
            [
                ["set_mode", "GPU-0", "mig"],
                ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9984)],
                ["slices"],
            ],
        ),
        (
            "A100-80GB",
            "nvidia_mig_ampere",
            [
                ["set_mode", "GPU-0", "mig"],
                ["script", "reset", *ROWS],
                ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9728)],
                ["slices"],
            ],
        ),
    ],
)
def test_what_the_table_calls_measured_is_told_and_the_rest_is_not(
    machine, tmp_path, model, source, acts
):
    world = machine(model)
    world.script(*ROWS)
    acts = [*acts, ["sample", []], ["rest", 0.02], ["sample", [load("a")]]]
    rows = world.run(ACTS, json.dumps([str(tmp_path), acts, True]))[-1]
    (one,) = [row for row in rows if row["slice"] == "a"]
    assert told(one) - {"nvlink_mib_s"} == measured(source) - {"nvlink_mib_s"}
