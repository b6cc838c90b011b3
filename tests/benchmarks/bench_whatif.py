"""How many jobs a second a what-if replays: calm, crowded, with limits, with guarantees, large."""

import os
import time

import pytest

from pool.replay.whatif.engine import replay
from pool.scheduling.model import Quota, QuotaKind, Unit
from tests.pool.replay.whatif.made import HALF_LIFE_S, busy, world

JOBS = int(os.environ.get("BENCH_JOBS", "500"))
TEAMS = ("vision", "speech")


def _say(text):
    print(f"\n{text}")  # noqa: T201


def _rows(kind):
    """Twelve of 32 cards for each of two teams, as a limit or as a guarantee."""
    return tuple(
        Quota(
            id=number,
            tenant=f"project:{team}",
            kind=kind,
            unit=Unit.CARD_MICRO,
            limit=12_000_000,
            held=0,
        )
        for number, team in enumerate(TEAMS, 1)
    )


CASES = {
    "calm, 32 cards": (world(4, 8), 60.0),
    "four jobs for three places, 32 cards": (world(4, 8), 30.0),
    "limits": (world(4, 8, quotas=_rows(QuotaKind.LIMIT)), 60.0),
    "guarantees": (world(4, 8, quotas=_rows(QuotaKind.ENTITLEMENT)), 60.0),
    "guarantees, four jobs for three places": (
        world(4, 8, quotas=_rows(QuotaKind.ENTITLEMENT)),
        30.0,
    ),
    "304 cards": (world(38, 8), 6.0),
    "four jobs for three places, 304 cards": (world(38, 8), 3.0),
}


@pytest.mark.timeout(3600)
def test_jobs_a_second_of_a_what_if():
    for name, (pool, every_s) in CASES.items():
        told = busy(1, JOBS, every_s=every_s)
        begun = time.process_time()
        ran = {run.number for run in replay(told, pool.snapshot, half_life_s=HALF_LIFE_S)}
        rate = JOBS / (time.process_time() - begun)
        _say(f"{name}: {rate:.0f} jobs a second of processor time")
        assert len(ran) == JOBS, "all of it has run"
