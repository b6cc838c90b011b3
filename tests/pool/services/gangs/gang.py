"""A gang on several obedient nodes of one network, and what is asked of it."""

from dataclasses import dataclass

from pool.cycle.audit import breaches_now
from pool.cycle.round import run_rounds
from pool.models import Attempt, Hold, Placement, Quota, Rank, Workload
from tests import rows
from tests.pool.obedient import Obedient

WHOLE = {"whole": True, "topology": "network"}


@dataclass
class Gang:
    nodes: list
    quota: Quota
    into: object

    def submit(self, parts=4, nodes=2, **given):
        need = WHOLE | {"parts": parts, "nodes": nodes}
        work = rows.workload(into=self.into, need=need, **given)
        run_rounds()
        return seen(work)

    def turn(self, *numbers):
        """Each node, or those of these numbers, pulls and tells."""
        for number in numbers or range(len(self.nodes)):
            self.nodes[number].turn()

    def run(self, **given):
        """A gang that runs on every node."""
        work = self.submit(**given)
        self.turn(0)
        self.turn(1)
        return seen(work)

    @property
    def held(self):
        self.quota.refresh_from_db()
        return self.quota.held


def seen(row):
    row.refresh_from_db()
    return row


def ranks(work):
    return list(Rank.objects.filter(attempt__workload=work).order_by("attempt", "rank"))


def gang_place(count=2, cards=2):
    """So many nodes in one network with so many cards each, and a project with a wide limit."""
    part = rows.partition()
    nodes = [
        Obedient(
            rows.node(
                cards=cards,
                name=f"gang-{number}",
                address=f"10.0.0.{number + 1}",
                labels={"network": "fabric-1"},
            )
        )
        for number in range(count)
    ]
    into = rows.project()
    quota = rows.quota(limit=64_000_000, label="A100-80GB", project=into, partition=part)
    return Gang(nodes, quota, into)


def free(gang):
    """Nothing is held any more by anybody, and the books keep their promises."""
    assert gang.held == 0
    assert not Hold.objects.filter(held__upper_inf=True).exists()
    assert not Placement.objects.filter(state="open").exists()
    assert not Attempt.objects.filter(state="open").exists()
    assert breaches_now() == []


def requeued(work):
    """The same work as it stands now, back in the queue."""
    work = Workload.objects.get(pk=work.pk)
    assert work.state == "queued", (work.state, work.message)
    return work
