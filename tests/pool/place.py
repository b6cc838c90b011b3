"""A small place for tests of reports: one obedient node, one project, and what it holds."""

from dataclasses import dataclass

from pool.cycle.round import run_rounds
from pool.models import Attempt, Hold, Placement, Quota
from tests import rows
from tests.pool.obedient import Obedient


@dataclass
class Place:
    node: Obedient
    quota: Quota
    into: object

    def submit(self, **given):
        work = rows.workload(into=self.into, **given)
        run_rounds()
        return seen(work)

    @property
    def held(self):
        self.quota.refresh_from_db()
        return self.quota.held


def seen(row):
    row.refresh_from_db()
    return row


def settled():
    """A place with one node, whose project may use as much as it likes."""
    part = rows.partition()
    node = Obedient(rows.node())
    into = rows.project()
    quota = rows.quota(limit=1_000_000, label="A100-80GB", project=into, partition=part)
    return Place(node, quota, into)


def free(place):
    """Nothing is held any more by anybody."""
    assert place.held == 0
    assert not Hold.objects.filter(held__upper_inf=True).exists()
    assert not Placement.objects.filter(state="open").exists()
    assert not Attempt.objects.filter(state="open").exists()
