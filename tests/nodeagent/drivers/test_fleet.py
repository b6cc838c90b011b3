"""The fleet file: the default one, the documented one, and what is refused."""

import pytest

from nodeagent.drivers.simulated import cards
from nodeagent.drivers.simulated.fleet import BadFleet, find_node, read_fleet
from nodeagent.protocol.vocabulary import Mode
from tests.architecture.house import ROOT


def test_the_default_fleet_is_the_one_that_is_promised():
    counts = {}
    for node in read_fleet(None):
        assert node.cpus and node.memory_gib and node.identity and node.fence
        for card in node.cards:
            counts[card.label] = counts.get(card.label, 0) + 1
    assert counts == {
        "A100-80GB": 8,
        "H100-80GB": 4,
        "L40S": 2,
        "RTX-4090": 2,
        "Ascend-910B": 8,
        "MI300X": 2,
    }


def test_cards_of_one_domain_are_linked_and_the_others_are_not():
    nodes = read_fleet(None)
    linked, apart = find_node(nodes, "sim-a100-1"), find_node(nodes, "sim-ada-1")
    assert all(len(c.links) == 7 and c.links[0].nvlinks == 12 for c in linked.cards)
    assert len({c.domain for c in linked.cards}) == 1
    assert {link.nvlinks for c in apart.cards for link in c.links} == {0}


def test_uuids_are_unique_and_stay():
    first, second = read_fleet(None), read_fleet(None)
    uuids = [card.uuid for node in first for card in node.cards]
    assert len(set(uuids)) == len(uuids)
    assert uuids == [card.uuid for node in second for card in node.cards]


def test_the_example_in_the_docs_can_be_used():
    nodes = read_fleet(ROOT / "docs/examples/fleet.yaml")
    assert [node.name for node in nodes] == ["lab-1", "lab-2", "cpu-1"]
    assert [node.identity for node in nodes] == [True, False, True]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a list"),
        ("nodes: 3", "expected a list"),
        ("nodes: [1]", "expected a mapping"),
        ("nodes: [{cpus: 3}]", "name"),
        ("nodes: [{name: a, gpus: 3}]", "unknown keys gpus"),
        ("nodes: [{name: a}, {name: A}]", "share a name"),
        ("nodes: [{name: a, cards: [{model: GTX-1}]}]", "no facts about card model 'GTX-1'"),
        ("nodes: [{name: a, cards: [{model: T4, size: 1}]}]", "unknown keys size"),
        ("nodes: [{name: a, cpus: many}]", "many"),
        ("nodes: [", "expected"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path, text, words):
    path = tmp_path / "fleet.yaml"
    path.write_text(text)
    with pytest.raises(BadFleet, match=words):
        read_fleet(path)


@pytest.mark.parametrize("row", cards.read("cards.json")["cards"], ids=lambda row: row["label"])
def test_every_published_card_can_be_simulated_and_its_cuts_fit_on_it(row):
    card = cards.card("n", 0, row["label"], None)
    assert card.modes[0] == Mode.WHOLE and card.memory_mib == row["usable_mib"]
    for geometry in card.geometries:
        for profile in geometry.profiles:
            assert profile.memory_mib <= card.memory_mib
            assert profile.compute <= geometry.compute_units
            assert all(start + profile.size <= geometry.units for start in profile.starts)


def test_cards_without_encoders_say_so_and_unknown_stays_unknown():
    assert cards.card("n", 0, "H100-80GB", None).nvenc == 0
    assert cards.card("n", 0, "Ascend-910B", None).strength is None
