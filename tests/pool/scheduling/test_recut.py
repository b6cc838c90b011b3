"""Of all cards that can be cut anew, the one from which the fewest idle slices must go."""

from itertools import combinations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodeagent.protocol.vocabulary import Mode
from pool.carving.geometry import EMPTY, cut_of, free_places, legal
from pool.scheduling.checker import check
from pool.scheduling.plan import plan
from tests.builders import req, snapshot

LAW = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
LABELS = ("A100-80GB", "A30")


def _removed(made):
    return [number for placed in made.placed for move in placed.moves for number in move.removes]


def _fewest(world, profile):
    """By trying everything: how many idle slices must go, over all cards; None for no way."""
    found = []
    for card in world.cards:
        cut = cut_of(card.geometries[0])
        starts = cut.profile(cut.index(profile)).starts
        lying = [piece for piece in world.slices if piece.card == card.id]
        idle = [piece for piece in lying if piece.held_by is None]
        if any(piece.profile == profile for piece in idle):
            found.append(0)
        for count in range(len(idle) + 1):
            for gone in combinations(idle, count):
                left = [(p.profile, p.start) for p in lying if p not in gone]
                for start in starts:
                    one = tuple(sorted((*left, (profile, start)), key=lambda piece: piece[1]))
                    if legal(cut, one):
                        found.append(count)
    return min(found, default=None)


@st.composite
def cut_cards(draw):
    """Two or three cards of one model, each cut at random, and the profile that is wanted."""
    label = draw(st.sampled_from(LABELS))
    world = snapshot().node("n1").card(label, count=draw(st.integers(2, 3)), modes=("mig",))
    cut = cut_of(world.made.cards[0].geometries[0])
    plain = [i for i, p in enumerate(cut.geometry.profiles) if "+" not in p.name]
    for card in world.made.cards:
        layout = EMPTY
        for _ in range(draw(st.integers(1, 7))):
            free = [place for i in plain for place in free_places(cut, layout, i)]
            if not free:
                break
            place = draw(st.sampled_from(free))
            layout = layout.plus(place)
            world = world.slice(card.id, cut.profile(place.profile).name, start=place.start)
            if draw(st.booleans()):
                piece = world.made.slices[-1].id
                world = world.running(900 + piece, slices=(piece,), hosts=((1, 0, 0, 0),))
    name = cut.profile(draw(st.sampled_from(plain))).name
    return world.rules(preemption=False).queue(req(1, profile=name, modes=(Mode.MIG,))).made, name


@LAW
@given(cut_cards())
def test_no_card_would_have_done_with_fewer_removals(told):
    world, profile = told
    made = plan(world)
    fewest = _fewest(world, profile)
    assert bool(made.placed) == (fewest is not None)
    if made.placed:
        assert len(_removed(made)) == fewest
    assert check(world, made) == ()


def _cuts(world, profile="3g.40gb"):
    made = plan(world.queue(req(1, profile=profile, modes=(Mode.MIG,))).made)
    return [(part.card, len(_removed(made))) for one in made.placed for part in one.parts]


def test_one_removal_is_better_than_three_that_would_leave_a_better_card():
    world = snapshot().node("n1").card("A100-80GB", count=2, modes=("mig",))
    world = world.slice(1, "3g.40gb", start=0).running(900, slices=(1,))
    for start in (4, 5, 6):
        world = world.slice(1, "1g.10gb", start=start)
    world = world.slice(2, "1g.10gb", start=0).running(901, slices=(5,))
    assert _cuts(world.slice(2, "2g.20gb", start=4)) == [(2, 1)]


def test_slices_of_another_mode_count_as_removals():
    world = snapshot().node("n1").card("A100-80GB", count=2, modes=("mig", "mps"))
    world = world.slice(1, "4g.40gb", start=0).slice(1, "2g.20gb", start=4)
    world = world.running(900, slices=(1,))
    shares = {"mode": "mps", "memory": 20_000, "compute": 250}
    one = world.slice(2, "", **shares)
    assert _cuts(one) == [(1, 1)]
    two = world.slice(1, "1g.10gb", start=6)
    assert _cuts(two.slice(2, "", **shares)) == [(2, 1)]
