"""The running stack of the cases that need whole placements: three kinds of card, real agents."""

from contextlib import contextmanager

import pytest

from tests.house import House
from tests.waiting import until

FLEET = """
nodes:
  - {name: mig-a, cpus: 64, memory_gib: 512, disk_gib: 4000, cards: [{model: A100-80GB, count: 1}]}
  - {name: soft-a, cpus: 64, memory_gib: 512, disk_gib: 4000, cards: [{model: L40S, count: 1}]}
  - {name: wide-a, cpus: 64, memory_gib: 512, disk_gib: 4000, cards: [{model: H100-80GB, count: 5}]}
  - {name: wide-b, cpus: 64, memory_gib: 512, disk_gib: 4000, cards: [{model: H100-80GB, count: 1}]}
"""
ROOM = {"a100": ("A100-80GB", 1), "graphics": ("L40S", 1), "h100": ("H100-80GB", 12)}
LONG = "sleep 600"


class Cases(House):
    """Every card may be held by the example project without asking; nothing is left of a case."""

    def ready(self):
        self.stack.ready(seconds=400)
        admin = self.as_("platform_admin")
        for partition, (label, cards) in ROOM.items():
            given = {"project": self.project, "partition": partition, "unit": "cards_micro"}
            for kind in ("limit", "allowance"):
                words = {"kind": kind, "card_model": label, "limit": cards * 1_000_000}
                admin("POST", "quotas", given | words)
        for row in admin.every("partitions"):
            admin("PATCH", f"partitions/{row['uid']}", {"ceilings": {}, "reason": "the cases"})
        return self

    @contextmanager
    def held_queue(self):
        """What is asked inside is seen by the planner as a whole, once it is over."""
        admin = self.as_("platform_admin")
        (row,) = [one for one in admin.every("projects") if one["slug"] == self.project]
        admin("POST", f"projects/{row['uid']}/hold", {"reason": "a layout as a whole"})
        yield
        admin("POST", f"projects/{row['uid']}/release")

    def cleared(self):
        """Stop everything, and wait until no card is held."""
        member = self.as_("member")
        for state in ("queued", "placed", "starting", "running"):
            for row in member.every(f"workloads?state={state}"):
                member("POST", f"workloads/{row['uid']}/cancel")
        held = "SELECT count(*) FROM pool_hold WHERE upper_inf(held)"
        until(lambda: self.rows(held) == [(0,)], seconds=180, what="nothing is held")

    def places(self, uids):
        """Where each runs: (node, profile, start on its card), by uid."""
        query = """
            SELECT w.uid, n.name, s.profile, lower(s.span)
            FROM pool_hold h JOIN pool_slice s ON s.id = h.slice_id
            JOIN pool_node n ON n.id = h.node_id JOIN pool_placement p ON p.id = h.placement_id
            JOIN pool_attempt a ON a.id = p.attempt_id JOIN pool_workload w ON w.id = a.workload_id
            WHERE upper_inf(h.held) AND w.uid = ANY(%s)
        """
        return {row[0]: row[1:] for row in self.rows(query, list(uids))}


@pytest.fixture(scope="session")
def stack_of_cases():
    """One stack for all of these cases."""
    made = Cases(fleet=FLEET)
    try:
        yield made.ready()
    finally:
        made.over()


@pytest.fixture
def cases(stack_of_cases):
    """The stack, with nothing on its cards before and after."""
    stack_of_cases.cleared()
    yield stack_of_cases
    stack_of_cases.cleared()
