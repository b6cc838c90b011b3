"""S9: what crashes, fails to start or loses its node is placed by the very next round."""

import pytest

from nodeagent.protocol.vocabulary import ExitReason
from pool.cycle.round import run_rounds
from pool.models import Attempt, Workload
from pool.services.nodes import node_hello
from pool.services.series.dependencies import After
from tests import rows
from tests.pool.many import many, of, state_of
from tests.pool.obedient import Obedient

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
"""Each start commits, as it does in life: thousands of savepoints in one transaction are slow."""

NODES, CARDS = 38, 8
PIECES = 300
MOVING = ("placed", "starting", "running")


@pytest.fixture
def busy():
    """304 cards, 300 of them running a piece of one array each that may run three times."""
    place = many(cards=CARDS, allowance=400)
    nodes = {place.node.row.pk: place.node}
    for _ in range(NODES - 1):
        node = Obedient(rows.node(cards=CARDS))
        nodes[node.row.pk] = node
    place.project.__class__.objects.update(most_live=1000)
    array = place.submit(f"0-{PIECES - 1}", runs=2)
    run_rounds()
    for node in nodes.values():
        node.turn()
    assert Workload.objects.filter(parent=array, state="running").count() == PIECES
    return place, nodes, array


def on(pieces):
    """The node that each of these pieces runs on."""
    found = Attempt.objects.filter(workload__in=pieces, state="open")
    return dict(found.values_list("workload", "node"))


def placed_again(pieces, attempts):
    """Each has exactly one open attempt, its newest, and stands where work runs."""
    for piece in Workload.objects.filter(pk__in=[one.pk for one in pieces]):
        assert piece.state in MOVING, piece.message
        assert piece.attempts_made == attempts
        assert [one.number for one in piece.attempts.filter(state="open")] == [attempts]


def test_crashes_on_three_hundred_cards_cost_one_round(busy):
    _place, nodes, array = busy
    crashed = of(array)[::7]
    where = on(crashed)
    for piece in crashed:
        nodes[where[piece.pk]].finish(piece, code=1, reason=None)
    for node in {where[piece.pk] for piece in crashed}:
        nodes[node].tell()
    assert run_rounds().rounds == 1
    placed_again(crashed, 2)
    assert Attempt.objects.filter(workload__parent=array, state="open").count() == PIECES
    assert run_rounds(anyway=False).rounds == 0, "nothing is left to do"


def test_starts_that_fail_cost_one_round(busy):
    place, nodes, _array = busy
    fresh = [place.submit() for _ in range(3)]
    run_rounds()
    where = on(fresh)
    for piece in fresh:
        attempt = piece.attempts.get(state="open")
        node = nodes[where[piece.pk]]
        node.pull()
        node.end(attempt.uid, piece.uid, code=None, reason=ExitReason.START_FAILED)
    for node in {where[piece.pk] for piece in fresh}:
        nodes[node].tell()
    assert run_rounds().rounds == 1
    placed_again(fresh, 2)


def test_a_node_that_is_known_to_have_died_costs_one_round(busy):
    _place, nodes, array = busy
    where = on(of(array))
    dead = nodes[where[of(array)[0].pk]]
    lost = [piece for piece in of(array) if where[piece.pk] == dead.row.pk]
    dead.boot, dead.work, dead.slices = "boot-2", {}, {}
    found = [rows.card_facts(one.uuid, "A100-80GB", one.index) for one in dead.row.cards.all()]
    node_hello(node=dead.row, hello=rows.hello(dead.row.name, found, boot=dead.boot))
    assert run_rounds().rounds == 1
    assert len(lost) == CARDS
    placed_again(lost, 2)


def test_a_chain_of_work_after_work_ends_within_one_round():
    place = many()
    first = last = place.submit()
    chain = []
    for _ in range(12):
        last = place.submit(after=[After(last)])
        chain.append(last)
    place.step()
    place.node.finish(first, code=1, reason=None)
    place.node.tell()
    assert run_rounds().rounds <= 2, "the second finds nothing left to do"
    assert {state_of(one) for one in chain} == {"dependency_failed"}
