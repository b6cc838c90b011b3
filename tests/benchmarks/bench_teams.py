"""Recorded jobs of many teams: each on a fixed set of whole nodes, and all in one pool."""

import csv
import math
import os
from collections import defaultdict
from pathlib import Path

import pytest

from pool.management.recorded import jobs_from
from pool.replay.queue import Shape, replay
from tests.benchmarks import published

JOBS = int(os.environ.get("BENCH_JOBS", "5000"))
NODES, CARDS = 75, 8

pytestmark = pytest.mark.timeout(3600)


def _say(text):
    print(f"\n{text}")  # noqa: T201


def _shares(jobs):
    """Whole nodes of each team: as its card-time is to all, but never below its largest job."""
    work, largest = defaultdict(float), defaultdict(int)
    for job in jobs:
        work[job.tenant] += job.gpus * job.duration_s
        largest[job.tenant] = max(largest[job.tenant], math.ceil(job.gpus / CARDS))
    total = sum(work.values())
    given = {
        team: max(largest[team], 1, math.floor(NODES * part / total)) for team, part in work.items()
    }
    while sum(given.values()) > NODES:
        most = max(given, key=lambda team: (given[team] - largest[team], given[team], team))
        given[most] -= 1
    rest = NODES - sum(given.values())
    for team in sorted(work, key=work.get, reverse=True)[:rest]:
        given[team] += 1
    return given


def _figures(jobs, segments, until):
    """Waits, and the share of all cards' time up to the last arrival in which they ran."""
    first, busy = {}, 0.0
    cards = {job.number: job.gpus for job in jobs}
    for one in segments:
        first[one.number] = min(one.start_s, first.get(one.number, one.start_s))
        busy += cards[one.number] * max(0.0, min(one.end_s, until) - one.start_s)
    waits = sorted(first[job.number] - job.submit_s for job in jobs if job.number in first)
    return waits, busy / (NODES * CARDS * until)


def _line(name, waits, use):
    count = len(waits)
    _say(
        f"{name}: mean wait {sum(waits) / count / 60:.1f} min,"
        f" p95 {waits[count * 95 // 100] / 60:.1f},"
        f" p99 {waits[count * 99 // 100] / 60:.1f}, longest {waits[-1] / 3600:.1f} h, use {use:.1%}"
    )


def _jobs():
    """Jobs of several teams: of a file as `manage.py simulate queue` reads it, or of the traces."""
    told = os.environ.get("BENCH_JOBS_FILE", "")
    if told:
        with Path(told).open(newline="", encoding="utf-8") as rows:
            return jobs_from(csv.DictReader(rows))[:JOBS]
    folder = published.traces()
    return [] if folder is None else published.philly(folder, JOBS, teams=True)


def test_one_pool_waits_less_and_is_used_more_than_a_fixed_set_for_each_team():
    jobs = _jobs()
    if len({job.tenant for job in jobs}) < 2:
        _say("no work of several teams is named: nothing is compared")
        return
    until = max(job.submit_s for job in jobs)
    shares = _shares(jobs)
    assert sum(shares.values()) <= NODES
    fixed = []
    for team, nodes in shares.items():
        mine = [job for job in jobs if job.tenant == team]
        fixed += list(replay(mine, Shape(nodes=nodes, cards=CARDS, policy="fifo")))
    pooled = list(replay(jobs, Shape(nodes=NODES, cards=CARDS)))
    alone, use_alone = _figures(jobs, fixed, until)
    together, use_together = _figures(jobs, pooled, until)
    _line(f"{len(shares)} teams with a fixed set each, first come first served", alone, use_alone)
    _line("one pool", together, use_together)
    mean_alone, mean_together = sum(alone) / len(alone), sum(together) / len(together)
    _say(
        f"use x {use_together / use_alone:.2f},"
        f" mean wait / {mean_alone / max(1.0, mean_together):.1f}"
    )
    assert len(together) >= len(alone) and mean_together <= mean_alone
