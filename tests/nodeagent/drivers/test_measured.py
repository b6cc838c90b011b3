"""What real NVIDIA cards measure and how they hang together, through the real binding."""

import json

import pytest

from tests.fakes.nvml.world import World, build
from tests.nodeagent.drivers.test_every_card import ACTS
from tests.nodeagent.drivers.test_nvml import OWNER


@pytest.fixture
def play(machine, tmp_path):
    """Plays acts on a machine with cards of these models under this script."""

    def made(models, script, *acts, carve=True):
        world = machine(*models)
        world.script(*script)
        return world.run(ACTS, json.dumps([str(tmp_path), acts, carve]))

    return made


def load(uid, *pids):
    moved = {"disk_mib_s": 2.5, "net_mib_s": 0.5}
    row = {"slice": uid, "attempt": f"at-{uid}", "pids": list(pids), "cpu": 1.5, "ram_mib": 300.0}
    return row | moved


def wanted(uid, mode, **more):
    row = {"uid": uid, "card": "GPU-0", "mode": mode, "profile": mode}
    return row | {"memory_mib": 81920, "compute_milli": 1000} | more


def by_slice(readings):
    return {row["slice"]: row for row in readings}


def test_a_whole_card_of_hopper_tells_everything_of_the_table(play):
    script = ["set util 0 40", "set power_mw 0 350000", "set temperature 0 71", "set used 0 1000"]
    script += ["set throttle 0 4", "set ecc_corrected 0 2", "set encoder 0 7"]
    script += [f"set gpm.{n} 0 {value}" for n, value in ((2, 55), (3, 30), (10, 20), (20, 100))]
    script += ["set gpm.21 0 50", "set gpm.60 0 9", "set gpm.61 0 1"]
    make = ["create_slice", wanted("a", "whole", memory_mib=81559)]
    row = play(["H100-80GB"], script, make, ["sample", []], ["sample", [load("a")]])[2]
    one = by_slice(row)["a"]
    assert (one["util_mean"], one["sm_mean"], one["occupancy_mean"]) == (40.0, 55.0, 30.0)
    assert (one["bandwidth_mean"], one["pcie_mib_s"], one["nvlink_mib_s"]) == (20.0, 150.0, 10.0)
    assert (one["power_w_mean"], one["temperature_c_max"], one["throttle"]) == (350.0, 71.0, 4)
    assert (one["memory_mib_mean"], one["ecc_corrected"], one["encoder_mean"]) == (1000.0, 2, 7.0)
    assert (one["attempt"], one["cpu_milli_mean"], one["ram_mib_mean"]) == ("at-a", 1500.0, 300.0)
    assert (one["disk_mib_s"], one["net_mib_s"]) == (2.5, 0.5)


def test_the_pcie_link_is_told_as_it_is_now_beside_what_it_could_be(play):
    script = ["set pcie_width 0 8", "set pcie_generation 0 1", "set pcie_generation_max 0 5"]
    script += ["fail nvmlDeviceGetCurrPcieLinkWidth 3 1"]
    (card, _), (row, other) = play(["H100-80GB"] * 2, script, ["inventory"], ["sample", []])
    assert (row["pcie_width"], row["pcie_generation"]) == (8, 1)
    assert (card["pcie_width_max"], card["pcie_generation_max"]) == (16, 5)
    assert (other["pcie_width"], other["pcie_generation"]) == (None, 4), "unknown is not 0"


def test_counters_of_an_older_card_come_from_where_it_has_them(play):
    script = ["set pcie_tx_kib 0 2048", "set pcie_rx_kib 0 1024", "set util 0 90"]
    row = play(["A100-80GB"], script, ["sample", []])[0][0]
    assert (row["pcie_mib_s"], row["util_mean"]) == (3.0, 90.0)
    assert row["sm_mean"] is row["occupancy_mean"] is row["bandwidth_mean"] is None
    assert row["nvlink_mib_s"] is None, "one look is no rate"


def mig_slice(uid, profile, start, size, memory):
    return wanted(uid, "mig", profile=profile, start=start, size=size, memory_mib=memory)


def test_slices_of_hopper_are_measured_one_by_one_and_those_of_ampere_are_unknown(play):
    hopper = [
        ["set_mode", "GPU-0", "mig"],
        ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9984)],
        ["create_slice", mig_slice("b", "3g.40gb", 4, 4, 40448)],
        ["slices"],
        ["sample", []],
        ["sample", [load("a"), load("b")]],
    ]
    script = ["set gpm.2.1 0 20", "set gpm.2.2 0 80", "set util 0 50"]
    rows = by_slice(play(["H100-80GB"], script, *hopper)[-1])
    assert (rows["a"]["sm_mean"], rows["b"]["sm_mean"]) == (20.0, 80.0)
    assert (rows["a"]["attempt"], rows["b"]["attempt"]) == ("at-a", "at-b")
    assert rows[None]["util_mean"] is None, "a card that is cut has no utilisation of its own"
    assert rows["a"]["power_w_mean"] is None, "power is the board's"


def test_an_instance_of_ampere_has_memory_and_no_utilisation_at_all(play):
    acts = [
        ["set_mode", "GPU-0", "mig"],
        ["script", "reset"],
        ["script", "set util 0 0"],
        ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9728)],
        ["slices"],
        ["sample", []],
        ["sample", [load("a")]],
    ]
    rows = by_slice(play(["A100-80GB"], [], *acts)[-1])
    assert rows["a"]["util_mean"] is rows["a"]["sm_mean"] is None
    assert rows["a"]["memory_mib_mean"] == 0.0


def test_a_share_uses_what_the_processes_of_its_own_job_use(play, tmp_path):
    (tmp_path / "slices.json").write_text(
        json.dumps(
            {
                "modes": {"GPU-0": "mps"},
                "shares": {
                    uid: {
                        "card": "GPU-0",
                        "mode": "mps",
                        "profile": "share",
                        "memory_mib": 10240,
                        "compute_milli": 250,
                        "device": "GPU-0",
                    }
                    for uid in "ab"
                },
            }
        )
    )
    script = ["proc 0 -1 -1 11 9216", "proc 0 -1 -1 12 9216", "proc 0 -1 -1 13 512"]
    script += ["set sm.11 0 30", "set sm.12 0 15", "set sm.13 0 5"]
    rows = by_slice(play(["A100-80GB"], script, ["sample", [load("a", 11, 12), load("b", 13)]])[0])
    assert (rows["a"]["memory_mib_mean"], rows["b"]["memory_mib_mean"]) == (18432.0, 512.0)
    assert (rows["a"]["sm_mean"], rows["b"]["sm_mean"]) == (45.0, 5.0)


def test_links_switches_and_domains_are_read_and_scored(play):
    script = [f"set links {n} 12" for n in range(4)] + [f"set switched {n} 1" for n in (0, 1)]
    script += ["set peer 2 3", "set peer 3 2", "set level.1 0 10", "set level.3 2 50"]
    cards = play(["H100-80GB"] * 5, script, ["inventory"])[0]
    by_uuid = {card["uuid"]: card for card in cards}
    paths = {
        (card["uuid"], link["peer"]): (link["score"], link["nvlinks"])
        for card in cards
        for link in card["links"]
    }
    assert paths["GPU-0", "GPU-1"] == (50 + 1200, 12) and paths["GPU-2", "GPU-3"] == (1210, 12)
    assert paths["GPU-0", "GPU-2"] == paths["GPU-4", "GPU-0"] == (20, 0)
    assert by_uuid["GPU-0"]["domain"] == by_uuid["GPU-1"]["domain"]
    assert by_uuid["GPU-0"]["domain"].startswith("nvswitch/")
    assert by_uuid["GPU-2"]["domain"] == by_uuid["GPU-3"]["domain"] == "nvlink/GPU-2"
    assert by_uuid["GPU-4"]["domain"] is None


def test_cards_whose_links_all_end_at_switches_are_one_domain_though_no_driver_says_so(play):
    script = [f"set {name} {n} 1" for n in range(4) for name in ("switched", "no_fabric")]
    script += [f"set links {n} 12" for n in range(3)] + [
        "set links 4 12",
        "set peer 4 5",
        "set links 5 12",
    ]
    script += ["set peer 5 4"]
    cards = {one["uuid"]: one for one in play(["A100-80GB"] * 6, script, ["inventory"])[0]}
    assert [cards[f"GPU-{n}"]["domain"] for n in range(6)] == [
        *["nvswitch/GPU-0"] * 3,
        None,
        "nvlink/GPU-4",
        "nvlink/GPU-4",
    ]
    links = {link["peer"]: link["nvlinks"] for link in cards["GPU-0"]["links"]}
    assert links == {"GPU-1": 12, "GPU-2": 12, "GPU-3": 0, "GPU-4": 0, "GPU-5": 0}


@pytest.mark.parametrize(
    ("state", "domain", "count"), [(0, "nvswitch/GPU-0", 18), (1, None, 0), (2, None, 0)]
)
def test_a_fabric_that_did_not_come_up_links_nobody(play, state, domain, count):
    script = [f"set {name} {n} 1" for n in range(2) for name in ("switched",)]
    script += [f"set links {n} 18" for n in range(2)]
    script += [f"set fabric_state {n} {state}" for n in range(2)]
    cards = play(["H100-80GB"] * 2, script, ["inventory"])[0]
    assert [one["domain"] for one in cards] == [domain] * 2
    assert [one["links"][0]["nvlinks"] for one in cards] == [count] * 2


def test_a_card_is_called_by_what_is_published_of_it_and_its_own_word_wins(play):
    (card,) = play(["A100-40GB"], ["set limit_mw 0 250000"], ["inventory"])[0]
    assert (card["label"], card["nominal_gb"], card["memory_mib"]) == ("A100-40GB", 40, 40960)
    assert (card["tdp_w"], card["nvenc"], card["architecture"]) == (250, 0, "Ampere")
    assert "bf16" in card["precisions"] and card["strength"] == 468


def test_functions_that_an_older_driver_lacks_leave_only_their_meters_unknown(
    tmp_path_factory, tmp_path
):
    lost = ("nvmlGpmQueryDeviceSupport", "nvmlDeviceGetNumaNodeId", "nvmlDeviceGetGpuFabricInfoV")
    library = build(
        tmp_path_factory.mktemp("older"), (*lost, "nvmlDeviceGetCurrentClocksEventReasons")
    )
    (tmp_path / "world").mkdir()
    world = World(library, tmp_path / "world", ("H100-80GB",))
    world.script("set util 0 40", "set throttle 0 8")
    acts = [["inventory"], ["sample", []], ["health"], ["modes"]]
    cards, rows, health, modes = world.run(ACTS, json.dumps([str(tmp_path), acts, True]))
    assert (cards[0]["numa"], cards[0]["domain"]) == (None, None)
    assert (rows[0]["util_mean"], rows[0]["sm_mean"], rows[0]["throttle"]) == (40.0, None, 8)
    assert health[0]["health"] == "ok" and modes == {"GPU-0": "whole"}


def test_a_name_that_is_no_text_costs_the_card_its_name_only(play):
    cards = play(["H100-80GB", "A30"], ["garble 0"], ["inventory"])[0]
    assert [card["uuid"] for card in cards] == ["GPU-0", "GPU-1"]
    assert cards[0]["model"] == "NVIDIA card" and cards[1]["model"] == "NVIDIA A30"


def test_an_error_is_kept_over_a_restart_and_names_the_slice_it_happened_in(play):
    acts = [
        ["set_mode", "GPU-0", "mig"],
        ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9984)],
        ["slices"],
        ["script", "xid 0 13 1 0", "xid 1 94"],
        ["rest", 1.5],
        ["health"],
        ["script"],
        ["health"],
    ]
    first, again = play(["H100-80GB", "H100-80GB"], [], *acts)[5::2]
    told = [[(e["number"], e["asks"], e["slice"]) for e in one["errors"]] for one in first]
    assert told == [[(13, "workload", "a")], [(94, "clean_period", "")]]
    assert [one["errors"] for one in again] == [one["errors"] for one in first]


def test_a_lost_card_stays_out_after_a_restart_until_the_machine_boots(machine, tmp_path):
    world = machine("H100-80GB")
    said = json.dumps([str(tmp_path), [["script", "xid 0 79"], ["rest", 1.5], ["health"]], False])
    assert world.run(ACTS, said)[2][0]["health"] == "reset_needed"
    world.script()
    again = json.dumps([str(tmp_path), [["health"]], False])
    assert world.run(ACTS, again)[0][0]["health"] == "reset_needed"
    errors = json.loads((tmp_path / "errors.json").read_text())
    (tmp_path / "errors.json").write_text(json.dumps(errors | {"boot": "the boot before"}))
    assert world.run(ACTS, again)[0][0]["health"] == "ok"


def test_cards_that_answer_nothing_hang_or_are_lost_do_not_hide_the_others(play):
    acts = [
        ["script", "fail * 3 3", "fail * 15 5", "hang * 7"],
        ["health"],
        ["sample", []],
        ["script", "set util * 1"],
    ]
    health, rows = play(["A100-80GB"] * 8, [], *acts)[1:3]
    words = {one["uuid"]: one["health"] for one in health}
    assert words == {f"GPU-{n}": "ok" for n in (0, 1, 2, 4, 6)} | {
        "GPU-3": "partial",
        "GPU-5": "lost",
        "GPU-7": "silent",
    }
    assert {row["card"] for row in rows} == {f"GPU-{n}" for n in (0, 1, 2, 4, 6)}


def test_a_card_that_hides_when_the_agent_starts_is_still_known_and_lost(machine, tmp_path):
    world = machine("A100-80GB", "A30")
    given = json.dumps([str(tmp_path), [["inventory"], ["health"], ["modes"]], False])
    world.run(ACTS, given)
    world.script("fail * 15 1")
    cards, health, modes = world.run(ACTS, given)
    assert [card["uuid"] for card in cards] == ["GPU-0", "GPU-1"]
    assert [one["health"] for one in health] == ["ok", "lost"] and modes == {"GPU-0": "whole"}


def test_a_card_that_hangs_when_the_agent_starts_takes_no_other_card_along(machine, tmp_path):
    world = machine("A100-80GB", "A30", "A30")
    given = json.dumps([str(tmp_path), [["inventory"], ["health"], ["sample", []]], True])
    world.run(ACTS, given)
    world.script("hang * 1")
    cards, health, rows = world.run(ACTS, given)
    assert [card["uuid"] for card in cards] == ["GPU-0", "GPU-2", "GPU-1"]
    assert {one["uuid"]: one["health"] for one in health} == {
        "GPU-0": "ok",
        "GPU-1": "lost",
        "GPU-2": "ok",
    }
    assert {row["card"] for row in rows} == {"GPU-0", "GPU-2"}


def two_instances():
    """Two slices of one Hopper card; the library numbers them 1 and 2."""
    return [
        ["set_mode", "GPU-0", "mig"],
        ["create_slice", mig_slice("a", "1g.10gb", 0, 1, 9984)],
        ["create_slice", mig_slice("b", "3g.40gb", 4, 4, 40448)],
        ["slices"],
    ]


def test_memory_in_an_instance_is_its_holders_though_no_tree_knows_the_processes(play):
    """As in a container; another compute instance of the same GPU instance is somebody else."""
    script = ["fail nvmlDeviceGetHandleByUUID 3", "proc 0 1 0 4194301 9216", "proc 0 1 1 4194302 7"]
    script += ["proc 0 2 0 4194303 512", "proc 0 2 0 4194304 512"]
    acts = [*two_instances(), ["script", *script], ["sample", [load("a"), load("b", 1)]]]
    rows = by_slice(play(["H100-80GB"], [], *acts)[-1])
    told = {uid: (rows[uid]["attempt"], rows[uid]["memory_mib_mean"]) for uid in "ab"}
    assert told == {"a": ("at-a", 9216.0), "b": ("at-b", 1024.0)}


def test_a_stranger_inside_one_instance_names_its_slice(play, people):
    job, stranger = people
    script = [f"proc 0 1 0 {job} 100", f"proc 0 2 0 {stranger} 100"]
    acts = [*two_instances(), ["script", *script], ["health"]]
    (told,) = play(["H100-80GB"], [], *acts)[-1]
    assert told["health"] == "contested" and told["foreign"] == [
        f"sleep ({stranger}){OWNER} in slice b"
    ]
    assert "in slice b" in told["reason"] and "slice a" not in told["reason"]


def test_a_stranger_on_a_card_that_is_cut_by_others_names_the_instance(play, people):
    _, stranger = people
    script = [f"proc 0 7 0 {stranger} 100", f"proc 1 -1 -1 {stranger} 100"]
    acts = [*two_instances(), ["script", *script], ["health"]]
    first, second = play(["H100-80GB"] * 2, [], *acts)[-1]
    assert first["foreign"] == [f"sleep ({stranger}){OWNER} in instance 7"]
    assert second["foreign"] == [f"sleep ({stranger}){OWNER}"], (
        "a card that is not cut has no instance"
    )
