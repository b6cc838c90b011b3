"""Alerts as a board: whose they are, where they stand, whom they hit; a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pool.lifecycle.alerts import AlertState
from pool.models.alerting.ways import AlertDelivery
from pool.models.alerts import Alert
from pool.models.cards import Card
from pool.models.nodes import Node
from pool.models.placements import Hold
from pool.models.tenants import Project
from pool.models.workloads import Workload
from pool.rules.alerting.machine import FLAPPING

OPEN = (AlertState.FIRING, AlertState.ACKNOWLEDGED, AlertState.PENDING)


@dataclass(slots=True)
class Line:
    """One alert with its surroundings. `hit` is the work on the card or node now."""

    alert: Alert
    place: str = ""
    node: str = ""
    hit: list[Workload] = field(default_factory=list)
    words: list[AlertDelivery] = field(default_factory=list)

    @property
    def flapping(self) -> bool:
        """Fired again and again within the hour."""
        return self.alert.flaps >= FLAPPING

    @property
    def lost(self) -> bool:
        """A word of it never got through."""
        return any(one.given_up_at for one in self.words)

    @property
    def fate(self) -> str:
        """Did it go out? lost, sent, retry, hours, due, or none."""
        if self.lost:
            return "lost"
        waiting = [one for one in self.words if one.sent_at is None and one.dropped_at is None]
        if any(one.waits_for == "retry" for one in waiting):
            return "retry"
        if any(one.sent_at for one in self.words):
            return "sent"
        if waiting:
            return "hours" if waiting[0].waits_for == "hours" else "due"
        return "none"


def board_of(alerts: Sequence[Alert]) -> list[Line]:
    """The lines of these alerts in their order."""
    uids: dict[str, set[str]] = {}
    for row in alerts:
        noun, _colon, uid = row.subject.partition(":")
        uids.setdefault(noun, set()).add(uid)
    places, nodes = _places(uids)
    hit = _hit(uids)
    words: dict[int, list[AlertDelivery]] = {}
    rows = AlertDelivery.objects.filter(alert__in=[row.pk for row in alerts])
    for one in rows.select_related("channel").order_by("pk"):
        words.setdefault(one.alert_id, []).append(one)
    return [
        Line(
            row,
            places.get(row.subject, ""),
            nodes.get(row.subject, ""),
            hit.get(row.subject, []),
            words.get(row.pk, []),
        )
        for row in alerts
    ]


def _places(uids: dict[str, set[str]]) -> tuple[dict[str, str], dict[str, str]]:
    """The group of each subject, and the uid of its node."""
    places, nodes = {}, {}
    cards = Card.objects.filter(uid__in=uids.get("card", ())).select_related("node")
    for card in cards:
        places[f"card:{card.uid}"], nodes[f"card:{card.uid}"] = card.node.name, card.node.uid
    for node in Node.objects.filter(uid__in=uids.get("node", ())):
        places[f"node:{node.uid}"], nodes[f"node:{node.uid}"] = node.name, node.uid
    for project in Project.objects.filter(uid__in=uids.get("project", ())):
        places[f"project:{project.uid}"] = project.name
    works = Workload.objects.filter(uid__in=uids.get("workload", ())).select_related("project")
    for work in works:
        places[f"workload:{work.uid}"] = work.project.name
    return places, nodes


def _hit(uids: dict[str, set[str]]) -> dict[str, list[Workload]]:
    """The work that holds something of a card or node now."""
    found: dict[str, list[Workload]] = {}
    for noun in ("card", "node"):
        if not uids.get(noun):
            continue
        holds = Hold.objects.filter(
            **{f"{noun}__uid__in": uids[noun]}, held__upper_inf=True
        ).select_related("placement__attempt__workload__owner", noun)
        for hold in holds.order_by("pk"):
            thing, work = getattr(hold, noun), hold.placement.attempt.workload
            listed = found.setdefault(f"{noun}:{thing.uid}", [])
            if work not in listed:
                listed.append(work)
    return found
