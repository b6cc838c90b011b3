"""Recorded work through the live planner, beside what was published and what is simple."""

import os
import time

from pool.replay import mig, packing, queue
from tests.benchmarks import published
from tests.builders import mig as geometry

SEEDS = tuple(range(42, 42 + int(os.environ.get("BENCH_SEEDS", "1"))))
JOBS = int(os.environ.get("BENCH_JOBS", "5000"))
CARDS = 100


def _say(text):
    print(f"\n{text}")  # noqa: T201


def _unallocated(nodes, arrivals, capacity):
    """Unallocated per cent when arrivals have asked for the whole capacity."""
    asked = given = 0
    for arrival, answer in zip(arrivals, packing.replay(nodes, arrivals), strict=False):
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


def _waits(jobs, policy):
    begun, first = time.process_time(), {}
    for segment in queue.replay(jobs, queue.Shape(nodes=75, cards=8, policy=policy)):
        first.setdefault(segment.number, segment.start_s)
    waits = sorted(first[job.number] - job.submit_s for job in jobs)
    large = [first[job.number] - job.submit_s for job in jobs if job.gpus >= 8]
    mean = sum(waits) / len(waits)
    _say(
        f"{policy}: mean {mean:.0f} s, p50 {waits[len(waits) // 2]:.0f},"
        f" p90 {waits[len(waits) * 9 // 10]:.0f}, p99 {waits[len(waits) * 99 // 100]:.0f},"
        f" longest {waits[-1]:.0f}, of 8 cards or more {sum(large) / max(1, len(large)):.0f},"
        f" {len(jobs) / (time.process_time() - begun):.0f} jobs a second"
    )
    return mean


def test_waits_beside_first_come_first_served_and_easy():
    folder = published.traces()
    if folder is None:
        return
    jobs = published.philly(folder, JOBS)
    means = {policy: _waits(jobs, policy) for policy in ("fifo", "easy", "live")}
    double = _waits(published.philly(folder, JOBS, factor=2.0), "live")
    _say(f"live / fifo {means['live'] / means['fifo']:.3f}, with doubled times {double:.0f} s")
    assert means["live"] <= means["fifo"]


def _first_fit(requests):
    """First card with a place, highest start: which requests are served."""
    cards, leaving, served = [0] * CARDS, [], []
    known = {p.name: (p.size, p.starts) for p in geometry("a100_80gb").profiles}
    for request in requests:
        for at, card, block in [entry for entry in leaving if entry[0] <= request.arrive_s]:
            cards[card] &= ~block
            leaving.remove((at, card, block))
        size, starts = known[request.profile]
        blocks = [((1 << size) - 1) << start for start in reversed(starts)]
        place = next(((c, b) for c in range(CARDS) for b in blocks if not cards[c] & b), None)
        served.append(place is not None)
        if place is not None:
            cards[place[0]] |= place[1]
            if request.leave_s is not None:
                leaving.append((request.leave_s, *place))
    return served


def test_mig_fill_and_churn_beside_first_fit():
    for mix in published.MIG_MIXES:
        fill = churn = first_fill = first_churn = 0.0
        for seed in SEEDS:
            asked = published.mig_requests(mix, seed, 600, CARDS, churn=False)
            ours = [c.card is not None for c in mig.replay(CARDS, geometry("a100_80gb"), asked)]
            fill += ours.index(False)
            first_fill += _first_fit(asked).index(False)
            asked = published.mig_requests(mix, seed, 4000, CARDS, churn=True)
            churn += sum(
                c.card is not None for c in mig.replay(CARDS, geometry("a100_80gb"), asked)
            )
            first_churn += sum(_first_fit(asked))
        runs = len(SEEDS)
        _say(
            f"{mix}: before a refusal {fill / runs:.1f} (first fit {first_fill / runs:.1f}),"
            f" under churn {churn / runs / 40:.2f} % (first fit {first_churn / runs / 40:.2f} %)"
        )
        assert churn >= first_churn
