"""Maintenance windows, what each covers, and who is hit by one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q, QuerySet

from pool.lifecycle.cards import CardState
from pool.lifecycle.leases import LeaseState
from pool.lifecycle.nodes import NodeState
from pool.lifecycle.placements import PlacementState
from pool.lifecycle.windows import WindowState
from pool.models.cards import Card
from pool.models.leases import Lease
from pool.models.nodes import Node
from pool.models.partitions import Partition
from pool.models.placements import Placement
from pool.models.reservations import ReservedCard
from pool.models.windows import Window
from pool.models.workloads import Workload
from pool.rules.windows import Claim, leases_longer

OPEN = (WindowState.PLANNED, WindowState.ACTIVE)
SOON = timedelta(days=7)
"""What begins within this time stands on the home page."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything a window takes: nodes as a whole, and single cards (those of its nodes too)."""

    nodes: frozenset[int]
    cards: frozenset[int]


@dataclass(frozen=True, slots=True)
class Hit:
    """One workload that runs where the window is; `ends_at` is when it is expected to end."""

    workload: Workload
    ends_at: datetime
    overlaps: bool


@dataclass(frozen=True, slots=True)
class Impact:
    """Who is hit: running work, cards kept for others, leases that become longer by seconds."""

    cards: int
    nodes: int
    running: tuple[Hit, ...]
    reserved: tuple[ReservedCard, ...]
    leases: tuple[tuple[Lease, int], ...]

    @property
    def overlapping(self) -> int:
        """How much of the running work is not expected to have ended by then."""
        return sum(one.overlaps for one in self.running)


def window_list() -> QuerySet[Window]:
    """All windows, newest first, with what they name; five queries whatever the size."""
    return Window.objects.select_related("created_by").prefetch_related(
        "cards__node", "nodes", "partitions"
    )


def windows_ahead(*, at: datetime) -> list[Window]:
    """Those under way and those of the next days, the earliest first."""
    rows = window_list().filter(state__in=OPEN, span__startswith__lte=at + SOON)
    return sorted(rows, key=lambda one: (one.span.lower, one.pk))


def windows_on_cards(*, at: datetime) -> dict[int, Window]:
    """For each card the window that is under way there, or the next that begins soon."""
    found: dict[int, Window] = {}
    for row in windows_ahead(at=at):
        for card in window_reach(row).cards:
            found.setdefault(card, row)
    return found


def reach_of(
    *, cards: Iterable[Card], nodes: Iterable[Node], partitions: Iterable[Partition]
) -> Reach:
    """What these names cover now. A node is taken whole when it is named, or when every card of it
    is in the named partitions; else its cards one by one.
    """
    places = [one.pk for one in partitions]
    living = Card.objects.exclude(state=CardState.RETIRED)
    mine = living.filter(node=OuterRef("pk"), partition__in=places)
    others = living.filter(node=OuterRef("pk")).exclude(partition__in=places)
    whole = Node.objects.exclude(state=NodeState.RETIRED).filter(Exists(mine), ~Exists(others))
    taken = {one.pk for one in nodes} | set(whole.values_list("pk", flat=True) if places else ())
    found = living.filter(
        Q(pk__in=[one.pk for one in cards]) | Q(node__in=taken) | Q(partition__in=places)
    )
    return Reach(frozenset(taken), frozenset(found.values_list("pk", flat=True)))


def window_reach(window: Window) -> Reach:
    """What the window covers now."""
    return reach_of(
        cards=window.cards.all(), nodes=window.nodes.all(), partitions=window.partitions.all()
    )


def running_on(reach: Reach) -> list[Placement]:
    """Open placements that hold a covered card or share a covered node, oldest first."""
    held = Q(holds__card__in=reach.cards) | Q(holds__node__in=reach.nodes)
    rows = Placement.objects.filter(held, state=PlacementState.OPEN, holds__held__upper_inf=True)
    return list(
        rows.distinct()
        .select_related(
            "attempt__workload__project__organization",
            "attempt__workload__owner",
            "attempt__workload__template_version",
        )
        .order_by("pk")
    )


def impact_of(*, reach: Reach, starts_at: datetime, ends_at: datetime, now: datetime) -> Impact:
    """Who is hit by a window of that reach and time; a constant number of queries."""
    running = tuple(_hit(one, starts_at, now) for one in running_on(reach))
    reserved = ReservedCard.objects.filter(
        live=True, card__in=reach.cards, span__overlap=(starts_at, ends_at)
    ).select_related("reservation__project", "card__node")
    longer = leases_made_longer(reach=reach, starts_at=starts_at, ends_at=ends_at)
    leases = Lease.objects.filter(pk__in=longer).select_related("project", "request__requester")
    return Impact(
        cards=len(reach.cards),
        nodes=len(reach.nodes),
        running=running,
        reserved=tuple(reserved.order_by("pk")),
        leases=tuple((one, longer[one.pk]) for one in leases.order_by("pk")),
    )


def _hit(placement: Placement, starts_at: datetime, now: datetime) -> Hit:
    attempt, work = placement.attempt, placement.attempt.workload
    begun = attempt.started_at or placement.opened_at
    ends_at = max(now, begun + timedelta(seconds=work.expected_seconds))
    return Hit(work, ends_at, ends_at > starts_at or ends_at == now)


def leases_made_longer(*, reach: Reach, starts_at: datetime, ends_at: datetime) -> dict[int, int]:
    """By how many seconds each lease in force becomes longer for such a window, by its key."""
    runs = {
        one.attempt.workload.lease_id
        for one in running_on(reach)
        if one.attempt.workload.lease_id is not None
    }
    rows = Lease.objects.filter(
        state=LeaseState.ACTIVE, valid__overlap=(starts_at, ends_at)
    ).prefetch_related("partitions")
    kept = _kept_cards()
    homes = _cards_by_place()
    claims = []
    for row in rows.order_by("pk"):
        names = frozenset(row.need.get("models") or row.need.get("labels") or ())
        could = kept.get(row.pk) or frozenset(
            card
            for place in row.partitions.all()
            for label, card in homes.get(place.pk, ())
            if not names or label in names
        )
        claims.append(
            Claim(
                lease=row.pk,
                starts_at=row.valid.lower,
                ends_at=row.valid.upper,
                runs_there=row.pk in runs,
                cards=could,
            )
        )
    return dict(leases_longer(claims, cards=reach.cards, starts_at=starts_at, ends_at=ends_at))


def _kept_cards() -> dict[int, frozenset[int]]:
    """The cards kept for each reserved lease."""
    found: dict[int, set[int]] = {}
    rows = ReservedCard.objects.filter(live=True, reservation__lease__isnull=False)
    for lease, card in rows.values_list("reservation__lease", "card"):
        found.setdefault(lease, set()).add(card)
    return {lease: frozenset(cards) for lease, cards in found.items()}


def _cards_by_place() -> dict[int, list[tuple[str, int]]]:
    found: dict[int, list[tuple[str, int]]] = {}
    rows = Card.objects.exclude(state=CardState.RETIRED).exclude(partition=None)
    for place, label, card in rows.values_list("partition", "label", "pk"):
        found.setdefault(place, []).append((label, card))
    return found
