"""Near each other where links count, apart where failures do: the choice of nodes and racks."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import WorkloadKind
from pool.scheduling.board import build
from pool.scheduling.model import PartitionState, Policy, Reason, Topology
from pool.scheduling.plan import plan
from pool.scheduling.whole import best_set
from tests.builders import req, snapshot, whole


def linked(world, score, *cards):
    """The same with links of that score between all of these cards."""
    made = tuple(
        replace(c, links=tuple((o, score) for o in cards if o != c.id)) if c.id in cards else c
        for c in world.made.cards
    )
    return world.have(cards=made)


def two_nodes():
    """Two free cards without links on the first node, four in one NVSwitch on the second."""
    world = snapshot().node("a").card("A100-80GB", count=2).node("b")
    world = world.card("A100-80GB", count=4, domain="b/0")
    return linked(world, 1220, 3, 4, 5, 6)


def nodes_of(made, *numbers):
    return {host.node for p in made.placed if p.workload in numbers for host in p.hosts}


@pytest.mark.parametrize("policy", list(Policy))
def test_several_cards_go_where_nvlink_joins_them(policy):
    part = PartitionState(id=1, name="main", policy=policy)
    world = two_nodes().have(partitions=(part,))
    assert nodes_of(plan(world.queue(whole(1, 2)).made), 1) == {2}


def test_one_card_leaves_the_linked_ones_together():
    assert nodes_of(plan(two_nodes().queue(whole(1)).made), 1) == {1}


def test_linked_work_never_starts_on_cards_without_a_link():
    world = snapshot().node("n1").card("L40S", count=2, modes=("whole",))
    work = whole(1, 2, topology=Topology.LINKED)
    made = plan(world.queue(work).made)
    assert made.placed == ()
    assert made.waits[1].reason is Reason.TOPOLOGY
    slow = plan(linked(world, 40, 1, 2).queue(work).made)
    assert slow.placed == (), "a link over the bus is no NVLink"
    bridged = plan(linked(world, 440, 1, 2).queue(work).made)
    assert [p.workload for p in bridged.placed] == [1], "a bridge joins cards that name no domain"


@st.composite
def matrices(draw):
    count = draw(st.integers(2, 8))
    scores = st.sampled_from([0, 10, 20, 110, 220])
    return count, {pair: draw(scores) for pair in combinations(range(1, count + 1), 2)}


@given(matrices(), st.data())
def test_the_best_set_has_the_highest_sum_and_leaves_the_best_rest(matrix, data):
    count, scores = matrix
    want = data.draw(st.integers(1, count))
    world = snapshot().node("n1").card("L40S", count=count, modes=("whole",))
    links = {
        c: tuple((o, s) for pair, s in scores.items() for o in pair if c in pair and o != c and s)
        for c in range(1, count + 1)
    }
    cards = tuple(replace(card, links=links[card.id]) for card in world.made.cards)
    board = build(world.have(cards=cards).made)
    chosen = [int(board.cards.ids[row]) for row in best_set(board, range(count), want)]

    def worth(some):
        rest = [one for one in range(1, count + 1) if one not in some]
        return tuple(
            sum(scores[pair] for pair in combinations(sorted(one), 2)) for one in (some, rest)
        )

    best = max(worth(some) for some in combinations(range(1, count + 1), want))
    assert worth(chosen) == best


def racks(names, cards=2):
    world = snapshot()
    for number, rack in enumerate(names):
        world = world.node(f"n{number}", rack=rack).card("A100-80GB", count=cards)
    return world


def test_parts_that_are_spread_lie_in_as_many_racks_as_there_are():
    spread = whole(1, 2, topology=Topology.SPREAD)
    assert 3 in nodes_of(plan(racks("aab").queue(spread).made), 1)
    three = plan(racks("aab").queue(whole(1, 3, topology=Topology.SPREAD)).made)
    assert nodes_of(three, 1) == {1, 2, 3}


SERVES = {"kind": WorkloadKind.REPLICA, "purpose": "inference", "endpoint": "array:7"}


@pytest.mark.parametrize(
    "need", [{"whole": True}, {"gb": 10}, {"gb": 10, "modes": ("mps",)}], ids=str
)
def test_replicas_of_one_endpoint_lie_in_racks_nodes_and_cards_apart(need):
    world = racks("aabb")
    if "modes" in need:
        modes = frozenset(type(next(iter(world.made.cards[0].modes)))(m) for m in need["modes"])
        world = world.have(cards=tuple(replace(c, modes=modes) for c in world.made.cards))
    need = {k: v for k, v in need.items() if k != "modes"}
    two = plan(world.queue(*(req(n, **need, **SERVES) for n in (1, 2))).made)
    assert len({node in (1, 2) for node in nodes_of(two, 1, 2)}) == 2, "one in each rack"
    four = plan(world.queue(*(req(n, **need, **SERVES) for n in range(1, 5))).made)
    assert nodes_of(four, 1, 2, 3, 4) == {1, 2, 3, 4}
    eight = plan(world.queue(*(req(n, **need, **SERVES) for n in range(1, 9))).made)
    assert len({p.parts[0].card for p in eight.placed}) == 8


def test_a_replica_keeps_away_from_those_that_run():
    world = racks("aab").busy(0)
    world = world.slice(5, "whole", mode="whole")
    world = world.running(900, slices=(1,), **SERVES)
    made = plan(world.queue(whole(1, **SERVES)).made)
    assert nodes_of(made, 1) <= {1, 2}, "the rack of the other one is left out while one is free"
