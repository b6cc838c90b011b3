"""Recorded work through the live planner, beside what was published and what is simple."""

import heapq
import os
import time

from pool.replay import mig, packing
from tests.benchmarks import optimum, published
from tests.benchmarks.ledger import Ledger
from tests.builders import mig as geometry

SEEDS = tuple(range(42, 42 + int(os.environ.get("BENCH_SEEDS", "1"))))
CARDS = 100
CHURN = int(os.environ.get("BENCH_CHURN", "20000"))


def _say(text):
    print(f"\n{text}")  # noqa: T201


def _unallocated(nodes, arrivals, capacity):
    """Unallocated per cent when arrivals have asked for the whole capacity; each answer proved."""
    ledger = Ledger(nodes)
    asked = given = 0
    for arrival, answer in zip(arrivals, packing.replay(nodes, arrivals), strict=False):
        ledger.book(arrival, answer)
        share = arrival.gpus * arrival.gpu_milli
        asked += share
        given += share if answer.node else 0
        if asked >= capacity * 1000:
            break
    return 100 * (capacity * 1000 - given) / (capacity * 1000)


def test_packing_beside_the_published_policies():
    folder = published.traces()
    if folder is None:
        return
    nodes = published.nodes(folder)
    capacity = sum(node.gpus for node in nodes)
    known = published.published(folder)
    for mix in published.mixes(folder):
        found = []
        begun, tasks = time.process_time(), 0
        for seed in SEEDS:
            arrivals = published.arrivals(folder, mix, seed, capacity)
            tasks += len(arrivals)
            found.append(_unallocated(nodes, arrivals, capacity))
        mean = sum(found) / len(found)
        beside = {p: known[mix, p] for p in ("Random", "BestFit", "FGD") if (mix, p) in known}
        rate = tasks / (time.process_time() - begun)
        _say(f"{mix}: unallocated {mean:.3f} % (published {beside}), {rate:.0f} tasks a second")
        assert mean < known[mix, "Random"]


def _legal(cuts, requests):
    """No two requests lie on one unit of a card at one time."""
    known = {p.name: p for p in geometry("a100_80gb").profiles}
    asked = {request.number: request for request in requests}
    leaving, taken = [], [0] * CARDS
    for cut in cuts:
        request = asked[cut.number]
        while leaving and leaving[0][0] <= request.arrive_s:
            _, card, block = heapq.heappop(leaving)
            taken[card] &= ~block
        if cut.card is None:
            continue
        profile = known[request.profile]
        block = ((1 << profile.size) - 1) << cut.start
        assert cut.start in profile.starts and not taken[cut.card] & block
        taken[cut.card] |= block
        if request.leave_s is not None:
            heapq.heappush(leaving, (request.leave_s, cut.card, block))


def _fill(mix, seed):
    """Ours and first fit before the first refusal, as shares of the longest prefix that fits."""
    asked = published.mig_requests(mix, seed, 600, CARDS, churn=False)
    cuts = list(mig.replay(CARDS, geometry("a100_80gb"), asked))
    _legal(cuts, asked)
    ours = [cut.card is not None for cut in cuts].index(False)
    first = optimum.first_fit(geometry("a100_80gb"), asked, CARDS).index(False)
    best = optimum.longest_prefix(geometry("a100_80gb"), published.MIG_NAMES, asked, CARDS)
    assert ours <= best
    return ours / best, first / best


def _churn(mix, seed):
    """Ours and first fit, the per cent served while work comes and goes."""
    asked = published.mig_requests(mix, seed, CHURN, CARDS, churn=True)
    cuts = list(mig.replay(CARDS, geometry("a100_80gb"), asked))
    _legal(cuts, asked)
    first = optimum.first_fit(geometry("a100_80gb"), asked, CARDS)
    return 100 * sum(c.card is not None for c in cuts) / CHURN, 100 * sum(first) / CHURN


def test_mig_fill_and_churn_beside_first_fit_and_the_optimum():
    for mix in published.MIG_MIXES:
        fill = [_fill(mix, seed) for seed in SEEDS]
        churn = [_churn(mix, seed) for seed in SEEDS]
        ours, first = (sum(pair[i] for pair in fill) / len(fill) for i in (0, 1))
        served, beside = (sum(pair[i] for pair in churn) / len(churn) for i in (0, 1))
        _say(
            f"{mix}: before a refusal {ours:.4f} of the optimum (first fit {first:.4f},"
            f" {sum(a < b for a, b in fill)} of {len(fill)} runs below it),"
            f" under churn {served:.2f} % served (first fit {beside:.2f} %,"
            f" {served - beside:+.2f} points; least of a seed"
            f" {min(a - b for a, b in churn):+.2f})"
        )
        assert ours >= first and served >= beside
