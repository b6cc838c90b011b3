"""Gangs on the board: so many nodes alike, one network, whole nodes, anywhere."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pool.scheduling.checker import check
from pool.scheduling.model import Level, Topology
from pool.scheduling.plan import plan
from tests.builders import snapshot, whole


def pool(*sizes, networks="x"):
    """Nodes with so many whole cards each; networks by their letters, repeated."""
    world = snapshot()
    for number, size in enumerate(sizes):
        network = networks[number % len(networks)]
        world = world.node(f"n{number}", network=network)
        world = world.card("A100-80GB", count=size, modes=("whole",))
    return world


def planned(world, work):
    made = plan(world.queue(work).made)
    assert check(world.queue(work).made, made) == ()
    return made


def shares(world, work):
    """How many cards on each node, by node; None when it waits."""
    made = planned(world, work)
    if not made.placed:
        return None
    homes = {card.id: card.node for card in world.made.cards}
    return dict(Counter(homes[part.card] for part in made.placed[0].parts))


def test_so_many_nodes_get_the_same_number_of_cards_each():
    got = shares(pool(4, 4, 4), whole(1, 6, nodes=3, topology=Topology.NETWORK))
    assert sorted(got.values()) == [2, 2, 2]
    got = shares(pool(4, 4, 4), whole(1, 6, nodes=2, topology=Topology.NETWORK))
    assert sorted(got.values()) == [3, 3]


def test_without_a_number_as_few_nodes_as_it_fits_on():
    assert shares(pool(4, 4), whole(1, 4, topology=Topology.ANYWHERE)).keys() == {1}
    assert sorted(shares(pool(4, 4), whole(1, 6, topology=Topology.ANYWHERE)).values()) == [2, 4]


def test_only_work_that_may_lie_anywhere_spans_two_networks():
    world = pool(4, 4, networks="xy")
    near = whole(1, 8, nodes=2, topology=Topology.NETWORK)
    far = whole(1, 8, nodes=2, topology=Topology.ANYWHERE)
    assert shares(world, near) is None
    assert planned(world, near).waits[1].level is Level.NEVER
    assert sorted(shares(world, far).values()) == [4, 4]


def test_two_whole_nodes_are_two_on_which_nothing_else_runs():
    work = whole(1, 8, nodes=2, topology=Topology.WHOLE_NODES)
    assert sorted(shares(pool(4, 4, 4).busy(1), work).keys()) == [1, 2]
    assert shares(pool(4, 4).busy(1), work) is None


def test_the_checker_sees_a_gang_on_another_number_of_nodes_or_not_alike():
    world = pool(4, 4)
    asked = whole(1, 4, nodes=2, topology=Topology.NETWORK)
    other = whole(1, 4, topology=Topology.NETWORK)
    made = plan(world.queue(other).made)
    told = {fault.code for fault in check(world.queue(asked).made, made)}
    assert "not_so_many_nodes" in told


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from([Topology.NETWORK, Topology.ANYWHERE, Topology.WHOLE_NODES]),
    st.sampled_from(["x", "xy"]),
)
def test_a_gang_that_could_lie_alike_on_so_many_nodes_starts_and_no_other(
    sizes, nodes, each, topology, networks
):
    world = pool(*sizes, networks=networks)
    got = shares(world, whole(1, nodes * each, nodes=nodes, topology=topology))
    domains = {"": sizes} if topology is Topology.ANYWHERE else {}
    for number, size in enumerate(sizes if not domains else []):
        domains.setdefault(networks[number % len(networks)], []).append(size)
    could = any(sum(size >= each for size in held) >= nodes for held in domains.values())
    if topology is Topology.WHOLE_NODES:
        assert got is None or sorted(got.values()) == [each] * nodes
    else:
        assert (got is not None) == could
        assert got is None or sorted(got.values()) == [each] * nodes


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_gang_on_one_node_is_a_gang_too(nodes):
    got = shares(pool(4, 4), whole(1, 2, nodes=nodes, topology=Topology.NETWORK))
    assert len(got) == nodes
