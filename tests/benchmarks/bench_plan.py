"""How long one plan takes as the pool grows, cold and warm, beside a bare scan of arrays."""

import math
import time
from dataclasses import replace

import numpy as np

from pool.scheduling.board import build
from pool.scheduling.plan import plan_board
from pool.scheduling.preempt import oust
from pool.scheduling.take import release
from tests.benchmarks.pools import pool
from tests.builders import whole

SIZES = (8, 64, 512, 2048, 10_412)
LARGEST = SIZES[-1]


def _took(call):
    begun = time.process_time()
    made = call()
    return time.process_time() - begun, made


def _best(call):
    """The least of three, so that a busy machine tells as little as it can."""
    return min((_took(call) for _ in range(3)), key=lambda found: found[0])


def _bare(cards, tasks):
    """What a scheduler cannot do without: compare two arrays and sort what is left, per task.

    Like the pool, four fifths of the cards have nothing left.
    """
    cpu = np.random.default_rng(1).integers(0, 64_000, cards)
    order = np.arange(1, cards + 1)
    free = np.where(order * 7919 % 10 < 8, 0, 1000)
    for task in range(tasks):
        fits = np.flatnonzero((cpu >= 2000 + task) & (free >= 200))
        best = fits[np.lexsort((order[fits], cpu[fits], free[fits]))[:1]]
        cpu[best] -= 2000


def _warm(cards, waiting):
    """A board carried over from a round before, with one second's ends applied."""
    snapshot = pool(cards, waiting)
    board = build(snapshot)
    plan_board(board.copy(), tell=False)
    for running in snapshot.running[: max(1, cards // 1000)]:
        release(board, running)
    return board


def test_plan_grows_with_the_pool():
    times = {}
    for cards in SIZES:
        for waiting in (100, 1000):
            snapshot = pool(cards, waiting)
            cold, _ = _took(lambda s=snapshot: build(s))
            warm = _warm(cards, waiting)
            spent, made = _best(lambda w=warm: plan_board(w.copy(), tell=False))
            told, _ = _best(lambda w=warm: plan_board(w.copy()))
            bare, _ = _best(lambda c=cards, w=waiting: _bare(c, w))
            decided = len(made.placed) + waiting
            print(  # noqa: T201
                f"\n{cards:6} cards, {waiting:4} waiting: cold build {cold:.3f} s,"
                f" warm plan {spent:.3f} s ({spent / max(bare, 1e-6):.1f} x a bare scan),"
                f" explanations {max(0.0, told - spent):.3f} s more,"
                f" {waiting / spent:.0f} decisions a second, {len(made.placed)} placed"
            )
            assert decided >= waiting
            times[cards, waiting] = spent
    for waiting in (100, 1000):
        growth = math.log(times[LARGEST, waiting] / times[8, waiting]) / math.log(LARGEST / 8)
        print(f"\ngrowth exponent with {waiting} waiting: {growth:.2f}")  # noqa: T201


def test_the_search_for_victims_apart():
    for cards in SIZES:
        snapshot = pool(cards, 0)
        willing = tuple(replace(r, preemptible=True, checkpointed=True) for r in snapshot.running)
        rules = replace(snapshot.rules, preemption=True)
        board = build(replace(snapshot, running=willing, rules=rules))
        winner = whole(1, 8, priority="high", tenant="p2")
        spent, found = _took(lambda b=board, w=winner: oust(b, w, ()))
        count = len(found.evictions) if found else 0
        print(f"\n{cards:6} cards: {count} victims found in {spent:.3f} s")  # noqa: T201
        assert found is not None and count > 0
