"""Recorded work through the live planner, beside what was published and what is simple."""

import heapq
import os
import time

from pool.replay import mig, packing
from tests.benchmarks import optimum, published
from tests.benchmarks.full import FULL, SEEDS, mean, say, table
from tests.benchmarks.ledger import Ledger
from tests.builders import mig as geometry

CARDS = 100
CHURN = int(os.environ.get("BENCH_CHURN", "20000"))
POLICIES = ("Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD")
"""Of the published experiment, as its results name them."""

NEAR = 0.05
"""So many points above the best published policy no mix may be."""

BELOW = 0.9
"""The share of the best published policy that is to be reached on the average of the mixes."""

FILL = 0.967
"""What first fit fills on the average, as published; to be beaten."""

GAIN = 0.5
"""So many points above first fit every mix is to be under churn."""


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
    found = {mix: _mix(folder, mix, nodes, capacity) for mix in published.mixes(folder)}
    beside = [policy for policy in POLICIES if any((mix, policy) in known for mix in found)]
    ratios = {m: mean(each) / known[m, "FGD"] for m, each in found.items() if (m, "FGD") in known}
    rows = []
    for mix, each in found.items():
        told = [f"{known[mix, p]:.2f}" if (mix, p) in known else "" for p in beside]
        ratio = f"{ratios[mix]:.3f}" if mix in ratios else ""
        rows.append(
            [mix, *told, f"**{mean(each):.2f}**", ratio, f"{max(each):.2f}", str(len(each))]
        )
    say(table(["mix", *beside, "here", "here ÷ FGD", "worst seed", "seeds"], rows))
    if ratios:
        say(f"On average {mean(ratios.values()):.3f} × FGD.")
    for mix, each in found.items():
        assert (mix, "Random") not in known or mean(each) < known[mix, "Random"]
        assert not FULL or mix not in ratios or mean(each) <= known[mix, "FGD"] + NEAR
    assert not FULL or not ratios or mean(ratios.values()) <= BELOW


def _mix(folder, mix, nodes, capacity):
    """Unallocated per cent by seed; every answer was proved."""
    found, tasks, begun = [], 0, time.process_time()
    for seed in SEEDS:
        arrivals = published.arrivals(folder, mix, seed, capacity)
        tasks += len(arrivals)
        found.append(_unallocated(nodes, arrivals, capacity))
    rate = tasks / (time.process_time() - begun)
    say(f"{mix}: {rate:.0f} tasks a second, {' '.join(f'{one:.3f}' for one in found)}")
    return found


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
    rows, fills = [], []
    for mix in published.MIG_MIXES:
        fill = [_fill(mix, seed) for seed in SEEDS]
        churn = [_churn(mix, seed) for seed in SEEDS]
        ours, first = (mean(pair[i] for pair in fill) for i in (0, 1))
        served, beside = (mean(pair[i] for pair in churn) for i in (0, 1))
        below = sum(one < other for one, other in fill)
        least = min(one - other for one, other in churn)
        fills += [pair[0] for pair in fill]
        rows.append(
            [
                *(mix, f"**{ours:.4f}**", f"{first:.4f}", f"{100 * (1 - ours):.1f} %", str(below)),
                *(f"**{served:.2f}**", f"{beside:.2f}", f"{served - beside:+.2f}"),
                *(f"{least:+.2f}", str(len(churn))),
            ]
        )
        assert ours >= first and served >= beside
        assert not FULL or (below == 0 and served - beside >= GAIN)
    heads = ["mix", "fill", "first fit", "gap to the optimum", "runs below first fit", "churn, %"]
    heads += ["first fit, %", "gain, points", "least gain of a seed", "seeds"]
    say(table(heads, rows))
    say(f"Filled on average: {mean(fills):.4f} of the optimum.")
    assert not FULL or mean(fills) > FILL
