"""A small pool that preempts: one node, low work on it, and high work that wants its room."""

from datetime import timedelta

import pytest

from pool.clock import now
from pool.cycle.round import run_rounds
from pool.models import Attempt, YieldOrder
from tests import rows
from tests.pool.obedient import Obedient

WHOLE = {"parts": 1, "whole": True}


class Pool:
    """A node whose jobs do not leave by themselves, and people who want its cards."""

    def __init__(self, cards=2, **partition):
        self.part = rows.partition(**partition)
        self.node = Obedient(rows.node(cards=cards))
        self.into = rows.project()
        self.low = rows.template(need=WHOLE, priority="low", preemptible=True)
        self.high = rows.template(need=WHOLE, priority="high")

    def submit(self, version, **given):
        words = {"priority": version.priority, "preemptible": version.preemptible}
        given.setdefault("into", self.into)
        return rows.workload(version=version, **words | given)

    def running(self, version=None, **given):
        """Work that runs and is known to."""
        work = self.submit(version or self.low, **given)
        self.go()
        assert seen(work).state == "running"
        return work

    def go(self):
        """One round, and all that follows from it on the node."""
        run_rounds()
        self.node.turn()

    def leave(self, work, **how):
        """The job leaves by itself, as the notice asked."""
        self.node.pull()
        self.node.finish(work, **{"code": -15, "reason": None} | how)
        self.node.tell()


def seen(row):
    row.refresh_from_db()
    return row


def order_of(work):
    return YieldOrder.objects.filter(workload=work).latest("pk")


def saved(work, step=1, ago=0):
    """A checkpoint of the running attempt."""
    at = now() - timedelta(seconds=ago)
    Attempt.objects.filter(workload=work, state="open").update(
        checkpoint_step=step, checkpoint_at=at
    )


@pytest.fixture
def pool(db):
    return Pool()
