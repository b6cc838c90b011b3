"""Every round that a test of the pool makes is judged by the plan checker before it is written."""

import pytest

from pool.cycle import round as rounds
from pool.scheduling.checker import check


@pytest.fixture(autouse=True)
def judged_rounds(monkeypatch):
    """The plans that were judged, as (snapshot, plan); a plan with a fault fails the test."""
    seen, told = [], rounds.expect

    def judged(snapshot, made, *rest):
        assert check(snapshot, made) == ()
        seen.append((snapshot, made))
        return told(snapshot, made, *rest)

    monkeypatch.setattr(rounds, "expect", judged)
    return seen
