"""One real stack with a node of two cards, and people whose work gives way on it."""

from collections.abc import Callable
from typing import Any

from tests.house import FINAL, House, fleet_of
from tests.waiting import until

AGAIN = 'if [ "$GPUPOOL_NUMBER" != 1 ]; then exit 0; fi'
"""A victim that comes back has nothing more to do."""

WAIT = "while true; do sleep 0.05; done"

ORDERS = """
SELECT v.uid, coalesce(w.uid, ''), o.kind, o.outcome, o.uid, o.ordered_at, o.deadline, o.released_at
FROM pool_yieldorder o JOIN pool_workload v ON v.id = o.workload_id
LEFT JOIN pool_workload w ON w.id = o.winner_id
WHERE v.uid = ANY(%s) ORDER BY o.id
"""
CARDS = """
SELECT h.card_id, lower(h.held), upper(h.held) FROM pool_hold h
JOIN pool_placement p ON p.id = h.placement_id JOIN pool_attempt a ON a.id = p.attempt_id
JOIN pool_workload w ON w.id = a.workload_id
WHERE w.uid = %s AND h.card_id IS NOT NULL ORDER BY h.id
"""


def leaves_after(seconds: float) -> str:
    """A job that saves its work for so long when it is told to leave."""
    return f"{AGAIN}; trap 'sleep {seconds}; exit 1' TERM; {WAIT}"


class Giving:
    """The house with a template of low work on a whole card, and one that goes before it."""

    def __init__(self) -> None:
        self.house = House(fleet=fleet_of("n2", cards=2))

    def ready(self) -> "Giving":
        """Return when it stands and the project may use both cards without asking."""
        self.house.ready()
        admin = self.house.as_("platform_admin")
        (home,) = admin("GET", f"projects?slug={self.house.project}")["results"]
        said = {"partition": "a100", "unit": "cards_micro", "card_model": "A100-80GB"}
        tenants = ({"project": home["slug"]}, {"organization": home["organization"]})
        for tenant, kinds in zip(tenants, (("limit", "allowance"), ("limit",)), strict=True):
            for kind in kinds:
                admin("POST", "quotas", {**said, **tenant, "kind": kind, "limit": 16_000_000})
        for slug, words in (
            ("field-low", {"priority": "low", "preemptible": True, "grace_seconds": 20}),
            ("field-short", {"priority": "low", "preemptible": True, "grace_seconds": 6}),
            ("field-high", {"priority": "high"}),
        ):
            need = {"need": {"whole": True}, "work_class": "finetuning"}
            admin("POST", "templates", {"slug": slug, "name": slug, **need, **words})
        return self

    def submit(self, template: str, command: str, **more: Any) -> str:
        """A job of this template, expected to take an hour."""
        return self.house.submit(
            command, template=template, **{"need": {}, "expected_seconds": 3600} | more
        )

    def orders(self, *uids: str) -> list[tuple[Any, ...]]:
        """Victim, winner, kind, outcome, uid, ordered, deadline, released; oldest first."""
        return self.house.rows(ORDERS, list(uids))

    def cards(self, uid: str) -> list[tuple[Any, ...]]:
        """What the work has held: card, from, until; in order."""
        return self.house.rows(CARDS, uid)

    def running(self, *uids: str) -> None:
        """All of them run."""
        self.house.all_in_state(list(uids), "running")

    def until(self, look: Callable[[], Any], what: str, seconds: float = 90.0) -> Any:
        """Wait until the books say so."""
        return until(look, seconds=seconds, what=what)

    def cleared(self) -> None:
        """Nothing of this test is left running or waiting."""
        member = self.house.as_("member")
        live = [row for row in member.every("workloads") if row["state"] not in FINAL]
        for row in live:
            member.patient("POST", f"workloads/{row['uid']}/cancel", {})
        self.house.ended([row["uid"] for row in live])
