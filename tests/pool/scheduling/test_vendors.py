"""Cuts that have no places: partitions of one AMD card alike, virtual GPUs of one size."""

import json
from dataclasses import replace
from importlib.resources import files

import pytest

from nodeagent.protocol.inventory import Geometry, Profile
from nodeagent.protocol.vocabulary import Isolation, Mode, WorkloadKind
from pool.scheduling.checker import check
from pool.scheduling.model import Level, Reason
from pool.scheduling.plan import plan
from tests.builders import req, snapshot
from tests.pool.scheduling.worlds import settled

AMD = next(
    one
    for one in json.loads((files("nodeagent.facts") / "amd_partitions.json").read_text())["cards"]
    if one["card"] == "MI300X"
)


def _cut(mode, units, rows):
    """(name, part of the units, GB, most) of each profile of a card of 196,608 or 46,068 MiB."""
    mib = 196_608 if mode is Mode.AMD_PARTITION else 46_068
    profiles = (
        Profile(name, name, part, part, mib * part // units, gb, (), most)
        for name, part, gb, most in rows
    )
    isolation = Isolation.HARDWARE if mode is Mode.AMD_PARTITION else Isolation.SOFTWARE
    return Geometry(mode, units, units, tuple(profiles), isolation)


PARTITIONS = _cut(
    Mode.AMD_PARTITION,
    AMD["units"],
    [(p["name"], p["compute"], p["nominal_gb"], p["max_instances"]) for p in AMD["profiles"]],
)
VGPU = _cut(Mode.VGPU, 48, [("8q", 8, 8, 6), ("8c", 8, 8, 6), ("24q", 24, 24, 2)])


def _instinct(count=1, **rest):
    words = {"modes": ("amd_partition",), "geometries": (PARTITIONS,), **rest}
    return snapshot().node("n1").card("MI300X", count=count, **words)


def _host(count=1):
    return snapshot().node("n1").card("L40S", count=count, modes=("vgpu",), geometries=(VGPU,))


def _machine(number, gb, **rest):
    words = {"kind": WorkloadKind.EXTERNAL, "modes": (Mode.VGPU,), **rest}
    return req(number, **({} if "profile" in rest else {"gb": gb}), **words)


def _planned(world):
    made = plan(world.made)
    assert not check(world.made, made)
    return made


def _given(made):
    return {p.workload: (p.parts[0].card, p.parts[0].new.profile) for p in made.placed}


def test_an_amd_card_is_cut_into_alike_partitions_up_to_their_maximum():
    strangers = [req(n, gb=24, tenant=f"p{n}", modes=(Mode.AMD_PARTITION,)) for n in range(1, 10)]
    made = _planned(_instinct().queue(*strangers))
    assert set(_given(made).values()) == {(1, "cpx.24gb")}
    assert len(made.placed) == 8
    assert (made.waits[9].level, made.waits[9].reason) == (Level.BUSY, Reason.MEMORY)


@pytest.mark.parametrize(("gb", "profile"), [(20, "cpx.24gb"), (40, "qpx.48gb"), (90, "dpx.96gb")])
def test_the_tightest_partition_that_holds_the_need_is_given(gb, profile):
    assert _given(_planned(_instinct().queue(req(1, gb=gb)))) == {1: (1, profile)}


def test_another_kind_of_partition_goes_to_another_card():
    works = [req(1, gb=24, tenant="p1"), req(2, gb=48, tenant="p2")]
    made = _planned(_instinct(2).queue(*works))
    assert {profile for _, profile in _given(made).values()} == {"cpx.24gb", "qpx.48gb"}
    assert len({card for card, _ in _given(made).values()}) == 2
    alone = _planned(_instinct(1).queue(*works))
    assert alone.waits[2].reason is Reason.LAYOUT


def test_an_idle_amd_card_is_cut_anew_for_another_kind_once_it_is_empty():
    idle = {"mode": "amd_partition", "memory": 24_576, "compute": 125}
    world = _instinct().slice(1, "cpx.24gb", **idle).slice(1, "cpx.24gb", **idle)
    (placed,) = _planned(world.queue(req(1, gb=48))).placed
    assert placed.parts[0].new.profile == "qpx.48gb"
    assert [move.removes for move in placed.moves] == [(1, 2)]
    busy = _instinct().queue(req(9, gb=24))
    busy = settled(busy, _planned(busy))
    assert _planned(busy.queue(req(1, gb=48))).waits[1].reason is Reason.LAYOUT


def test_virtual_gpus_of_one_card_are_of_one_size_whatever_their_kind():
    made = _planned(_host(1).queue(_machine(1, 8), _machine(2, 24), _machine(3, 8, profile="8c")))
    assert _given(made) == {1: (1, "8q"), 3: (1, "8c")}
    assert made.waits[2].reason is Reason.LAYOUT
    two = _planned(_host(2).queue(_machine(1, 8), _machine(2, 24), _machine(3, 8, profile="8c")))
    cards = {work: card for work, (card, _) in _given(two).items()}
    assert cards[1] == cards[3] != cards[2]


def test_idle_virtual_gpus_of_another_size_are_removed_first():
    idle = {"mode": "vgpu", "memory": 46_068 * 8 // 48, "compute": 166}
    world = _host(1).slice(1, "8q", **idle)
    (placed,) = _planned(world.queue(_machine(1, 24))).placed
    assert [move.removes for move in placed.moves] == [(1,)]
    (beside,) = _planned(world.queue(_machine(1, 8, profile="8c"))).placed
    assert beside.moves == ()


def test_the_checker_sees_virtual_gpus_of_two_sizes():
    world = _host(2).queue(_machine(1, 8), _machine(2, 24)).made
    made = plan(world)
    moved = tuple(
        replace(p, parts=(replace(p.parts[0], card=made.placed[0].parts[0].card),))
        for p in made.placed
    )
    assert "unlike_sizes" in {f.code for f in check(world, replace(made, placed=moved))}
