"""The MIG life of a card, from the driver through the real binding to the stand-in library."""

import json

import pytest

from nodeagent.drivers.simulated import cards

RUN = "import runpy; runpy.run_module('tests.fakes.nvml.driver_acts', run_name='__main__')"
MODELS = ["A100-80GB", "A30", "H100-80GB"]
CARD = "GPU-0"


class Node:
    """A machine with one card and the driver's state; every `play` is a driver started anew."""

    def __init__(self, world, state, model):
        self.world, self.state, self.model = world, state, model
        self.table = cards.mig(cards.published(model))

    def play(self, *acts, carve=True):
        return self.world.run(RUN, json.dumps([str(self.state), acts, carve]))

    def enter_mig(self):
        said = self.play(["set_mode", CARD, "mig"])[0]
        if self.table.reset_to_enter:
            assert said["no"] == "Refused" and "resets the card" in said["why"]
            assert self.play(["modes"]) == [{CARD: "whole"}]
            self.world.reset()
        assert self.play(["modes"]) == [{CARD: "mig"}]

    def cut(self, uid, profile, start, **other):
        return ["create_slice", wanted(uid, profile, start) | other]

    def half(self):
        """A profile of half the card."""
        return next(
            p for p in self.table.profiles if p.size * 2 == self.table.units and not p.media
        )

    def one(self):
        return self.table.profiles[0]


def wanted(uid, profile, start):
    return {
        "uid": uid,
        "card": CARD,
        "mode": "mig",
        "profile": profile.name,
        "memory_mib": profile.memory_mib,
        "compute_milli": 100,
        "start": start,
        "size": profile.size,
    }


@pytest.fixture
def node(machine, tmp_path):
    def made(model):
        state = tmp_path / "agent"
        state.mkdir()
        return Node(machine(model), state, model)

    return made


def rows(found):
    return sorted((row["uid"] or "", row["profile"], row["start"], row["state"]) for row in found)


@pytest.mark.parametrize("model", MODELS)
def test_the_geometry_is_read_from_the_card_and_is_that_of_the_facts(node, model):
    one = node(model)
    card = one.play(["inventory"])[0][0]
    cut = next(g for g in card["geometries"] if g["mode"] == "mig")
    told = {p["name"]: (p["profile_id"], p["size"], tuple(p["starts"])) for p in cut["profiles"]}
    assert told == {p.name: (p.profile_id, p.size, p.starts) for p in one.table.profiles}
    assert cut["units"] == one.table.units and cut["compute_units"] == one.table.compute_units
    assert cut["reset_to_enter"] == one.table.reset_to_enter and card["modes"] == ["whole", "mig"]


@pytest.mark.parametrize("model", MODELS)
def test_a_card_goes_through_its_whole_mig_life(node, model):
    one = node(model)
    one.enter_mig()
    half, unit = one.half(), one.one()
    low, high = half.starts[0], half.starts[-1]
    made = one.play(one.cut("a", half, low), one.cut("b", unit, high), ["slices"])
    assert made[0]["device"].startswith("MIG-") and made[0]["device"] != made[1]["device"]
    assert rows(made[2]) == [
        ("a", half.name, low, "ready"),
        ("b", unit.name, high, "ready"),
    ]
    taken, wrong, stays = one.play(
        one.cut("c", half, high), one.cut("d", half, 1), ["set_mode", CARD, "whole"]
    )
    assert taken["no"] == wrong["no"] == "Refused" and stays["no"] == "Busy"
    again = one.play(one.cut("a", half, low), ["delete_slice", "a"], ["delete_slice", "a"])
    assert again == [made[0], None, None]
    assert rows(one.play(["delete_slice", "b"], ["slices"])[1]) == []
    left = one.play(["set_mode", CARD, "whole"])[0]
    assert (left is None) != one.table.reset_to_enter


@pytest.mark.parametrize("model", MODELS)
def test_every_place_of_every_profile_can_be_cut_and_freed(node, model):
    one = node(model)
    one.enter_mig()
    acts = [
        act
        for profile in one.table.profiles
        for start in profile.starts
        for act in (one.cut("x", profile, start), ["slices"], ["delete_slice", "x"])
    ]
    came = one.play(*acts, ["slices"])
    assert came[-1] == []
    assert [rows(found) for found in came[1:-1:3]] == [
        [("x", profile.name, start, "ready")]
        for profile in one.table.profiles
        for start in profile.starts
    ]


def test_nothing_is_offered_or_changed_on_a_card_unless_the_agent_may_carve(node):
    one = node("H100-80GB")
    card, refused, cut = one.play(
        ["inventory"], ["set_mode", CARD, "mig"], one.cut("a", one.one(), 0), carve=False
    )
    assert card[0]["modes"] == ["whole"]
    assert refused["no"] == cut["no"] == "NotSupported"
    assert one.play(["modes"]) == [{CARD: "whole"}]


def test_a_card_that_somebody_put_into_mig_mode_is_not_offered_whole(node):
    one = node("H100-80GB")
    one.enter_mig()
    whole = wanted("w", one.one(), 0) | {"mode": "whole", "profile": "whole"}
    card, modes, refused = one.play(["inventory"], ["modes"], ["create_slice", whole], carve=False)
    assert card[0]["modes"] == []
    assert modes == {}
    assert refused["no"] in {"NotSupported", "Refused", "Busy"}


def test_a_removal_that_is_stopped_half_way_is_told_and_finished_later(node):
    one = node("H100-80GB")
    one.enter_mig()
    one.play(one.cut("a", one.one(), 0))
    one.world.script("fail nvmlGpuInstanceDestroy 19")
    busy, found = one.play(["delete_slice", "a"], ["slices"])
    assert busy["no"] == "Busy" and rows(found)[0][3] == "failed"
    one.world.script()
    assert one.play(["slices"], ["delete_slice", "a"], ["slices"])[1:] == [None, []]


def test_an_instance_without_its_compute_part_is_given_back(node):
    one = node("H100-80GB")
    one.enter_mig()
    one.world.script("fail nvmlGpuInstanceCreateComputeInstance 23")
    refused, found = one.play(one.cut("a", one.one(), 0), ["slices"])
    assert refused["no"] == "Refused" and rows(found)[0] == ("a", one.one().name, 0, "failed")
    one.world.script()
    assert one.play(["delete_slice", "a"], ["slices"]) == [None, []]


def test_an_agent_killed_while_it_cut_finishes_the_slice_when_it_opens(node):
    one = node("H100-80GB")
    one.enter_mig()
    kill = (
        "import os, pynvml; "
        "pynvml.nvmlGpuInstanceCreateComputeInstance = lambda *_: os._exit(0); " + RUN
    )
    one.world.run(kill, json.dumps([str(one.state), [one.cut("a", one.one(), 3)], True]))
    found = one.play(["slices"])[0]
    assert rows(found) == [("a", one.one().name, 3, "ready")]
    assert found[0]["device"].startswith("MIG-")


def test_instances_that_nobody_named_are_shown_and_taken_over_at_their_place(node):
    one = node("H100-80GB")
    one.enter_mig()
    device = one.play(one.cut("a", one.one(), 2))[0]["device"]
    (one.state / "mig.json").unlink()
    assert rows(one.play(["slices"])[0]) == [("", one.one().name, 2, "ready")]
    assert one.play(one.cut("b", one.one(), 2))[0]["device"] == device
    assert rows(one.play(["slices"])[0]) == [("b", one.one().name, 2, "ready")]


def test_a_slice_on_a_card_that_is_lost_is_kept_in_mind_until_it_can_be_removed(node):
    one = node("H100-80GB")
    one.enter_mig()
    one.play(one.cut("a", one.one(), 2))
    one.world.script("fail nvmlDeviceGetMigMode 15")
    assert one.play(["delete_slice", "a"])[0]["no"] == "Lost"
    one.world.script()
    assert one.play(["delete_slice", "a"], ["slices"]) == [None, []]


def test_after_a_boot_the_slices_are_gone_and_can_be_cut_anew(node):
    one = node("H100-80GB")
    one.enter_mig()
    before = one.play(one.cut("a", one.one(), 2))[0]["device"]
    one.world.reset()
    wish = one.cut("b", one.one(), 2)
    modes, gone, refused, failures, mode, back = one.play(
        *(["modes"], ["slices"], wish, ["converge", [wish[1]]], ["modes"], ["slices"])
    )
    assert modes == {CARD: "whole"} and gone == [], "Hopper loses the mode with the power"
    assert refused["no"] == "Refused" and failures == [] and mode == {CARD: "mig"}
    assert rows(back) == [("b", one.one().name, 2, "ready")] and back[0]["device"] != before


def test_ampere_keeps_its_mode_over_a_boot_and_loses_the_slices(node):
    one = node("A100-80GB")
    one.enter_mig()
    one.play(one.cut("a", one.one(), 2))
    one.world.reset()
    assert one.play(["modes"], ["slices"]) == [{CARD: "mig"}, []]


@pytest.mark.parametrize(
    ("script", "why"),
    [("set held 0 1", "holds the card open"), ("proc 0 -1 -1 4194301 100", "processes run")],
)
def test_a_card_in_use_is_not_put_into_mig_mode_and_is_asked_again(node, script, why):
    one = node("H100-80GB")
    one.world.script(script)
    said, modes = one.play(["set_mode", CARD, "mig"], ["modes"])
    assert said["no"] == "Busy" and why in said["why"]
    assert modes == {CARD: "whole"}
    one.world.script()
    assert one.play(["set_mode", CARD, "mig"], ["modes"]) == [None, {CARD: "mig"}]


def test_an_empty_card_that_a_program_holds_open_stays_in_mig_mode(node):
    one = node("H100-80GB")
    one.enter_mig()
    one.world.script("set held 0 1")
    said, modes = one.play(["set_mode", CARD, "whole"], ["modes"])
    assert (said["no"], modes) == ("Busy", {CARD: "mig"})


def test_a_card_that_answers_late_is_waited_for_and_one_that_is_too_late_costs_a_look(node):
    """`delay` is an answer that comes: a change is waited for, a look is given up."""
    one = node("H100-80GB")
    one.world.script("delay nvmlDeviceSetMigMode 2500")
    assert one.play(["set_mode", CARD, "mig"], ["modes"]) == [None, {CARD: "mig"}]
    one.world.script("delay nvmlDeviceGetMigMode 2500")
    late, card = one.play(["modes"], ["inventory"])
    assert late == {} and card[0]["uuid"] == CARD
    one.world.script("delay nvmlDeviceGetMigMode 300")
    assert one.play(["modes"]) == [{CARD: "mig"}]


def test_a_card_that_is_lost_tells_no_mode_so_that_nothing_is_done_to_it(node):
    one = node("H100-80GB")
    one.enter_mig()
    one.world.script("fail nvmlDeviceGetMigMode 15")
    assert one.play(["modes"], ["slices"]) == [{}, []]


def test_a_card_in_mig_mode_that_hides_its_profiles_is_not_handed_out_whole(node):
    one = node("H100-80GB")
    one.enter_mig()
    one.world.script("fail nvmlDeviceGetGpuInstancePossiblePlacements_v2 4")
    assert one.play(["modes"], ["slices"]) == [{}, []]
