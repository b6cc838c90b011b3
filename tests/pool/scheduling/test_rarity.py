"""Work of which nobody knows an end leaves alone the places that the partition has few of."""

from nodeagent.protocol.vocabulary import Mode
from pool.carving.pack import FATE, FATE_OF_STAYERS
from pool.replay import mig
from pool.scheduling.board import build
from pool.scheduling.fit import grants_for
from pool.scheduling.shares import rarity
from pool.scheduling.trial import places_left, trial_at, weights_of
from tests.benchmarks import optimum, published
from tests.builders import mig as geometry
from tests.builders import req, snapshot


def _board(cards):
    world = snapshot().node("n1").card("A100-80GB", count=cards, modes=("mig",))
    return build(world.queue(req(1, profile="1g.10gb")).made)


def _rarity(cards):
    board = _board(cards)
    work = board.snapshot.waiting[0]
    grants = grants_for(board, work, 1, Mode.MIG)
    trial = trial_at(board, 0, int(board.cards.layout[0]), grants.by_kind, stays=True)
    return rarity(board, 0, trial, places_left(board, 1, 0))


def test_the_places_of_a_partition_are_counted_card_by_card():
    names = [profile.name for profile in geometry("a100_80gb").profiles]
    world = snapshot().node("n1").card("A100-80GB", count=3, modes=("mig",))
    world = world.slice(1, "4g.40gb", start=0, by=9).slice(2, "1g.10gb", start=0)
    left = dict(zip(names, places_left(build(world.made), 1, 0), strict=True))
    assert (left["7g.80gb"], left["3g.40gb"], left["1g.10gb"]) == (2, 5, 17)


def test_a_place_counts_for_more_the_fewer_there_are():
    assert _rarity(2) > _rarity(20) > 0.0
    assert rarity(_board(2), 0, None, None) == 0.0


def test_only_work_without_an_end_is_placed_for_full_cards():
    board = _board(1)
    assert weights_of(board, 0).fate == FATE
    assert weights_of(board, 0, stays=True).fate == FATE_OF_STAYERS


def test_requests_that_stay_fill_no_fewer_cards_than_first_fit_where_the_score_alone_did():
    """Seed 48 of the uniform mix: with the worth of layouts alone 218, by first fit 223."""
    asked = published.mig_requests("uniform", 48, 600, 100, churn=False)
    served = [cut.card is not None for cut in mig.replay(100, geometry("a100_80gb"), asked)]
    first = optimum.first_fit(geometry("a100_80gb"), asked, 100)
    assert served.index(False) >= first.index(False) == 223
