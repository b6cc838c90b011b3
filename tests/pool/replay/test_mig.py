"""Replaying MIG requests: every layout legal, no leaver forgotten, tighter than first fit."""

import random

import pytest

from pool.carving.geometry import cut_of, legal
from pool.replay.mig import Request, replay
from tests.builders import mig

A100 = mig("a100_80gb")
NAMES = ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb")


def _requests(seed, count, weights, stay=True):
    chance = random.Random(seed)
    made, clock = [], 0.0
    for number in range(count):
        clock += chance.expovariate(1.0)
        leave = None if stay else clock + chance.expovariate(1 / 60)
        profile = chance.choices(NAMES, weights)[0]
        made.append(Request(number, clock, leave, profile))
    return made


def _first_fit(cards, requests):
    """First card that has a place, highest start: how many are served before the first refusal."""
    taken = [0] * cards
    sizes = {p.name: (p.size, p.starts) for p in A100.profiles}
    for count, request in enumerate(requests):
        size, starts = sizes[request.profile]
        block = (1 << size) - 1
        found = next(
            ((c, s) for c in range(cards) for s in reversed(starts) if not taken[c] & block << s),
            None,
        )
        if found is None:
            return count
        taken[found[0]] |= block << found[1]
    return len(requests)


@pytest.mark.parametrize("seed", range(3))
def test_every_layout_is_legal_at_every_moment(seed):
    requests = _requests(seed, 120, (3, 1, 2, 2, 1, 1), stay=False)
    cuts = {cut.number: cut for cut in replay(6, A100, requests)}
    for now in requests:
        here = {}
        for request in requests[: now.number + 1]:
            cut = cuts[request.number]
            if cut.card is not None and request.leave_s > now.arrive_s:
                here.setdefault(cut.card, []).append((request.profile, cut.start))
        assert all(legal(cut_of(A100), tuple(pieces)) for pieces in here.values())


@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1, 1), (6, 2, 3, 1, 1, 0.5), (4, 1, 3, 2, 1, 0)])
def test_no_fewer_are_served_than_by_first_fit_with_the_highest_start(weights):
    ours = theirs = 0
    for seed in range(3):
        requests = _requests(seed, 120, weights)
        theirs += _first_fit(20, requests)
        served = [cut.card is not None for cut in replay(20, A100, requests)]
        ours += served.index(False) if False in served else len(served)
    assert ours >= theirs


def test_a_leaver_makes_room_at_the_instant_of_an_arrival():
    requests = [Request(0, 0.0, 5.0, "7g.80gb"), Request(1, 5.0, None, "7g.80gb")]
    assert [cut.card for cut in replay(1, A100, requests)] == [0, 0]
