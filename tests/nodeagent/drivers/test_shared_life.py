"""A card goes from mode to mode through the whole driver, with the vendor's programs beside it."""

import json
import os
import re

import pytest

from nodeagent.drivers.nvml import files
from tests.fakes import programs
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_measured import mig_slice, wanted


@pytest.fixture
def node(machine, tmp_path):
    world = machine("H100-80GB", "A30")
    folder = tmp_path / "bin"
    programs.put(folder, "nvidia-smi", programs.SMI)
    programs.put(folder, "nvidia-cuda-mps-control", programs.MPS)
    path = f"{folder}:{os.environ['PATH']}"

    def play(*acts, carve=True, **more):
        given = json.dumps([str(tmp_path), acts, carve])
        return world.run(ACTS, given, PATH=path, FAKES=str(folder), **more)

    play.folder, play.state = folder, tmp_path
    return play


def share(uid, mode="mps"):
    return wanted(uid, mode, profile="share", memory_mib=20000, compute_milli=250)


def test_what_a_node_can_do_is_said_card_by_card_with_who_keeps_it(node):
    cards = node(["inventory"])[0]
    for card in cards:
        assert card["modes"] == ["whole", "mig", "mps", "timeslice"]
        assert [(a["mode"], a["memory"], a["compute"]) for a in card["abilities"]] == [
            ("whole", "hardware", "hardware"),
            ("mig", "hardware", "hardware"),
            ("mps", "daemon", "daemon"),
            ("timeslice", "sampling", "none"),
        ]
    assert node(["inventory"], carve=False)[0][0]["modes"] == ["whole"]


def test_shares_are_agreed_told_to_their_jobs_and_taken_back(node):
    first = node(
        ["set_mode", "GPU-0", "mps"],
        ["create_slice", share("a")],
        ["create_slice", share("b")],
        ["create_slice", share("c")],
        ["create_slice", share("d")],
        ["create_slice", share("e")],
        ["modes"],
        ["environment", "a"],
    )
    assert [row["uid"] for row in first[1:5]] == list("abcd")
    assert first[5]["no"] == "Refused" and "100000 of 81559 MiB" in first[5]["why"]
    assert first[6] == {"GPU-0": "mps", "GPU-1": "whole"}
    assert first[7]["CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"] == "25"
    stays = node(["slices"], ["modes"], ["set_mode", "GPU-0", "mig"])
    assert sorted(row["uid"] for row in stays[0]) == list("abcd")
    assert stays[1] == first[6] and stays[2]["no"] == "Busy"
    deletes = [["delete_slice", uid] for uid in "abcd"]
    end = node(*deletes, ["set_mode", "GPU-0", "mig"], ["modes"])
    assert end[:5] == [None] * 5 and end[5]["GPU-0"] == "mig"
    said = programs.calls(node.folder)
    assert said.index("mps quit") < said.index("smi -i GPU-0 -c DEFAULT")


def test_a_program_that_refuses_leaves_the_card_in_the_mode_it_was_in(node):
    (node.folder / "smi_refuses").write_text("Unable to set the compute mode")
    refused, modes, made = node(
        ["set_mode", "GPU-0", "mps"], ["modes"], ["create_slice", share("a")]
    )
    assert refused["no"] == "Refused" and "compute mode" in refused["why"]
    assert modes["GPU-0"] == "whole" and made["no"] == "Refused"


def test_a_slice_of_another_mode_than_the_cards_is_refused(node):
    made = node(
        ["create_slice", share("a", "timeslice")],
        ["create_slice", mig_slice("b", "1g.10gb", 0, 1, 9984)],
        ["create_slice", wanted("c", "vgpu")],
    )
    assert [one["no"] for one in made] == ["Refused", "Refused", "NotSupported"]


def test_a_holder_may_open_its_own_card_and_the_library_and_nothing_else(node):
    made = node(["create_slice", wanted("a", "whole")], ["slices"])[1]
    assert node(["device_nodes", made])[0] == [*files.CONTROL, "/dev/nvidia0"]


def test_an_instance_is_opened_through_its_own_capabilities(tmp_path):
    for name, minor in (("gi3/access", 30), ("gi3/ci0/access", 31), ("gi4/access", 40)):
        path = tmp_path / "gpu2" / "mig" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"DeviceFileMinor: {minor}\nDeviceFileMode: 292\n")
    names = files.instance_files(2, 3, tmp_path)
    caps = [name for name in names if re.search("cap", name)]
    assert caps == ["/dev/nvidia-caps/nvidia-cap30", "/dev/nvidia-caps/nvidia-cap31"]
    assert "/dev/nvidia2" in names


@pytest.mark.parametrize(("policy", "kind"), [("equal_share", None), ("unfair", "NotSupported")])
def test_devices_of_a_hypervisors_card_take_turns_by_the_policy_it_was_given(node, policy, kind):
    types = node.state / "sys/class/mdev_bus/0000:10:00.0/mdev_supported_types/nvidia-1"
    types.mkdir(parents=True)
    (types / "name").write_text("NVIDIA H100-10C")
    (types / "available_instances").write_text("4")
    card, refused, entered, mode = node(
        ["inventory"],
        ["set_mode", "GPU-0", "vgpu"],
        ["script", "set vgpu_host 0 1"],
        ["modes"],
        VGPU_POLICY=policy,
    )
    assert card[0]["modes"][-1] == "vgpu" and card[0]["abilities"][-1]["licence"] == "vCS"
    assert refused["no"] == "NotSupported" and mode["GPU-0"] == "whole"
    (came,) = node(["set_mode", "GPU-0", "vgpu"], VGPU_POLICY=policy)
    assert (came or {}).get("no") == kind
