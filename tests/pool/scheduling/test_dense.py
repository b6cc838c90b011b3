"""The laws on full pools, where work gives way, cards are cut anew and others slip in."""

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from pool.scheduling.checker import check
from pool.scheduling.plan import plan
from pool.scheduling.suggest import suggest
from tests.pool.scheduling.dense import dense_worlds

SEEDS, OF_EACH = range(1, 9), 20
DRAWN = settings(
    max_examples=OF_EACH,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
LAW = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
LEAST = {
    "evicts": 12,
    "cuts anew": 11,
    "plans a start": 30,
    "slips in": 6,
    "shares a card": 18,
    "offers a change": 4,
}
"""Of a hundred drawn pools so many do each of these at the least: about half of what they do."""


def _shares_a_card(world):
    held = Counter(s.card for s in world.slices if s.held_by and s.mode == "mps")
    return any(count > 1 for count in held.values())


def _does(world, made):
    moves = [move for placed in made.placed for move in placed.moves]
    first = next((work for work in world.waiting if work.id in made.waits), None)
    return {
        "evicts": bool(made.evictions),
        "cuts anew": any(move.removes for move in moves),
        "plans a start": bool(made.starts),
        "slips in": any(placed.backfilled for placed in made.placed),
        "shares a card": _shares_a_card(world),
        "offers a change": first is not None and bool(suggest(world, first, made)),
    }


def test_the_checker_accepts_every_plan_of_many_full_pools_in_which_all_of_it_happens():
    seen = Counter()

    def judged(world):
        made = plan(world)
        assert check(world, made) == ()
        seen["drawn"] += 1
        seen.update(name for name, happens in _does(world, made).items() if happens)

    for number in SEEDS:
        seed(number)(DRAWN(given(dense_worlds())(judged)))()
    assert seen["drawn"] > 100
    rare = {name for name, least in LEAST.items() if seen[name] * 100 < least * seen["drawn"]}
    assert rare == set(), dict(seen)


@LAW
@given(dense_worlds())
def test_the_checker_accepts_every_plan_of_a_full_pool(world):
    assert check(world, plan(world)) == ()


@LAW
@given(dense_worlds(), st.randoms(use_true_random=False))
def test_the_order_of_a_full_pools_rows_never_matters(world, chance):
    names = ("nodes", "cards", "slices", "waiting", "running", "partitions")
    rows = {name: getattr(world, name) for name in names}
    mixed = {name: tuple(chance.sample(of, len(of))) for name, of in rows.items()}
    assert plan(replace(world, **mixed)) == plan(world)
