"""Each promise of the books, broken once, is told in one line; whole books tell nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pool.rules.books.invariants import (
    Books,
    HoldRow,
    PlacementRow,
    QuotaRow,
    SliceRow,
    WorkRow,
    breaches,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)

SLICE = SliceRow(
    id=1,
    card=1,
    mode="mig",
    state="ready",
    start=0,
    size=2,
    memory_mib=20_000,
    compute_milli=285,
    micro=267_857,
    deadline=None,
)
HOLD = HoldRow(
    id=1,
    placement=1,
    slice=1,
    card=1,
    node=1,
    isolation="hardware",
    trust=1,
    fenced=True,
    starts=NOW - timedelta(hours=1),
    ends=None,
    cpu_milli=0,
    ram_mib=0,
    disk_mib=0,
)
HOST = replace(HOLD, id=2, slice=None, card=None, isolation="none", cpu_milli=1000, ram_mib=10)
PLACEMENT = PlacementRow(
    id=1, workload=1, workload_state="running", attempt_open=True, taken=((1, 267_857),)
)
QUOTA = QuotaRow(id=1, name="limit cards_micro of project:1", held=267_857, ceiling=1_000_000)
CLAIMED = QuotaRow(id=2, name="entitlement of project:1", held=500, ceiling=900)
WORK = WorkRow(id=1, state="running", deadline=None, open_placements=1)

WHOLE = Books(
    now=NOW,
    cards={1: 80_000},
    nodes={1: (64_000, 1000, 1000)},
    slices=(SLICE,),
    holds=(HOLD, HOST),
    placements=(PLACEMENT,),
    quotas=(QUOTA, CLAIMED),
    works=(WORK,),
    claims=((2, 500),),
    passing=frozenset({"placed", "stopping"}),
    holding=frozenset({"placed", "running", "stopping"}),
)


def test_whole_books_tell_nothing():
    assert breaches(WHOLE) == []


def more(row, **given):
    return replace(row, id=9, **given)


BROKEN = {
    "overlap": {"slices": (SLICE, more(SLICE, start=1))},
    "in two modes": {"slices": (SLICE, more(SLICE, mode="mps", start=None, size=None))},
    "80000 MiB and gives 90000": {"slices": (replace(SLICE, memory_mib=90_000),)},
    "more than its whole compute": {
        "slices": (replace(SLICE, compute_milli=600), more(SLICE, start=4, compute_milli=600))
    },
    "equivalent": {"slices": (SLICE, more(SLICE, start=4, micro=900_000))},
    "which is gone": {"holds": (HOLD, HOST, more(HOLD, slice=7))},
    "share slice 1": {"holds": (HOLD, HOST, more(HOLD))},
    "lasts no time": {"holds": (HOLD, HOST, more(HOST, ends=HOST.starts))},
    "holds 1 and 9 of slice 1 overlap": {
        "holds": (replace(HOLD, ends=NOW), HOST, more(HOLD, starts=NOW - timedelta(minutes=1)))
    },
    "card 1 serves the trust groups [1, 2]": {
        "holds": (
            replace(HOLD, isolation="none"),
            HOST,
            more(HOLD, slice=None, isolation="none", trust=2),
        )
    },
    "node 1 serves the trust groups [1, 2]": {
        "holds": (HOLD, replace(HOST, fenced=False), more(HOST, fenced=False, trust=2))
    },
    "node 1 gives": {"holds": (HOLD, replace(HOST, ram_mib=1001))},
    "says 5 is held, 267857 was taken": {"quotas": (replace(QUOTA, held=5),)},
    "entitlement of project:1 says 500 is held, 0 was taken": {"claims": ()},
    "under a ceiling of 9": {"quotas": (replace(QUOTA, ceiling=9),)},
    "is open for queued work": {"placements": (replace(PLACEMENT, workload_state="queued"),)},
    "is open for running work": {"placements": (replace(PLACEMENT, attempt_open=False),)},
    "is open and holds nothing": {"holds": ()},
    "is closed and still holds": {"placements": (), "quotas": ()},
    "is running with 0 open placements": {"works": (replace(WORK, open_placements=0),)},
    "is queued with 1 open placements": {"works": (replace(WORK, state="queued"),)},
    "without a deadline": {"works": (replace(WORK, state="stopping"),)},
    "work 1 is stopping past its deadline": {
        "works": (replace(WORK, state="stopping", deadline=NOW - timedelta(minutes=2)),)
    },
    "slice 1 is creating past its deadline": {
        "slices": (replace(SLICE, state="creating", deadline=NOW - timedelta(minutes=2)),)
    },
}


@pytest.mark.parametrize("word", BROKEN)
def test_a_broken_promise_is_told(word):
    assert any(word in told for told in breaches(replace(WHOLE, **BROKEN[word])))
