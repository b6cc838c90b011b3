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


def _bare(cards, tasks):
    """What a scheduler cannot do without: compare two arrays and sort what is left, per task."""
    chance = np.random.default_rng(1)
    cpu, free = chance.integers(0, 64_000, cards), chance.integers(0, 1000, cards)
    order = np.arange(cards)
    for task in range(tasks):
        fits = np.flatnonzero((cpu >= 2000 + task) & (free >= 200))
        best = fits[np.lexsort((order[fits], cpu[fits], free[fits]))[:1]]
        cpu[best] -= 2000


def _warm(cards, waiting):
    """A board carried over from the round before, with one second's ends applied."""
    snapshot = pool(cards, waiting)
    board = build(snapshot)
    for running in snapshot.running[: max(1, cards // 1000)]:
        release(board, running)
    return board


def test_plan_grows_with_the_pool():
    times = {}
    for cards in SIZES:
        for waiting in (100, 1000):
            cold, board = _took(lambda c=cards, w=waiting: build(pool(c, w)))
            warm = _warm(cards, waiting)
            spent, made = _took(lambda b=warm: plan_board(b, tell=False))
            told, _ = _took(lambda b=board: plan_board(b))
            bare, _ = _took(lambda c=cards, w=waiting: _bare(c, w))
            decided = len(made.placed) + waiting
            print(  # noqa: T201
                f"\n{cards:6} cards, {waiting:4} waiting: cold build {cold:.3f} s,"
                f" warm plan {spent:.3f} s ({spent / max(bare, 1e-6):.1f} x a bare scan),"
                f" with explanations {told:.3f} s, {waiting / spent:.0f} decisions a second,"
                f" {len(made.placed)} placed"
            )
            assert decided >= waiting
            times[cards, waiting] = spent
    for waiting in (100, 1000):
        growth = math.log(times[LARGEST, waiting] / times[8, waiting]) / math.log(LARGEST / 8)
        print(f"\ngrowth exponent with {waiting} waiting: {growth:.2f}")  # noqa: T201


def test_the_search_for_victims_apart():
    for cards in SIZES:
        snapshot = pool(cards, 0)
        willing = tuple(replace(r, preemptible=True) for r in snapshot.running)
        rules = replace(snapshot.rules, preemption=True)
        board = build(replace(snapshot, running=willing, rules=rules))
        winner = whole(1, 8, priority="high", tenant="p2")
        spent, found = _took(lambda b=board, w=winner: oust(b, w, ()))
        count = len(found.evictions) if found else 0
        print(f"\n{cards:6} cards: {count} victims found in {spent:.3f} s")  # noqa: T201
        assert found is not None and count > 0
