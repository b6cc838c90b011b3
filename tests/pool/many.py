"""A small place for tests of arrays, of work after work and of schedules: an obedient node."""

from dataclasses import dataclass

from pool.cycle.round import run_rounds
from pool.events import SYSTEM, Actor
from pool.models import Partition, Project, TemplateVersion, User, Workload
from pool.rules.arrays import Array
from pool.services.workloads import workload_submit
from tests import rows
from tests.pool.obedient import Obedient


@dataclass
class Many:
    """One project with as large an allowance as it likes, and a node with so many whole cards."""

    node: Obedient
    project: Project
    owner: User
    version: TemplateVersion
    partition: Partition

    def submit(self, spec="", *, throttle=None, **words):
        """Work of the owner; an array where `spec` names indices."""
        given = {
            "user": self.owner,
            "project": self.project,
            "template_version": self.version,
            "command": ["true"],
            "expected_seconds": 60,
            "when_full": "wait",
            "partitions": [self.partition],
            "actor": Actor.of(self.owner),
        }
        array = Array(spec, throttle) if spec else None
        return workload_submit(**given | words, array=array)

    def step(self):
        """One round, and one turn of the node."""
        run_rounds()
        self.node.turn()

    def finish(self, *pieces, code=0):
        """The running ones end, and the books take it in."""
        for piece in pieces:
            self.node.finish(piece, **({} if code == 0 else {"code": code, "reason": None}))
        self.node.tell()
        run_rounds()


def many(*, cards=4, allowance=1_000, need=None):
    """Such a place."""
    partition = rows.partition(modes=["whole", "mig"])
    node = Obedient(rows.node(cards=cards))
    project = rows.project()
    rows.quota(limit=allowance * 1_000_000, kind="allowance", project=project, partition=partition)
    version = rows.template(need=need or {"parts": 1, "whole": True})
    return Many(node, project, rows.member(project), version, partition)


def of(array, *states):
    """The pieces of an array in some states, by index."""
    found = Workload.objects.filter(parent=array).order_by("array_index")
    return list(found.filter(state__in=states) if states else found)


def state_of(row):
    """Its state as it is now."""
    return Workload.objects.values_list("state", flat=True).get(pk=row.pk)


__all__ = ["SYSTEM", "Many", "many", "of", "state_of"]
