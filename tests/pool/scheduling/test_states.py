"""What must hold of every state that rounds lead to, judged from the state alone."""

from collections import defaultdict

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import MODE_ISOLATION, PLACED_MODES, UNISOLATED, Mode
from pool.scheduling.plan import plan
from tests.builders import World
from tests.pool.scheduling.dense import dense_worlds
from tests.pool.scheduling.worlds import empty_worlds, settled, works

LAW = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)


@st.composite
def histories(draw):
    """A pool, and the states after each of up to three rounds in which work comes and ends."""
    world = draw(empty_worlds())
    states = []
    for first in (1, 101, 201)[: draw(st.integers(1, 3))]:
        queue = [draw(works(first + n)) for n in range(draw(st.integers(1, 5)))]
        world = world.have(waiting=tuple(queue))
        ended = draw(st.lists(st.sampled_from([work.id for work in queue]), max_size=2))
        world = settled(world, plan(world.made), ended)
        states.append(world.made)
    return states


@st.composite
def full_histories(draw):
    """A full pool, and what its plan makes of it when some of what starts ends at once."""
    full = draw(dense_worlds())
    ended = draw(st.lists(st.sampled_from([work.id for work in full.waiting]), max_size=1))
    return [full, settled(World(full), plan(full), ended).made]


PASTS = st.one_of(histories(), full_histories())


def _held(state):
    found = defaultdict(list)
    for piece in state.slices:
        if piece.held_by is not None:
            found[piece.card].append(piece)
    return found


@LAW
@given(PASTS)
def test_no_state_has_two_trust_groups_on_an_unisolated_card(states):
    for state in states:
        for pieces in _held(state).values():
            if any(MODE_ISOLATION[piece.mode] in UNISOLATED for piece in pieces):
                assert len({piece.trust for piece in pieces}) == 1


@LAW
@given(PASTS)
def test_no_state_has_two_groups_on_a_node_that_cannot_keep_them_apart(states):
    for state in states:
        open_nodes = {node.id for node in state.nodes if node.shared_by_one_group}
        groups = defaultdict(set)
        for run in state.running:
            for host in run.hosts:
                groups[host[0]].add(run.trust)
        assert all(len(groups[node]) <= 1 for node in open_nodes)


@LAW
@given(PASTS)
def test_no_state_gives_a_unit_twice_or_more_than_a_card_or_node_has(states):
    for state in states:
        sizes = {card.id: card.memory_mib for card in state.cards}
        pieces = defaultdict(list)
        for piece in state.slices:
            pieces[piece.card].append(piece)
        for card, lying in pieces.items():
            assert len({piece.mode for piece in lying}) == 1
            if lying[0].mode in PLACED_MODES | {Mode.WHOLE}:
                units = [u for p in lying for u in range(p.start, p.start + p.size)]
                assert len(units) == len(set(units))
            else:
                assert sum(piece.memory_mib for piece in lying) <= sizes[card]
                assert sum(piece.compute_milli for piece in lying) <= 1000
        assert all(node.cpu_free_milli >= 0 for node in state.nodes)
        assert all(node.memory_free_mib >= 0 for node in state.nodes)


@LAW
@given(PASTS)
def test_no_state_has_two_heavy_ones_on_one_shared_card(states):
    for state in states:
        for pieces in _held(state).values():
            if pieces[0].mode not in PLACED_MODES:
                assert sum(piece.heavy_bandwidth for piece in pieces) <= 1
